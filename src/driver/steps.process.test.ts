/** The driver takes a run to its end: each kind of step. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

describe('an action', () => {
  it('is checked at the end of each turn, and a failure is the next prompt', async () => {
    stage = await createScriptedRun(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "test -f done.txt || { echo MISSING-DONE; exit 3; }" }] }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
    const { agent } = stage;
    agent.on(/INSTRUCTIONS-BUILD/, 'All done, I promise.');
    agent.on(/MISSING-DONE/, ({ write }) => {
      write('done.txt');
      return 'Now it is.';
    });
    agent.on(/INSTRUCTIONS-TELL/, 'Told.');
    // Without a gate, only the agent can report it as done.
    agent.on(/INSTRUCTIONS-TELL/, ({ advance }) => advance('Told.'));
    await stage.complete();
    expect(await stage.events('gates.finished')).toMatchObject([
      { pass: false, receipts: [{ exit: 3, role: 'gate' }] },
      { pass: true },
    ]);
    expect((await stage.events('gates.requested')).map(({ attempt }) => attempt)).toEqual([true, true]);
    expect((await stage.state()).outputs).toMatchObject({
      build: { text: 'Now it is.', receipts: [{ pass: true }] },
      tell: { text: 'Told.' },
    });
    // No step asks for a reset.
    expect(agent.sessions).toHaveLength(1);
    expect(await stage.events('session.started')).toMatchObject([{ witness: 'driver' }]);
  });

  it('is not checked again after the agent has advanced it', async () => {
    stage = await createScriptedRun(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
    stage.agent.on(/INSTRUCTIONS-BUILD/, async ({ write, advance }) => {
      write('done.txt');
      await advance('Built.');
      await advance('Told.');
    });
    await stage.complete();
    expect(await stage.events('gates.requested')).toHaveLength(1);
    expect((await stage.state()).outputs).toMatchObject({
      build: { text: 'Built.' },
      tell: { text: 'Told.' },
    });
  });
});

it('gates that still run are waited for, and no turn is taken', async () => {
  stage = await createScriptedRun(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: sleep 0.3 }] }
`);
  const { runtime, run } = stage;
  await runtime.call({ type: 'advance', output: 'Built.' }, { session: 'before' }, { run, waitMs: 0 });
  await stage.complete();
  expect(stage.agent.prompts).toEqual([]);
  expect(stage.reported('checking')).not.toEqual([]);
  expect(await stage.events('gates.requested')).toHaveLength(1);
});

describe('a loop', () => {
  it('works through the tasks that the agent sets', async () => {
    stage = await createScriptedRun(`steps:
  - { id: work, type: loop, instructions: INSTRUCTIONS-SPLIT }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS-{task.id}", gate: [{ run: "test -f $STEPFAST_TASK_ID.txt" }] }
`);
    const { agent } = stage;
    const tasks = ['one', 'two'].map((id) => ({ id, title: id }));
    agent.on(/INSTRUCTIONS-SPLIT/, async ({ tool }) => {
      await tool('workflow_set_tasks', { loop_id: 'work', tasks });
    });
    for (const { id } of tasks) agent.on(new RegExp(`INSTRUCTIONS-${id}`), ({ write }) => write(`${id}.txt`));
    await stage.complete();
    expect(await stage.events('task.ended')).toMatchObject([
      { task: 'one', end: 'done' },
      { task: 'two', end: 'done' },
    ]);
  });

  it('takes its tasks from a file without a turn', async () => {
    stage = await createScriptedRun(
      `steps:
  - { id: work, type: loop, tasks: { checklist: TODO.md } }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS {task.title}" }
`,
      { 'TODO.md': '- [ ] FIRST\n- [x] DONE\n- [ ] SECOND\n' },
    );
    for (const title of ['FIRST', 'SECOND'])
      stage.agent.on(new RegExp(`INSTRUCTIONS ${title}`), ({ advance }) => advance(title));
    await stage.complete();
    expect(stage.reported('turn')).toHaveLength(2);
    expect(Object.values((await stage.state()).tasks.work?.byId ?? {})).toMatchObject([
      { title: 'FIRST' },
      { title: 'SECOND' },
    ]);
  });
});

it('a ralph step repeats until its gates pass', async () => {
  stage = await createScriptedRun(`steps:
  - { id: polish, type: ralph, n: 5, instructions: "INSTRUCTIONS-{iteration}", until: [{ run: "test $(cat rounds.txt) = 2" }] }
`);
  for (const round of ['1', '2'])
    stage.agent.on(new RegExp(`INSTRUCTIONS-${round}`), ({ write }) => write('rounds.txt', round));
  await stage.complete();
  expect(await stage.events('position.entered')).toMatchObject([{ iteration: 1 }, { iteration: 2 }]);
  expect(await stage.events('gates.finished')).toMatchObject([
    { receipts: [{ role: 'until', pass: false }] },
    { receipts: [{ role: 'until', pass: true }] },
  ]);
});

it('run steps need no turn, and steps that `when` skips are not entered', async () => {
  stage = await createScriptedRun(`inputs:
  level: { type: string, default: minor }
steps:
  - { id: first, type: run, run: "echo first > first.txt; echo FIRST-OUTPUT" }
  - { id: work, type: action, instructions: "INSTRUCTIONS-WORK {outputs.first}" }
  - { id: between, type: run, run: "cat first.txt work.txt" }
  - { id: guide, type: action, when: 'inputs.level == "major"', instructions: INSTRUCTIONS-GUIDE }
  - { id: more, type: action, instructions: "INSTRUCTIONS-MORE {outputs.between}" }
  - { id: last, type: run, run: "cat more.txt" }
`);
  stage.agent.on(/INSTRUCTIONS-WORK FIRST-OUTPUT/, async ({ write, advance }) => {
    write('work.txt', 'WORKED');
    await advance('Worked.');
  });
  stage.agent.on(/INSTRUCTIONS-MORE first\s+WORKED/, async ({ write, advance }) => {
    write('more.txt', 'MORE');
    await advance('More.');
  });
  await stage.complete();
  expect((await stage.state()).outputs).toMatchObject({
    first: { text: 'FIRST-OUTPUT' },
    last: { text: 'MORE' },
  });
  expect(await stage.events('step.skipped')).toMatchObject([
    { step: 'guide', values: { 'inputs.level': '"minor"' } },
  ]);
  expect(stage.reported('turn')).toHaveLength(2);
  // All of it happens in the worktree of the run.
  expect(readFileSync(join(stage.worktree, 'first.txt'), 'utf8')).toBe('first\n');
});
