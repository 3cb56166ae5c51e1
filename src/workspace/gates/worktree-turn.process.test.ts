import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { takeTurn } from './worktree-turn.ts';

let cacheDirectory: string;
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(tmpdir(), 'stepfast-turns-'));
});
afterEach(() => rmSync(cacheDirectory, { recursive: true, force: true }));

let waits = 0;
/** Each turn has another end, as those of two processes have. */
let until = 60_000;
const take = async (worktree = '/w', signal = new AbortController().signal) => {
  waits = 0;
  return await takeTurn(worktree, {
    cacheDirectory,
    host: 'here',
    until: () => Date.now() + until++,
    signal,
    onWait: async () => {
      waits += 1;
    },
  });
};
const turns = (): string[] => readdirSync(join(cacheDirectory, 'turns'));
/** As another process would have left it. */
const leave = (turn: object): void =>
  writeFileSync(join(cacheDirectory, 'turns', turns()[0] ?? ''), JSON.stringify(turn));

test('a second runner waits until the first ends, one in another worktree does not', async () => {
  const end = await take();
  const second = take();
  (await take('/v'))();
  await expect.poll(() => waits).toBeGreaterThan(0);
  end();
  (await second)();
  expect(turns()).toEqual([]);
});

test.each([
  ['whose process is gone', { pid: spawnSync('true').pid, host: 'here', until: Date.now() + 60_000 }],
  ['of another machine whose time is over', { pid: 1, host: 'elsewhere', until: Date.now() - 1 }],
  ['that cannot be read', {}],
])('the turn of a runner %s is taken', async (_, left) => {
  const end = await take();
  leave(left);
  const second = await take();
  expect(waits).toBe(0);
  end();
  expect(turns()).toHaveLength(1);
  second();
  expect(turns()).toEqual([]);
});

test('the turn of a runner that may be alive is not, and a runner that is told to stop does not wait for it', async () => {
  await take();
  leave({ pid: 1, host: 'elsewhere', until: Date.now() + 60_000 });
  const stop = new AbortController();
  const second = take('/w', stop.signal);
  await expect.poll(() => waits).toBeGreaterThan(1);
  stop.abort();
  (await second)();
  expect(turns()).toHaveLength(1);
});

test('the end of a turn wakes the next runner without a poll', async () => {
  const end = await take();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const second = take();
    await new Promise(setImmediate);
    expect(waits).toBe(1);
    end();
    (await second)();
  } finally {
    vi.useRealTimers();
  }
});
