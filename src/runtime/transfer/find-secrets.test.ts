import { expect, test } from 'vitest';
import { secretScan, secretsIn } from './find-secrets.ts';

const value = `Sup3r${'S3cret'}Named1`;
const found = async (...events: object[]): Promise<string[]> => {
  // Only the fields used.
  const line = { seq: 3, events } as unknown as Parameters<typeof secretsIn>[0]['lines'][number];
  return (await secretsIn({ lines: [line], texts: new Map() }, secretScan)).map(({ rule }) => rule);
};

test('a value is found by the name that it has, as a property, in a list or as the key of a note', async () => {
  expect(await found({ type: 'note.added', key: 'db_password', text: value })).toEqual(['assigned-value']);
  expect(await found({ type: 'run.started', inputs: { api_token: `${value}x` } })).toEqual([
    'assigned-value',
  ]);
  expect(await found({ type: 'run.started', inputs: { tokens: ['main', `${value}x`] } })).toEqual([
    'assigned-value',
  ]);
  expect(await found({ type: 'note.added', key: 'colour', text: value })).toEqual([]);
});

test('what runs are full of is no secret: handles, digests, ids and paths', async () => {
  const events = {
    type: 'position.completed',
    at: 'k3f9x2ab:build/task-2/verify#3',
    run: 'feature-20261114-k3f9x2ab',
    tree: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    output: {
      digest: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      opening: 'Done',
    },
    session: '550e8400-e29b-41d4-a716-446655440000',
    key: '550e8400-e29b-41d4-a716-446655440000',
    receipts: [{ what: 'npm test -- src/auth/token-store-v2.test.ts', tail: 'passed: 12/12' }],
  };
  expect(await found(events)).toEqual([]);
});
