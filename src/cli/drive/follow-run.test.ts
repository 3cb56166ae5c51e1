import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { begin, note } from '../../../test/kit/sample-run.ts';
import { hashDefinition } from '../../definition/index.ts';
import { createEngine } from '../../engine/index.ts';
import { newRun } from '../../engine/new-run-id.ts';
import { createFollower } from './follow-run.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a follower prints events and ends without a poll', async () => {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  const store = openStore(directory);
  const run = 'followed-1-abcd';
  await begin(store, run);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const printed = Promise.withResolvers<void>();
  const { end, view } = createFollower(
    { engine: createEngine({ store, newRun, hashOf: hashDefinition }) },
    run,
    { lines: { lineOf: () => [['dim', 'x']] }, print: () => printed.resolve(), from: 1 },
  );
  await note(openStore(directory), run, 'one');
  await printed.promise;
  await end();
  expect(view()?.version.seq).toBe(2);
});
