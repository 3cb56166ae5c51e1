/** Commands of a driver itself, set-ups and gates of merges: what a killed driver left of them is ended by the next. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { mainTurn, reply } from '../../../src/testing/index.ts';
import { markedProcesses } from '../../../src/workspace/index.ts';
import { createDriverStage, type DriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { allowedTools, eventsOf } from '../../kit/hostile-driver.ts';
import { isRunning } from '../../kit/is-running.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

/** Runs until a file is there, and says which process it is. */
const waits = JSON.stringify('echo $$ >> "$HOME/pids"; while [ ! -e "$HOME/go" ]; do sleep 0.1; done');
const loop = (more: string): string =>
  `  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json }${more} }\n`;

it.each([
  ['the set-up of its worktree', `worktree: { setup: ${waits} }\n`, loop('')],
  ['a gate of a merge', '', loop(`, merge_gate: [{ run: ${waits} }]`)],
])('%s does not go on beside that of the next driver', async (_, setup, step) => {
  stage = await createDriverStage({
    ...allowedTools,
    'tasks.json': JSON.stringify([{ id: 't1', title: 'Make t1' }]),
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Works\n${setup}loops:\n  each:\n    - { id: work, instructions: MAKE-IT, gate: [{ run: test -f t1.txt }] }\nsteps:\n${step}`,
  });
  stage.model.always(mainTurn(), ({ body }) =>
    JSON.stringify(body.messages).includes('touch t1') ? reply.text('Done.') : shell('touch t1.txt'),
  );
  const inHome = (file: string): string => join(stage.env.HOME ?? '', file);
  const pids = (): number[] =>
    existsSync(inHome('pids')) ? readFileSync(inHome('pids'), 'utf8').trim().split('\n').map(Number) : [];
  const first = stage.start(['w', '--no-wait']);
  await expect.poll(() => pids().length).toBe(1);
  first.child.kill('SIGKILL');
  await first.ended;
  const run = (await stage.run())?.run ?? '';
  const second = stage.start(['--run', run, '--no-wait']);
  await expect.poll(() => pids().length).toBe(2);
  expect(pids().map(isRunning)).toEqual([false, true]);
  writeFileSync(inHome('go'), '');
  expect(await second.ended).toMatchObject({ code: 0 });
  expect((await stage.run())?.state.status).toBe('complete');
  expect(await eventsOf(stage, 'merge.finished')).toMatchObject([{ task: 't1' }]);
  expect(markedProcesses(`${run}/`)).toEqual([]);
});
