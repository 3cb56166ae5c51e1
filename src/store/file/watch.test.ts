import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStore, temporaryDirectory, unsyncedFiles } from '../../../test/kit/file-store.ts';
import { begin, note } from '../../../test/kit/sample-run.ts';

const hourMs = 3_600_000;
const run = 'watched-1-abcd';
let directory: string;
beforeEach(async () => {
  directory = join(temporaryDirectory(), '.stepfast', 'runs');
  await begin(openStore(directory), run);
  // No poll ever comes.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("another process's batch ends a watch without a poll", async () => {
  const watching = openStore(directory).watch(run, 1, hourMs);
  await note(openStore(directory), run, 'one');
  expect(await watching).toBeUndefined();
});

test('an abort ends a watch without a poll', async () => {
  const stop = new AbortController();
  const watching = openStore(directory).watch(run, 1, hourMs, stop.signal);
  stop.abort();
  expect(await watching).toBeUndefined();
});

test('polls end a watch on platforms that report nothing', async () => {
  const { watch: _, ...files } = unsyncedFiles();
  const watching = openStore(directory, { files }).watch(run, 1, hourMs);
  await note(openStore(directory), run, 'one');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await watching).toBeUndefined();
});
