/** What sessions and drivers leave behind, and who takes a run over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { isRunning } from '../../test/kit/is-running.ts';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';
import { drivenVariable, markedProcesses } from '../workspace/index.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const steps = `steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
`;
const works = (): void => stage.agent.on(/INSTRUCTIONS-BUILD/, ({ write }) => write('done.txt'));

/** Ways to start something that outlives the tool call. */
const ways = [
  'tail -f /dev/null >/dev/null 2>&1 &',
  'nohup tail -f /dev/null >/dev/null 2>&1 &',
  'setsid tail -f /dev/null >/dev/null 2>&1 &',
  "(setsid sh -c '(exec tail -f /dev/null) &' >/dev/null 2>&1 &)",
];

it('processes that a session leaves are ended after it and reported', async () => {
  stage = await createScriptedRun(steps);
  stage.agent.on(/INSTRUCTIONS-BUILD/, async ({ write, shell }) => {
    for (const way of ways) await shell(way);
    // The session itself ends this one.
    void shell('exec sleep 1000');
    const marked = () => markedProcesses(`${stage.run}/`).map(({ command }) => command);
    const all = [...Array(ways.length).fill('tail -f /dev/null'), 'sleep 1000'];
    await expect.poll(() => marked().sort()).toEqual(all.sort());
    write('done.txt');
  });
  await stage.complete();
  expect(stage.reported('leftover').map(({ command }) => command)).toEqual(
    ways.map(() => 'tail -f /dev/null'),
  );
  expect(markedProcesses(`${stage.run}/`)).toEqual([]);
});

it('processes and sessions of a driver that was killed are ended by the next one', async () => {
  stage = await createScriptedRun(steps);
  const { runtime, run } = stage;
  const left = spawn('sh', ['-c', 'exec tail -f /dev/null'], {
    env: { ...process.env, [drivenVariable]: `${run}/gone` },
    stdio: 'ignore',
  });
  await once(left, 'spawn');
  await runtime.engine.execute(run, {
    type: 'session',
    now: Date.now(),
    session: 'gone',
    event: { type: 'started', host: 'scripted', witness: 'driver' },
  });
  stage.agent.on(/INSTRUCTIONS-BUILD/, ({ write }) => {
    expect(isRunning(left.pid ?? 0)).toBe(false);
    write('done.txt');
  });
  await stage.complete();
  expect(stage.reported('leftover')).toMatchObject([{ worker: 'main', command: 'tail -f /dev/null' }]);
  expect((await stage.events('session.ended')).map(({ session }) => session)).toContain('gone');
});

it('commands of the driver itself have its mark, so that the next driver ends them', async () => {
  const mark = (to: string): string => JSON.stringify(`echo "$${drivenVariable}" >> "$HOME/${to}"`);
  stage = await createScriptedRun(
    `worktree: { setup: ${mark('setup')} }
loops:
  each: [{ id: do, instructions: MAKE-IT, gate: [{ run: test -f t1.txt }] }]
steps:
  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json }, merge_gate: [{ run: ${mark('merge')} }] }
`,
    { 'tasks.json': JSON.stringify([{ id: 't1', title: 'Make t1' }]) },
  );
  stage.agent.on(/MAKE-IT/, ({ write }) => write('t1.txt'));
  await stage.complete();
  const marks = (file: string): string[] =>
    readFileSync(join(stage.project.home, file), 'utf8').trim().split('\n');
  // The first setup is of the run's worktree.
  expect([marks('setup')[0], ...marks('merge')]).toEqual(Array(2).fill(`${stage.run}/driver`));
});

it('one of two drivers takes over from one that was killed, and the other is refused', async () => {
  stage = await createScriptedRun(steps);
  const { runtime, run } = stage;
  const { host: boot } = runtime.workspace.gates;
  // Above the largest pid.
  const process = { pid: 2 ** 22 + 1, machine: hostname(), boot };
  await runtime.call({ type: 'drive', change: 'take', process }, { actor: { kind: 'engine' } }, { run });
  works();
  const both = await Promise.all([0, 1].map(() => stage.start().ended));
  expect(both.map(({ end }) => end).sort()).toEqual(['complete', 'refused']);
  expect(both).toContainEqual({ end: 'refused', refused: expect.objectContaining({ code: 'driver_held' }) });
  expect((await stage.events('driver.taken')).map(({ epoch }) => epoch)).toEqual([1, 2]);
  expect(await stage.events('position.completed')).toHaveLength(1);
});
