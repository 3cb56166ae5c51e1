import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { drivenVariable, endProcesses, markedProcesses, withoutDrivenMark } from './index.ts';

const mark = randomUUID();
const env = { PATH: process.env.PATH, [drivenVariable]: mark };
const commands = (): string[] => markedProcesses(mark).map(({ command }) => command);
const found = (): { toEqual(wanted: string[]): Promise<void> } =>
  expect.poll(() => commands().toSorted(), { timeout: 30_000, interval: 20 });

afterEach(async () => await endProcesses(markedProcesses(mark), 0));

test.skipIf(process.platform === 'win32')(
  'processes that left the group and the parent of a session are found and ended',
  async () => {
    // macOS has no setsid.
    const script = `if command -v setsid; then setsid sleep 1001 & else sleep 1001 & fi; (sh -c "sleep 1002 &" &); exec sleep 1003`;
    spawn('sh', ['-c', script], { env, stdio: 'ignore', detached: true });
    await found().toEqual(['sleep 1001', 'sleep 1002', 'sleep 1003']);
    await endProcesses(markedProcesses(mark));
    await found().toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')(
  'a process with another mark, without one, or with another start time is left alone',
  async () => {
    const other = spawn('sleep', ['1004'], {
      env: { ...env, [drivenVariable]: `0${mark}` },
      stdio: 'ignore',
    });
    const without = spawn('sleep', ['1005'], { env: { ...withoutDrivenMark(env) }, stdio: 'ignore' });
    const own = spawn('sleep', ['1006'], { env, stdio: 'ignore' });
    await found().toEqual(['sleep 1006']);
    await endProcesses(
      markedProcesses(mark).map((each) => ({ ...each, startedAt: `${each.startedAt}0` })),
      0,
    );
    expect(commands()).toEqual(['sleep 1006']);
    for (const { pid } of [other, without, own]) expect(() => process.kill(pid ?? 0, 0)).not.toThrow();
    for (const child of [other, without]) child.kill('SIGKILL');
  },
);

test.skipIf(process.platform === 'win32')('a process that ignores SIGTERM is killed', async () => {
  // The shell ignores the signal, and so does what it starts.
  spawn('sh', ['-c', "trap '' TERM; exec sleep 1007"], { env, stdio: 'ignore', detached: true });
  await found().toEqual(['sleep 1007']);
  await endProcesses(markedProcesses(mark), 100);
  await found().toEqual([]);
});
