import type { RemoteEngine } from '../engine/index.ts';
import { StepfastError } from '../errors.ts';
import { printable } from '../messages/index.ts';
import { whyNotAPerson } from './caller.ts';
import type { Io } from './io.ts';

const tries = 3;

/**
 * Gets a credential of a few minutes from the person at the terminal: it decides, and what is on disk does not. Never
 * inside an agent's session, which could read what is typed.
 */
export const credentialFrom =
  (io: Io) =>
  async (server: RemoteEngine): Promise<string> => {
    const why = whyNotAPerson(io);
    if (why !== undefined)
      throw new StepfastError('person_only', `Only a person can decide on ${server.url}: ${why}.`);
    const { issuer, client_id: client, scope = '' } = await server.signIn();
    if (issuer !== undefined && client !== undefined)
      return await byDevice(io, { issuer, client, scope, resource: server.url });
    const { name } = await server.whoami();
    for (let left = tries; ; left -= 1) {
      io.stderr.write(`Passphrase of ${printable(name)} on ${server.url} (not shown): `);
      const passphrase = await io.stdin.secret();
      io.stderr.write('\n');
      if (!passphrase) throw new StepfastError('declined', 'Nothing was changed.');
      try {
        return (await server.credential(passphrase)).token;
      } catch (error) {
        if (!(error instanceof StepfastError) || error.code !== 'wrong_passphrase' || left === 1) throw error;
        io.stderr.write('Wrong passphrase.\n');
      }
    }
  };

async function byDevice(
  io: Io,
  request: { issuer: string; client: string; scope: string; resource: string },
): Promise<string> {
  const { requestDeviceCode, waitForToken } = await import('../device-flow.ts');
  const device = await requestDeviceCode(request);
  const [url, code] = [printable(device.url), printable(device.code)];
  io.stderr.write(`To decide, open ${url} and check that it shows the code ${code}\n`);
  return await waitForToken(request, device);
}

/** A new passphrase, typed twice; undefined if the person gave up. */
export async function newPassphrase(io: Io, least: number): Promise<string | undefined> {
  for (let left = tries; left > 0; left -= 1) {
    io.stderr.write(`Choose a passphrase of at least ${least} characters (not shown): `);
    const first = await io.stdin.secret();
    io.stderr.write('\n');
    if (!first) return undefined;
    if (first.length < least) {
      io.stderr.write(`That has ${first.length} characters.\n`);
      continue;
    }
    io.stderr.write('Type it again: ');
    const second = await io.stdin.secret();
    io.stderr.write('\n');
    if (first === second) return first;
    io.stderr.write('The two differ.\n');
  }
  return undefined;
}
