/** `stepfast run` to the end with a real host: each kind of step. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { complete, type DriverStage, stageWith } from '../../kit/driver-run.ts';
import { sessionsOf, setTasks, write } from '../../kit/driver-script.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const begin = async (steps: string, files?: Record<string, string>): Promise<void> => {
  stage = await stageWith(steps, files);
};

describe('an action', () => {
  it('is checked at the end of the turn: red is an attempt and the next prompt, green goes on', async () => {
    await begin(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: "test -f done.txt || { echo MISSING-DONE; exit 3; }" }] }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
    const { model } = stage;
    model.on(lastUser(/INSTRUCTIONS-BUILD/), reply.text('All done, I promise.'));
    model.on(lastUser(/MISSING-DONE/), write('done.txt'), reply.text('Now it is.'));
    model.on(lastUser(/INSTRUCTIONS-TELL/), reply.text('Told.'));
    // Without a gate, only the agent can say that it is done.
    model.on(lastUser(/INSTRUCTIONS-TELL/), toolCall.advance('Told.'), reply.text('Yes.'));
    await complete(stage);
    expect(await stage.eventsOf('gates.finished')).toMatchObject([
      { pass: false, receipts: [{ exit: 3, role: 'gate' }] },
      { pass: true },
    ]);
    expect((await stage.eventsOf('gates.requested')).map(({ attempt }) => attempt)).toEqual([true, true]);
    const { outputs } = await stage.state();
    expect(outputs).toMatchObject({
      build: { text: 'Now it is.', receipts: [{ pass: true }] },
      tell: { text: 'Told.' },
    });
    // One conversation: nothing asked for a reset.
    expect(sessionsOf(model)).toHaveLength(1);
    expect(await stage.eventsOf('session.started')).toMatchObject([{ witness: 'driver' }]);
  });

  it('that the agent itself advances is not checked twice', async () => {
    await begin(`steps:
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, gate: [{ run: test -f done.txt }] }
  - { id: tell, type: action, instructions: INSTRUCTIONS-TELL }
`);
    const { model } = stage;
    model.on(
      lastUser(/INSTRUCTIONS-BUILD/),
      write('done.txt'),
      toolCall.advance('Built.'),
      toolCall.advance('Told.'),
      reply.text('Both are done.'),
    );
    await complete(stage);
    expect(await stage.eventsOf('gates.requested')).toHaveLength(1);
    expect((await stage.state()).outputs).toMatchObject({
      build: { text: 'Built.' },
      tell: { text: 'Told.' },
    });
  });
});

describe('a loop', () => {
  it('has the tasks that the agent sets, one after the other', async () => {
    await begin(`steps:
  - { id: work, type: loop, instructions: INSTRUCTIONS-SPLIT }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS-{task.id}", gate: [{ run: "test -f $STEPFAST_TASK_ID.txt" }] }
`);
    const { model } = stage;
    model.on(lastUser(/INSTRUCTIONS-SPLIT/), setTasks('work', 'one', 'two'), reply.text('Two tasks.'));
    model.on(lastUser(/INSTRUCTIONS-one/), write('one.txt'), reply.text('One.'));
    model.on(lastUser(/INSTRUCTIONS-two/), write('two.txt'), reply.text('Two.'));
    await complete(stage);
    expect(await stage.eventsOf('task.ended')).toMatchObject([
      { task: 'one', end: 'done' },
      { task: 'two', end: 'done' },
    ]);
    expect((await stage.state()).tasks.work?.order).toEqual(['one', 'two']);
  });

  it('has the tasks of a file, and no turn is needed for them', async () => {
    await begin(
      `steps:
  - { id: work, type: loop, tasks: { checklist: TODO.md } }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS {task.title}" }
`,
      { 'TODO.md': '- [ ] FIRST\n- [x] DONE\n- [ ] SECOND\n' },
    );
    const { model } = stage;
    model.on(lastUser(/INSTRUCTIONS FIRST/), toolCall.advance('First.'), reply.text('First.'));
    model.on(lastUser(/INSTRUCTIONS SECOND/), toolCall.advance('Second.'), reply.text('Second.'));
    await complete(stage);
    expect(await stage.activity('turn')).toHaveLength(2);
    expect(Object.values((await stage.state()).tasks.work?.byId ?? {})).toMatchObject([
      { title: 'FIRST' },
      { title: 'SECOND' },
    ]);
  });
});

it('a ralph step is repeated until its gates hold', async () => {
  await begin(`steps:
  - { id: polish, type: ralph, n: 5, instructions: "INSTRUCTIONS-{iteration}", until: [{ run: "test $(cat rounds.txt) = 2" }] }
`);
  const { model } = stage;
  model.on(lastUser(/INSTRUCTIONS-1/), write('rounds.txt', '1'), reply.text('Round 1.'));
  model.on(lastUser(/INSTRUCTIONS-2/), write('rounds.txt', '2'), reply.text('Round 2.'));
  await complete(stage);
  expect(await stage.eventsOf('position.entered')).toMatchObject([{ iteration: 1 }, { iteration: 2 }]);
  expect(await stage.eventsOf('gates.finished')).toMatchObject([
    { receipts: [{ role: 'until', pass: false }] },
    { receipts: [{ role: 'until', pass: true }] },
  ]);
});

it('run steps need no turn, wherever they are, and what `when` skips is not entered', async () => {
  await begin(`inputs:
  level: { type: string, default: minor }
steps:
  - { id: first, type: run, run: "echo first > first.txt; echo FIRST-OUTPUT" }
  - { id: work, type: action, instructions: "INSTRUCTIONS-WORK {outputs.first}" }
  - { id: between, type: run, run: "cat first.txt work.txt" }
  - { id: guide, type: action, when: 'inputs.level == "major"', instructions: INSTRUCTIONS-GUIDE }
  - { id: more, type: action, instructions: "INSTRUCTIONS-MORE {outputs.between}" }
  - { id: last, type: run, run: "cat more.txt" }
`);
  const { model } = stage;
  model.on(
    lastUser(/INSTRUCTIONS-WORK FIRST-OUTPUT/),
    write('work.txt', 'WORKED'),
    toolCall.advance('Worked.'),
    reply.text('Worked.'),
  );
  model.on(
    lastUser(/INSTRUCTIONS-MORE first\s+WORKED/),
    write('more.txt', 'MORE'),
    toolCall.advance('More.'),
    reply.text('More.'),
  );
  await complete(stage);
  const { outputs } = await stage.state();
  expect(outputs).toMatchObject({ first: { text: 'FIRST-OUTPUT' }, last: { text: 'MORE' } });
  expect(await stage.eventsOf('step.skipped')).toMatchObject([
    { step: 'guide', values: { 'inputs.level': '"minor"' } },
  ]);
  expect(await stage.activity('turn')).toHaveLength(2);
  // All of it in the worktree of the run.
  const worktree = await stage.worktree();
  expect(readFileSync(join(worktree, 'first.txt'), 'utf8')).toBe('first\n');
  expect(existsSync(join(stage.project.root, 'first.txt'))).toBe(false);
});
