/** Tasks in parallel: each in its own worktree, merged one at a time. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';
import { taskBranch, taskWorktree, worktreesFolder } from '../workspace/index.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const ids = ['t1', 't2'];
const begin = async (more: string, workflow = ''): Promise<void> => {
  stage = await createScriptedRun(
    `${workflow}loops:
  each: [{ id: do, instructions: "MAKE-{task.id}-", gate: [{ run: "test -f $STEPFAST_TASK_ID.txt" }] }]
steps:
  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json }${more} }
`,
    { 'tasks.json': JSON.stringify(ids.map((id) => ({ id, title: `Make ${id}` }))) },
  );
};
const files = (): string[] => stage.git('diff', '--name-only', 'HEAD', stage.branch).split('\n');
const merges = (): string[] => stage.reported('merge').map(({ task, state }) => `${task} ${state}`);

it('tasks run at the same time in their own worktrees, which are removed after their merges', async () => {
  await begin('');
  const both = Promise.withResolvers<void>();
  for (const id of ids)
    stage.agent.on(new RegExp(`MAKE-${id}-`), async ({ write }) => {
      if (stage.agent.prompts.length === ids.length) both.resolve();
      await both.promise;
      write(`${id}.txt`);
    });
  await stage.complete();
  const worktrees = stage.agent.prompts.map(({ cwd }) => cwd);
  expect(new Set([...worktrees, stage.worktree]).size).toBe(3);
  expect(worktrees.filter((path) => existsSync(path))).toEqual([]);
  expect(files()).toEqual(['t1.txt', 't2.txt']);
});

it('a task that conflicts goes back to an agent, with the branch merged into its worktree', async () => {
  await begin('');
  stage.agent.on(/MAKE-t1-/, ({ write }) => {
    write('t1.txt');
    write('shared.txt', 'one');
  });
  stage.agent.on(/MAKE-t2-/, async ({ write }) => {
    await expect.poll(merges).toContain('t1 merged');
    write('t2.txt');
    write('shared.txt', 'two');
  });
  stage.agent.on(/shared\.txt/, async ({ shell, write }) => {
    expect(await shell('cat shared.txt')).toMatch(/one.*two|two.*one/s);
    write('shared.txt', 'both');
  });
  await stage.complete();
  expect(merges()).toEqual([
    't1 merging',
    't1 merged',
    't2 merging',
    't2 conflict',
    't2 merging',
    't2 merged',
  ]);
  expect(stage.git('show', `${stage.branch}:shared.txt`)).toBe('both');
});

it('a task whose worktree cannot be set up waits for a person, and the others are merged', async () => {
  await begin('', `worktree: { setup: 'test "$STEPFAST_TASK_ID" != t1' }\n`);
  stage.agent.on(/MAKE-t2-/, ({ write }) => write('t2.txt'));
  expect(await stage.drive()).toBe('waits');
  expect((await stage.state()).cursors).toMatchObject({ 'each/t1': { waiting: { kind: 'blocked' } } });
  expect(await stage.events('position.failed')).toHaveLength(1);
  expect(files()).toEqual(['t2.txt']);
});

it.each([
  ['a killed driver', true],
  ['the turn before them', false],
])('worktrees of tasks begin with all work of %s', async (_, isKilled) => {
  stage = await createScriptedRun(
    `loops:
  each: [{ id: do, instructions: MAKE-TASK, gate: [{ run: test -f 150.txt }] }]
steps:
  - { id: one, type: action, instructions: MAKE-MANY }
  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json } }
`,
    { 'tasks.json': JSON.stringify([{ id: 't1', title: 'Make t1' }]) },
  );
  const { runtime, run, worktree, branch } = stage;
  // So many that the commit takes longer than a claim.
  const makeMany = (): void => {
    for (let n = 1; n <= 150; n += 1) writeFileSync(join(worktree, `${n}.txt`), `${n}`);
  };
  if (isKilled) {
    makeMany();
    await runtime.call({ type: 'advance', output: 'Made.' }, { session: 'before' }, { run });
  } else
    stage.agent.on(/MAKE-MANY/, async ({ advance }) => {
      makeMany();
      await advance('Made.');
    });
  stage.agent.on(/MAKE-TASK/, 'Done.');
  await stage.complete();
  // As if the driver was killed before it removed the worktree.
  const path = join(worktreesFolder(runtime.project), run, 'task', 't1');
  stage.git('worktree', 'add', '-q', '-b', taskBranch(run, 't1'), path, branch);
  expect(taskWorktree(runtime.project, run, 't1')).toBe(path);
  expect(await stage.drive()).toBe('complete');
  expect(taskWorktree(runtime.project, run, 't1')).toBeUndefined();
});
