import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHolds, type Holds } from './holds.ts';
import { checkHold, type HoldCheck } from './run-hold-check.ts';

let directory: string;
let holds: Holds;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-hold-')));
  const worktree = join(directory, 'project');
  mkdirSync(worktree);
  holds = createHolds({ worktree, directory: join(worktree, '.stepfast') }, join(directory, 'state'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function check(command: string, boundMs = 100_000): Promise<HoldCheck> {
  const hold = holds.set(command, 1);
  return await again(hold, boundMs);
}

const again = (hold: ReturnType<Holds['set']>, boundMs = 100_000): Promise<HoldCheck> =>
  checkHold(hold, holds, {
    env: { PATH: process.env.PATH },
    boundMs,
    cacheDirectory: join(directory, 'cache'),
  });

test('green is known again on the same files, also without git', async () => {
  const hold = holds.set('true', 1);
  expect(await again(hold)).toEqual({ verdict: 'green', known: false });
  expect(await again(hold)).toEqual({ verdict: 'green', known: true });
  writeFileSync(join(hold.worktree, 'new'), '');
  expect(await again(hold)).toEqual({ verdict: 'green', known: false });
});

test('another command knows nothing of what was green before', async () => {
  await check('true');
  expect(await check('exit 7')).toMatchObject({ verdict: 'red', exit: 7, tail: '' });
});

test('what does not end in time is ended, and is no verdict', async () => {
  expect(await check('sleep 600', 3300)).toMatchObject({ verdict: 'unfinished', busy: false });
});

test("where another session's check still runs, nothing is run", async () => {
  const hold = holds.set('true', 1);
  writeFileSync(join(holds.folder, 'lock'), '');
  expect(await again(hold, 3100)).toMatchObject({ verdict: 'unfinished', busy: true });
});

test('what a host that gives up on the hook leaves of a check is ended with it', async () => {
  const hold = holds.set('echo $$ > pid; exec sleep 600', 1);
  const pid = join(hold.worktree, 'pid');
  const done = again(hold);
  await expect.poll(() => existsSync(pid) && readFileSync(pid, 'utf8').trim()).toMatch(/^\d+$/);
  process.emit('SIGTERM');
  expect(await done).toMatchObject({ verdict: 'unfinished' });
  expect(() => process.kill(Number(readFileSync(pid, 'utf8')), 0)).toThrow('ESRCH');
});

test('the lock of a dead process does not block a check, that of a live process does', async () => {
  const hold = holds.set('true', 1);
  const lock = join(holds.folder, 'lock');
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(lock, String(pid));
  expect(await again(hold)).toMatchObject({ verdict: 'green' });
  writeFileSync(lock, String(process.pid));
  expect(await again(hold, 3100)).toMatchObject({ verdict: 'unfinished', busy: true });
});

test('an empty lock left by a crash does not block a check', async () => {
  const hold = holds.set('true', 1);
  const lock = join(holds.folder, 'lock');
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
  expect(await again(hold)).toMatchObject({ verdict: 'green' });
});
