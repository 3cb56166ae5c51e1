/** Drivers that are killed, and the next one that goes on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lastUser, mainTurn, reply, summariser } from '../../../src/testing/index.ts';
import {
  runBranch,
  runWorktree,
  taskBranch,
  taskWorktree,
  worktreesFolder,
} from '../../../src/workspace/index.ts';
import { killDrivers } from '../../kill/driver.ts';
import { createDriverStage } from '../../kit/driver-run.ts';
import { shell } from '../../kit/driver-script.ts';
import { allowedTools, createHostileStage, eventsOf } from '../../kit/hostile-driver.ts';

it('in a compaction: the boundary that was asked of the dead session opens for the next one', async () => {
  const step = (id: string, more = ''): string =>
    `{ id: ${id}, type: action, instructions: Make it.${more}, gate: [{ run: test -f ${id}.txt }] }`;
  await using stage = await createHostileStage([step('one'), step('two', ', context: compact')]);
  stage.model.on(summariser(), reply.text('Too late.', { delayMs: 600_000 }));
  stage.model.always(mainTurn(), ({ body }) =>
    body.messages.some(({ content }) => JSON.stringify(content).includes('tool_result'))
      ? reply.text('Done.')
      : shell('touch one.txt two.txt'),
  );
  const first = stage.start(['w', '--no-wait']);
  await expect.poll(() => stage.model.requestsOf('summariser').length).toBe(1);
  first.child.kill('SIGKILL');
  await first.ended;
  const run = (await stage.run())?.run ?? '';
  expect(await stage.drive(['--run', run, '--no-wait'])).toMatchObject({ code: 0 });
  expect(await eventsOf(stage, 'boundary.reset')).toMatchObject([{ saw: 'new', by: 'driver' }]);
  expect(await eventsOf(stage, 'position.completed')).toHaveLength(2);
});

it('just after the end of the run: the next one commits what was left, and says that the run is complete', async () => {
  await using stage = await createHostileStage([
    '{ id: one, type: action, instructions: Make it., gate: [{ run: test -f one.txt }] }',
  ]);
  stage.model.on(mainTurn(), shell('touch one.txt'), reply.text('Done.'));
  expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 0 });
  const { run = '', state } = (await stage.run()) ?? {};
  // As if the driver had not come to it.
  const worktree = runWorktree(stage.project.runtime().project, run) ?? '';
  writeFileSync(join(worktree, 'late.txt'), 'late');
  expect(await stage.drive(['--run', run, '--no-wait'])).toMatchObject({ code: 0 });
  expect(stage.git('show', `${state?.branch}:late.txt`)).toBe('late');
});

it('drivers that are killed and started again repeat nothing, lose nothing and leave nothing behind', async () => {
  const report = await killDrivers({ kills: 3, lanes: 1 });
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({
    worktreesLeft: 0,
    acceptedTwice: 0,
    startedTwice: 0,
    staleReceipts: 0,
    lost: 0,
    processesLeft: 0,
  });
  expect(report.kills).toBeGreaterThanOrEqual(3);
});

it.each([false, true])(
  'the worktrees of tasks have all that was done before; killed: %s',
  async (isKilled) => {
    await using stage = await createDriverStage({
      ...allowedTools,
      'tasks.json': JSON.stringify([{ id: 't1', title: 'Make t1' }]),
      '.stepfast/workflows/w.yaml': `name: w
description: Works
loops:
  each: [{ id: work, instructions: MAKE-TASK, gate: [{ run: test -f 150.txt }] }]
steps:
  - { id: one, type: action, instructions: MAKE-MANY, gate: [{ run: test -f 150.txt }] }
  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json } }
`,
    });
    // So many that the commit takes longer than a claim.
    const many = 'for i in $(seq 150); do echo $i > $i.txt; done';
    stage.model.on(lastUser(/MAKE-MANY/), shell(many), reply.text('Done.'));
    stage.model.always(mainTurn(), reply.text('Done.'));
    const first = stage.start(['w', '--no-wait']);
    if (isKilled) {
      await expect
        .poll(async () => (await eventsOf(stage, 'step.completed')).length, { interval: 5 })
        .toBe(1);
      first.child.kill('SIGKILL');
    }
    const { code } = await first.ended;
    const run = (await stage.run())?.run ?? '';
    const ended = isKilled ? (await stage.drive(['--run', run, '--no-wait'])).code : code;
    expect(ended).toBe(0);
    const checks = (await eventsOf(stage, 'gates.finished')).flatMap(({ receipts }) => receipts);
    expect(checks.map(({ pass }) => pass)).toEqual([true, true]);
    // As if the driver was killed before it removed the worktree.
    const { project } = stage.project.runtime();
    const path = join(worktreesFolder(project), run, 'task', 't1');
    stage.git('worktree', 'add', '-q', '-b', taskBranch(run, 't1'), path, runBranch(run));
    expect(taskWorktree(project, run, 't1')).toBe(path);
    expect(await stage.drive(['--run', run, '--no-wait'])).toMatchObject({ code: 0 });
    expect(taskWorktree(project, run, 't1')).toBeUndefined();
  },
);
