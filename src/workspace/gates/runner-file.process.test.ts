import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Event, replay } from '../../machine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { bootId, machineId, stateDirectory } from '../user-state.ts';
import { logsDirectory, logsName } from './gate-supervisor.ts';
import { markRunner, runnerIs, stopRunners } from './runner-file.ts';

const gated = `name: gated
description: A step with a gate
steps:
  - { id: plan, type: action, instructions: Plan., gate: [{ exists: README.md }] }
`;
const words = ['gated-1-abcd', 'abcd:plan#1!1'];

let logs: string;
let child: ChildProcess;
beforeEach(() => {
  logs = mkdtempSync(join(tmpdir(), 'stepfast-marks-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(logs, { recursive: true, force: true });
});

const bystander = (...args: string[]): number => {
  child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', ...args], { stdio: 'ignore' });
  return child.pid ?? 0;
};

const mark = (pid: number, more: object = {}): void =>
  writeFileSync(join(logs, `runner-${pid}.json`), JSON.stringify({ pid, host: 'here', ...more }));

const survives = async (): Promise<boolean> => {
  await new Promise((resolve) => setTimeout(resolve, 200));
  return child.exitCode === null && child.signalCode === null;
};

describe('a mark', () => {
  test('tells that this process lives, and nothing once it was taken away', () => {
    expect(runnerIs(logs, 'here')).toBe('unknown');
    const unmark = markRunner(logs, 'here');
    expect(runnerIs(logs, 'here')).toBe('alive');
    expect(runnerIs(logs, 'elsewhere')).toBe('unknown');
    unmark();
    expect(readdirSync(logs)).toEqual([]);
  });

  test('of a process that ended, or whose number another has now, is of a dead one', async () => {
    const pid = bystander();
    mark(pid, { started: 'long ago' });
    expect(runnerIs(logs, 'here')).toBe('dead');
    mark(pid);
    expect(runnerIs(logs, 'here')).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(runnerIs(logs, 'here')).toBe('dead');
  });

  test('that is none, or names every process, is passed over', () => {
    for (const name of ['runner--1.json', 'runner-0.json', 'runner-1.json', 'runner-x.json'])
      writeFileSync(join(logs, name), JSON.stringify({ pid: -1, host: 'here' }));
    expect(runnerIs(logs, 'here')).toBe('unknown');
  });
});

describe('stopping', () => {
  test('spares a process that a mark names but that was not started for these gates', async () => {
    const pid = bystander('something', 'else');
    mark(pid);
    stopRunners(logs, 'here', words);
    expect(await survives()).toBe(true);
  });

  test.runIf(process.platform === 'linux')('ends the runner itself', async () => {
    const script = `
      const { markRunner } = await import(${JSON.stringify(join(import.meta.dirname, 'runner-file.ts'))});
      markRunner(${JSON.stringify(logs)}, 'here');
      setInterval(() => {}, 1000);`;
    child = spawn(process.execPath, ['--input-type=module', '-e', script, ...words], { stdio: 'ignore' });
    await expect.poll(() => runnerIs(logs, 'here')).toBe('alive');
    stopRunners(logs, 'here', words);
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGTERM');
  });
});

/** A run whose gates were requested with this deadline, and begun by a runner of this machine, who left no mark. */
async function begunBy(project: TestProject, pid: number, deadline: number) {
  const runtime = project.runtime();
  const { run = '', reply } = await runtime.start({ workflow: 'gated' }, {});
  const at = reply.at ?? '';
  const loaded = await runtime.store.load(run);
  if (!loaded) throw new Error('no run');
  const now = Date.now();
  const host = bootId(machineId(stateDirectory({ env: project.env, home: project.env.HOME ?? '' })));
  const id = `${at}!1`;
  const gates = [{ gate: { exists: 'README.md' }, role: 'gate' as const, from: 'plan' }];
  const events: Event[] = [
    { type: 'gates.requested', now, at, id, output: 'x', gates, deadline: now + 60_000 },
    { type: 'gates.started', now, id, deadline: now + deadline, runner: { pid, host } },
  ];
  await runtime.store.append(loaded, { now, events }, replay(loaded.definition, loaded.state, events));
  return { runtime, run, at, id, now, host };
}

test('a run from elsewhere that names a process of this machine as its runner cannot harm it', async () => {
  using project = createTestProject({ '.stepfast/workflows/gated.yaml': gated });
  const pid = bystander();
  const { runtime, run, at, id, host } = await begunBy(project, pid, -1000);
  const told = await runtime.call({ type: 'status', at }, {});
  expect(told.reply).toMatchObject({ step: 'plan', interrupted: true });
  await runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } });
  expect(await survives()).toBe(true);
  // Not even if the repository contains a mark for it.
  logs = join(logsDirectory(runtime.project, run), logsName(id));
  mkdirSync(logs, { recursive: true });
  mark(pid, { host });
  stopRunners(logs, host, [run, id]);
  expect(await survives()).toBe(true);
});

test('gates whose runner left no mark here go on until their deadline', async () => {
  using project = createTestProject({ '.stepfast/workflows/gated.yaml': gated });
  const pid = bystander();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { runtime, at, id, now } = await begunBy(project, pid, 60_000);
  expect((await runtime.call({ type: 'status', at }, {})).reply).toMatchObject({ checking: { id } });
  const later = project.runtime({ clock: () => now + 61_000 });
  expect((await later.call({ type: 'status', at }, {})).reply).toMatchObject({ interrupted: true });
});
