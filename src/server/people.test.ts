import { expect, test } from 'vitest';
import { createPeople, type People } from './people.ts';
import type { Principal } from './principal.ts';

const passphrase = 'correct horse battery';
const shop = { id: 1, name: 'shop' };
const login: Principal = { id: 'token-1', project: shop, kind: 'agent', name: 'Ada', scopes: ['read'] };

/** A database that answers when it is told to. Its answer is a failure: no passphrase is ever checked. */
function peopleWith(answer: Promise<never>): People {
  const people = { secretOf: () => answer } as unknown as ReturnType<
    Parameters<typeof createPeople>[0]['backend']['people']
  >;
  return createPeople({ backend: { projectNamed: async () => shop, people: () => people }, clock: () => 0 });
}

const codeOf = async (tried: Promise<unknown>): Promise<string> =>
  await tried.then(
    () => 'done',
    (error) => error.code ?? error.message,
  );
const failing = (): Promise<never> => Promise.reject(new Error('asked'));
const tryFrom = (people: People, address: string, name = 'Ada'): Promise<string> =>
  codeOf(people.signIn({ project: 'shop', name, passphrase }, address));

test('strangers who fill the queue of checks take no place of a token', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const people = peopleWith(promise);
  const strangers = Array.from({ length: 32 }, (_, each) => tryFrom(people, `192.0.2.${each}`));
  expect(await tryFrom(people, '198.51.100.1')).toBe('unavailable');
  const own = codeOf(people.credential(login, passphrase));
  reject(new Error('asked'));
  expect(await own).toBe('asked');
  expect(new Set(await Promise.all(strangers))).toEqual(new Set(['asked']));
});

test('a name can be tried five times a minute from one network, and from others still', async () => {
  const people = peopleWith(failing());
  const tried = [];
  for (const each of [1, 2, 3, 4, 5, 6]) tried.push(await tryFrom(people, `2001:db8:1:2::${each}`));
  expect(tried).toEqual([...Array(5).fill('asked'), 'too_many_tries']);
  expect(await tryFrom(people, '2001:db8:1:3::1')).toBe('asked');
  expect(await codeOf(people.credential(login, passphrase))).toBe('asked');
});

test('names that strangers make up do not give a token more tries', async () => {
  const people = peopleWith(failing());
  const guess = () => codeOf(people.credential(login, passphrase));
  for (let each = 0; each < 5; each += 1) expect(await guess()).toBe('asked');
  for (let each = 0; each < 11_000; each += 1) await tryFrom(people, '192.0.2.7', `name-${each}`);
  expect(await guess()).toBe('too_many_tries');
});

test('where people sign in with their issuer, a passphrase that they have had is nothing', async () => {
  const issuer = { issuer: 'https://id.example', audience: [], keys: { keys: [] } };
  const codes = async (client?: { id: string; scope: string }) => {
    const people = createPeople({
      backend: {
        projectNamed: async () => shop,
        people: () => ({ secretOf: failing, join: failing, makeCredential: failing }),
      },
      issuer: { ...issuer, ...(client && { client }) },
      clock: () => 0,
    });
    return [
      await codeOf(people.credential(login, passphrase)),
      await tryFrom(people, '192.0.2.7'),
      await codeOf(people.join(login, passphrase)),
    ];
  };
  expect(await codes({ id: 'terminal', scope: 'decide' })).toEqual(Array(3).fill('forbidden'));
  expect(await codes()).toEqual(Array(3).fill('asked'));
});

test('one name that is tried too often does not use up what its network may try', async () => {
  const people = peopleWith(failing());
  for (let each = 0; each < 100; each += 1) await tryFrom(people, '192.0.2.7');
  expect(await tryFrom(people, '192.0.2.7', 'Bob')).toBe('asked');
});

test('one network tries sixty names a minute', async () => {
  const people = peopleWith(failing());
  const tried = [];
  for (let each = 0; each <= 60; each += 1) tried.push(await tryFrom(people, '192.0.2.7', `name-${each}`));
  expect(tried).toEqual([...Array(60).fill('asked'), 'too_many_tries']);
  expect(await tryFrom(people, '192.0.2.8')).toBe('asked');
});
