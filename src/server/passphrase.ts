import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createGate } from './gate.ts';

/** 32 MB and about a tenth of a second each, on a thread of Node's pool. */
const cost = { N: 2 ** 15, r: 8, p: 1 };
const maxmem = 64 * 1024 * 1024;
const bytes = 32;
const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
/** The pool has four threads, which files and name lookups need too. */
const inTurn = createGate(2);

const derived = (passphrase: string, salt: Buffer, { N, r, p }: typeof cost): Promise<Buffer> =>
  // What is typed on one keyboard can be other characters on the next.
  inTurn(() => derive(passphrase.normalize('NFKC'), salt, bytes, { N, r, p, maxmem }));

/** `scrypt:N:r:p:salt:key`, with both in base64url. */
export async function hashPassphrase(passphrase: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derived(passphrase, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join(':');
}

const nobody = `scrypt:${cost.N}:${cost.r}:${cost.p}:${'A'.repeat(22)}:${'A'.repeat(43)}`;

/** Takes as long for a person who does not exist. */
export async function isPassphrase(passphrase: string, secret: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = (secret ?? nobody).split(':');
  const costs = { N: Number(N), r: Number(r), p: Number(p) };
  const [known, given] = [
    Buffer.from(key, 'base64url'),
    await derived(passphrase, Buffer.from(salt, 'base64url'), costs),
  ];
  return secret !== undefined && known.length === given.length && timingSafeEqual(known, given);
}
