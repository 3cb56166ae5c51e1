import { describe, expect, test } from 'vitest';
import type { RemoteEngine } from '../engine/index.ts';
import { StepfastError } from '../errors.ts';
import { maxPassphrase } from '../schema/index.ts';
import { createFakeIo } from '../testing/fake-io.ts';
import { credentialFrom, newPassphrase } from './credential.ts';

const right = 'correct horse battery';

function serverFor(kind: string): { server: RemoteEngine; tried: string[] } {
  const tried: string[] = [];
  const server = {
    url: 'http://127.0.0.1:7437',
    signIn: async () => ({}),
    whoami: async () => ({ kind, name: 'claude', project: 'shop', scopes: [] }),
    credential: async (passphrase: string) => {
      tried.push(passphrase);
      if (passphrase !== right) throw new StepfastError('wrong_passphrase', 'No.');
      return { token: 'sf_credential', expires: 0 };
    },
  };
  // Only these are called.
  return { server: server as unknown as RemoteEngine, tried };
}

const typed = (...input: string[]) => createFakeIo({ terminal: true, input }).io;

describe('a credential', () => {
  test('takes the passphrase, which is asked for three times', async () => {
    const { server } = serverFor('agent');
    expect(await credentialFrom(typed('wrong', right))(server)).toBe('sf_credential');
    const { server: other, tried } = serverFor('agent');
    await expect(credentialFrom(typed('a', 'b', 'c', right))(other)).rejects.toMatchObject({
      code: 'wrong_passphrase',
      message: expect.stringContaining(other.url),
    });
    expect(tried).toEqual(['a', 'b', 'c']);
  });

  test('is not asked for in the checkout of a runner, and declined by an empty line', async () => {
    const { server, tried } = serverFor('runner');
    await expect(credentialFrom(typed(right))(server)).rejects.toMatchObject({ code: 'person_only' });
    await expect(credentialFrom(typed(''))(serverFor('agent').server)).rejects.toMatchObject({
      code: 'declined',
    });
    expect(tried).toEqual([]);
  });
});

test.each([
  ['short', 'abcde'],
  ['short without its blanks', `  abcde${' '.repeat(12)}`],
  ['one repeated character', 'a'.repeat(20)],
  ['long', 'ab'.repeat(maxPassphrase)],
])('a new passphrase that is %s is asked for again', async (_, bad) => {
  expect(await newPassphrase(typed(bad, right, right))).toBe(right);
  expect(await newPassphrase(typed(bad, bad, bad, right, right))).toBeUndefined();
});

test('a new passphrase is typed twice', async () => {
  expect(await newPassphrase(typed(right, 'other', right, right))).toBe(right);
  expect(await newPassphrase(typed(''))).toBeUndefined();
});
