/** Processes that a session leaves behind: ended and reported, also by the next driver. Gates are none of them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { mainTurn, reply, toolCall } from '../../../src/testing/index.ts';
import { markedProcesses } from '../../../src/workspace/index.ts';
import type { DriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { createHostileStage, eventsOf, reportsOf } from '../../kit/hostile-driver.ts';
import { isRunning } from '../../kit/is-running.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const build =
  '{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }';

/** Each way to start something that outlives the tool call. It writes its pid, and ignores a hang-up. */
const ways = {
  ampersand: (work: string) => `sh -c '${work}' > /dev/null 2>&1 &`,
  nohup: (work: string) => `nohup sh -c '${work}' > /dev/null 2>&1 &`,
  setsid: (work: string) => `setsid sh -c '${work}' > /dev/null 2>&1 &`,
  fork: (work: string) => `(setsid sh -c '(${work}) &' > /dev/null 2>&1 &)`,
};
type Way = keyof typeof ways;
const names = Object.keys(ways) as Way[];

/** Outside the worktree, where every host lets its agents work. */
const pidFile = (way: string): string => join(stage.env.TMPDIR ?? '', `${way}.pid`);
const starting = (way: Way): string =>
  ways[way](`exec sh -c "echo \\$\\$ > ${pidFile(way)}; exec tail -f /dev/null"`);
/** A host may end the process group of a command that has returned, before all of them have begun. */
const startAll = (): string =>
  [...names.map(starting), ...names.map((way) => `while [ ! -s ${pidFile(way)} ]; do sleep 0.1; done`)].join(
    '\n',
  );
const pidOf = (way: string): number =>
  existsSync(pidFile(way)) ? Number(readFileSync(pidFile(way), 'utf8')) : 0;
const marked = async (): Promise<string[]> => {
  const id = (await stage.run())?.run ?? '-';
  return markedProcesses(`${id}/`).map(({ command }) => command);
};

describe('what a session leaves running', () => {
  it('is ended with the session and reported', async () => {
    stage = await createHostileStage([build]);
    stage.model.on(mainTurn(), shell(`${startAll()}\ntouch done.txt`), reply.text('Done.'));
    const { code } = await stage.drive(['w', '--no-wait']);
    expect(code).toBe(0);
    for (const way of names) {
      expect([way, pidOf(way) > 0]).toEqual([way, true]);
      expect([way, isRunning(pidOf(way))]).toEqual([way, false]);
    }
    expect(await marked()).toEqual([]);
    const reported = await reportsOf(stage, 'leftover');
    // Those in the host's process group may have ended with it.
    expect(reported.length).toBeGreaterThanOrEqual(2);
    for (const { command: what } of reported) expect(what).toMatch(/tail -f \/dev\/null/);
  });

  it('is ended by the next driver if the driver was killed', async () => {
    stage = await createHostileStage([build]);
    stage.model.on(mainTurn(), shell(startAll()), reply.text('Too late.', { delayMs: 600_000 }));
    stage.model.on(mainTurn(), shell('touch done.txt'), reply.text('Done.'));
    const first = stage.start(['w', '--no-wait']);
    await expect.poll(() => stage.model.requestsOf('main').length).toBe(2);
    expect(names.filter((way) => pidOf(way) > 0)).toEqual(names);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(isRunning(pidOf('setsid'))).toBe(true);
    expect(await marked()).not.toEqual([]);
    const run = (await stage.run())?.run ?? '';
    const { code } = await stage.drive(['--run', run, '--no-wait']);
    expect(code).toBe(0);
    for (const way of names) expect([way, isRunning(pidOf(way))]).toEqual([way, false]);
    expect(await marked()).toEqual([]);
    const reported = (await reportsOf(stage, 'leftover')).map(({ command }) => command);
    expect(reported.filter((command) => command === 'tail -f /dev/null').length).toBeGreaterThanOrEqual(2);
    expect((await stage.run())?.state.status).toBe('complete');
    // The session of the first driver has ended for the run as well.
    const ended = await eventsOf(stage, 'session.ended');
    const started = await eventsOf(stage, 'session.started');
    expect(ended.map(({ session }) => session).sort()).toEqual(started.map(({ session }) => session).sort());
  });
});

describe('a gate', () => {
  it('that runs longer than the session and its driver is not ended, and does not run twice', async () => {
    const gate = 'echo $$ >> $HOME/gate-pids; while [ ! -e $HOME/go ]; do sleep 0.1; done; test -f done.txt';
    stage = await createHostileStage([
      `{ id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: ${JSON.stringify(gate)} }] }`,
    ]);
    stage.model.on(mainTurn(), shell('touch done.txt'), toolCall.advance('Done.'));
    stage.model.always(mainTurn(), reply.text('Done.'));
    const inHome = (file: string): string => join(stage.env.HOME ?? '', file);
    const pids = (): number[] =>
      existsSync(inHome('gate-pids'))
        ? readFileSync(inHome('gate-pids'), 'utf8').trim().split('\n').map(Number)
        : [];
    const first = stage.start(['w', '--no-wait']);
    await expect.poll(() => pids().length).toBe(1);
    const [gatePid = 0] = pids();
    const run = (await stage.run())?.run ?? '';
    const hosts = markedProcesses(`${run}/`).filter(({ command }) => !/ mcp\b/.test(command));
    expect(hosts).not.toEqual([]);
    first.child.kill('SIGKILL');
    await first.ended;
    // A host that ends may end all descendants of its MCP servers, but gates are none. It may have ended by itself.
    for (const { pid } of hosts) if (isRunning(pid)) process.kill(pid, 'SIGTERM');
    const second = stage.start(['--run', run, '--no-wait']);
    await expect.poll(async () => (await reportsOf(stage, 'taken')).length).toBe(2);
    expect(await marked()).toEqual([]);
    expect(isRunning(gatePid)).toBe(true);
    writeFileSync(inHome('go'), '');
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(pids()).toEqual([gatePid]);
    expect(await eventsOf(stage, 'gates.interrupted')).toEqual([]);
    expect(await eventsOf(stage, 'position.completed')).toMatchObject([{ receipts: [{ pass: true }] }]);
    expect(await marked()).toEqual([]);
  });
});
