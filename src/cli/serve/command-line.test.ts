import { expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { exit } from '../exit.ts';
import { run } from '../run.ts';

const env = { STEPFAST_DATABASE_URL: 'postgres://stepfast@127.0.0.1:9/stepfast' };

test.each([
  ['serve --host 0.0.0.0', '--public-url'],
  ['serve --public-url https://x.example/path', 'without a path'],
  ['serve --port 99999', '--port'],
  ['serve --issuer https://x.example', '--jwks'],
  ['serve --issuer https://x.example --jwks http://x.example/keys', 'https'],
  ['serve --log-level loud', 'silent'],
  ['token create x --project p --scope decide', 'person'],
  ['token create x --project p --scope everything', 'Unknown scope'],
  ['token create x', '--project'],
  ['token create \u00a0 --project p', 'name'],
  ['token create a\u001bb --project p', '64'],
  [`token create ${'x'.repeat(65)} --project p`, '64'],
  ['token create x --project p --expires soon', '30d'],
  ['project drop x', 'create, list, rename, publish-only, export or remove'],
  ['project rename x', 'new name'],
  ['token rotate x --project p --grace soon', '24h'],
  ['audit --limit 0', '--limit'],
])('a team command refuses bad arguments before it asks the database: %j', async (line, words) => {
  const { io, stderr } = createFakeIo({ env });
  expect(await run(line.split(' '), io)).toBe(exit.usage);
  expect(stderr()).toContain(words);
});

test('migrate refuses an empty database address', async () => {
  const { io } = createFakeIo({ env: { STEPFAST_DATABASE_URL: '' } });
  expect(await run(['migrate'], io)).toBe(exit.usage);
});
