/** `stepfast run --host gemini`: a workflow to its end over the Agent Client Protocol. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { lastUser, reply } from '../../../src/testing/index.ts';
import { advance, createGeminiStage, own, shell } from '../../kit/gemini.ts';

const workflow = `name: w
description: Works
agents:
  worker: { description: Works, tools: [Bash] }
steps:
  - { id: build, type: action, agent: worker, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "test -f done.txt || { echo MISSING-DONE; exit 3; }" }] }
  - { id: tell, type: action, agent: worker, context: clear, instructions: INSTRUCTIONS-TELL }
  - { id: work, type: loop, agent: worker, instructions: INSTRUCTIONS-SPLIT }
loops:
  work:
    - { id: do, agent: worker, instructions: "INSTRUCTIONS-{task.id}", gate: [{ run: "test -f $STEPFAST_TASK_ID.txt" }] }
`;

it('drives steps, a gate that fails first, a cleared context and the tasks of a loop', async () => {
  await using stage = await createGeminiStage({ '.stepfast/workflows/w.yaml': workflow });
  const { model, project, env } = stage;
  const git = (...args: string[]): void =>
    void execFileSync('git', args, { cwd: project.root, env, stdio: 'pipe' });
  git('config', 'user.email', 'person@example.com');
  git('config', 'user.name', 'Person');
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  project.trust('w');
  model.on(lastUser(/INSTRUCTIONS-BUILD/), reply.text('All done, I promise.'));
  model.on(lastUser(/MISSING-DONE/), shell('printf x > done.txt'), reply.text('Now it is.'));
  model.on(lastUser(/INSTRUCTIONS-TELL/), advance('Told.'), reply.text('Yes.'));
  model.on(
    lastUser(/INSTRUCTIONS-SPLIT/),
    own('workflow_set_tasks', {
      loop_id: 'work',
      tasks: ['one', 'two'].map((id) => ({ id, title: `Task ${id}` })),
    }),
    reply.text('Two tasks.'),
  );
  model.on(lastUser(/INSTRUCTIONS-one/), shell('printf x > one.txt'), reply.text('One.'));
  model.on(lastUser(/INSTRUCTIONS-two/), shell('printf x > two.txt'), reply.text('Two.'));
  const { code, stdout, stderr } = await stage.stepfast('run', 'w', '--no-wait', '--host', 'gemini');
  expect({ code }, stdout + stderr).toEqual({ code: 0 });
  const run = await project.onlyRun();
  expect(await run.state()).toMatchObject({
    status: 'complete',
    outputs: { build: { text: 'Now it is.' }, tell: { text: 'Told.' } },
  });
  expect((await run.events('gates.finished')).map(({ pass }) => pass)).toEqual([false, true, true, true]);
  expect(await run.events('task.ended')).toMatchObject([
    { task: 'one', end: 'done' },
    { task: 'two', end: 'done' },
  ]);
  const started = await run.events('session.started');
  expect(started.length).toBeGreaterThan(1);
  expect(started.every((event) => event.witness === 'driver')).toBe(true);
  expect(model.left()).toBe(0);
  expect(model.strays()).toEqual([]);
});
