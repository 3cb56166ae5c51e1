/** The end of a turn is a check: turns as people have them, each as the table in docs/claude-code.md says. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  checkLeftText,
  filesChangedText,
  greenStaysText,
  stepOpenText,
  stillRedText,
} from '../../../src/messages/index.ts';
import {
  type ClaudeProject,
  contextOf,
  lastUser,
  reply,
  runtimeIn,
  subagent,
  toolCall,
} from '../../../src/testing/index.ts';
import {
  createCheckedProject,
  edit,
  gate,
  insists,
  passes,
  release,
  shownIn,
  stateOf,
  step,
  stopsOf,
  told,
  typed,
  until,
  verdictsOf,
  workflow,
} from './checked-project.ts';

let stage: ClaudeProject;
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const begin = async (steps: string, more: Record<string, string> = {}): Promise<void> => {
  stage = await createCheckedProject({ '.stepfast/workflows/w.yaml': workflow(steps), ...more });
};
const handOf = async (): Promise<string> =>
  (await (await stage.project.onlyRun()).events('stop.held')).map(({ at }) => at).join();

it('1: a step without a gate continues the turn once with how to advance, then the person sees that it is open', async () => {
  await begin(step('plan', 'attempts: 1') + step('build', 'attempts: 1'));
  insists(stage, toolCall.bash('echo plan > PLAN.md'), reply.text('Planned.'));
  const session = await stage.open();
  const first = await session.send(typed);
  const at = await handOf();
  expect(at).toMatch(/:plan#1$/);
  const held = stage.model.requestsOf('main').at(-1);
  expect(held && contextOf(held)).toContain(at);
  // Once in this turn: the second stop was not held.
  expect(shownIn(first.events)).toContain(stepOpenText('plan'));
  const second = await session.send('go on');
  expect(shownIn(second.events)).toContain(stepOpenText('plan'));
  stage.model.on(lastUser(/what is next/), reply.text('The plan is there.'));
  const conversation = await session.send('what is next?');
  expect(shownIn(conversation.events)).toBe('');
  expect(await handOf()).toBe(at);
  stage.model.on(lastUser(/advance/), toolCall.advance('Planned.', at), reply.text('Planned.'));
  await session.send('advance');
  await session.close();
  expect((await stateOf(stage)).step).toBe('build');
  expect(await verdictsOf(stage)).toEqual([]);
});

it('2: a loop that waits for tasks is left alone, then each task is checked at the stop', async () => {
  await begin(`  - { id: work, type: loop, instructions: Set the tasks. }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS-{task.id}", ${gate('test -f $STEPFAST_TASK_ID.txt || { echo not ok $STEPFAST_TASK_ID; exit 1; }')} }
`);
  const tasks = ['a', 'b'].map((id) => ({ id, title: `Task ${id}` }));
  const setTasks = reply.tool('mcp__plugin_stepfast_stepfast__workflow_set_tasks', {
    loop_id: 'work',
    tasks,
  });
  stage.model.on(lastUser(/make it/), toolCall.bash('echo 1 > notes.txt'), reply.text('Looked around.'));
  stage.model.on(
    lastUser(/the tasks/),
    setTasks,
    toolCall.bash('echo a > a.txt'),
    reply.text('Task a is done.'),
  );
  stage.model.on(told(/not ok b/), toolCall.bash('echo b > b.txt'), reply.text('Now b is done.'));
  stage.model.on(told(/INSTRUCTIONS-b/), reply.text('Task b is done, too.'));
  const session = await stage.open();
  await session.send(typed);
  expect(stopsOf(stage)).toEqual(['allowed: needs_tasks']);
  expect(await verdictsOf(stage)).toEqual([]);
  await session.send('the tasks are a and b');
  await session.close();
  expect(await verdictsOf(stage)).toEqual([true, false, true]);
  expect(await stateOf(stage)).toMatchObject({ status: 'complete' });
});

it('3: a subagent that ends without advancing leaves its position to its parent, whose stop is checked', async () => {
  await begin(step('do', gate(passes)));
  stage.model.on(lastUser(/make it/), toolCall.agent('SUB-TASK: do AT and report.'), reply.text('Done.'));
  stage.model.on(subagent(/SUB-TASK/), edit('43'), reply.text('I am done.'));
  stage.model.on(told(/not ok 1/), edit('42'), reply.text('Fixed.'));
  await stage.run({ prompts: [typed] });
  expect(await verdictsOf(stage)).toEqual([false, true]);
  expect(await stateOf(stage)).toMatchObject({ status: 'complete', outputs: { do: { text: 'Fixed.' } } });
});

it('4: while a review is pending, turns are neither checked nor held, and the person sees what to type', async () => {
  await begin(step('do', `${gate(passes)}, review: { by: human }`) + step('end', 'attempts: 1'));
  stage.model.on(lastUser(/make it/), edit('42'), reply.text('Done.'));
  stage.model.on(lastUser(/also/), edit('41'), reply.text('Changed it back.'));
  const session = await stage.open();
  const first = await session.send(typed);
  expect(shownIn(first.events)).toMatch(/\/stepfast:approve [0-9a-f]{4}/);
  expect(await stateOf(stage)).toMatchObject({ status: 'waiting', step: 'do' });
  await session.send('also change it back');
  await session.close();
  expect(stage.model.left()).toBe(0);
  expect(stage.model.unmatched().length).toBe(0);
  expect(await verdictsOf(stage)).toEqual([true]);
  expect((await stateOf(stage)).cursors.do).toMatchObject({ stops: 0, waiting: { kind: 'review' } });
});

describe('7: a gate that writes files', () => {
  it('and changes them at every run is never green, and the person sees which', async () => {
    await begin(step('do', gate(`date +%s%N > stamp.txt; ${passes}`)));
    stage.model.on(lastUser(/make it/), edit('42'), reply.text('Done.'));
    const ran = await stage.run({ prompts: [typed] });
    expect((await stateOf(stage)).cursors.do).toMatchObject({ unstable: ['stamp.txt'], stops: 0 });
    expect(shownIn(ran.events)).toContain(filesChangedText('do', ['stamp.txt']));
  });

  it('is remembered with the tree after it: a conversation does not run it again', async () => {
    await begin(step('do', gate(`cp total.txt report.txt; ${passes}`)));
    insists(stage, edit('43'), reply.text('Done!'));
    const session = await stage.open();
    await session.send(typed);
    expect(await verdictsOf(stage)).toEqual([false, false, false, false]);
    stage.model.on(lastUser(/why/), reply.text('I do not know.'));
    const { events } = await session.send('why is it red?');
    await session.close();
    expect(shownIn(events)).toContain(
      stillRedText('do', { what: `cp total.txt report.txt; ${passes}` }, '/stepfast:cancel'),
    );
    expect((await stateOf(stage)).cursors.do?.checks).toBe(4);
  });

  it('is green once its second run changes nothing', async () => {
    await begin(step('do', gate(`cp total.txt report.txt; ${passes}`)));
    stage.model.on(lastUser(/make it/), edit('42'), reply.text('Done.'));
    await stage.run({ prompts: [typed] });
    expect(await stateOf(stage)).toMatchObject({ status: 'complete' });
    expect(await verdictsOf(stage)).toEqual([true]);
  });
});

it('8: an install that changes ignored files only is an act, so the same tree is checked again', async () => {
  await begin(step('do', gate('test -f node_modules/dep || { echo not ok 1 - no dep; exit 1; }')), {
    '.gitignore': 'node_modules\n',
  });
  stage.model.on(lastUser(/make it/), edit('42'), reply.text('Done!'));
  stage.model.on(
    told(/not ok 1/),
    toolCall.bash('mkdir node_modules; touch node_modules/dep'),
    reply.text('Installed.'),
  );
  await stage.run({ prompts: [typed] });
  const { events, state } = await stage.project.onlyRun();
  const checks = await events('gates.finished');
  expect(checks.map(({ pass }) => pass)).toEqual([false, true]);
  expect(checks[0]?.tree).toBe(checks[1]?.tree);
  expect(await state()).toMatchObject({ status: 'complete' });
});

describe('9: files that the person edits between turns', () => {
  it.each([
    ['red', '41', false],
    ['green', '42', true],
  ])('are checked in the background, %s, without any effect on the turn', async (_, content, pass) => {
    await begin(step('do', gate(passes)));
    stage.model.on(lastUser(/make it/), edit('42'), reply.text('Shall I go on?'));
    stage.model.always(lastUser(/./), reply.text('I see.'));
    const session = await stage.open();
    const first = await session.send(typed);
    expect(shownIn(first.events)).toContain(greenStaysText('do'));
    stage.project.write({ 'total.txt': `${content}\n`, 'by-hand.txt': 'x\n' });
    const asked = stage.model.all().length;
    await session.send('I changed it');
    await expect.poll(async () => await verdictsOf(stage)).toEqual([true, pass]);
    const { events } = await session.send('and now?');
    await session.close();
    // One request per prompt: nothing continued a turn, and nothing woke the session.
    expect(stage.model.since(asked + 1).requestsOf('main')).toHaveLength(2);
    expect(await stateOf(stage)).toMatchObject({
      status: 'running',
      cursors: { do: { stops: 0, checks: 2 } },
    });
    expect(shownIn(events).includes(stillRedText('do', { what: passes }, undefined))).toBe(!pass);
  });
});

it('10: a commit only is an act: the run completes with it', async () => {
  await begin(step('do', gate(passes)));
  stage.model.on(lastUser(/make it/), edit('42'), reply.text('Shall I commit it?'));
  stage.model.on(
    lastUser(/yes/),
    toolCall.bash('git commit -qam "The total is 42"'),
    reply.text('Committed.'),
  );
  const session = await stage.open();
  await session.send(typed);
  expect(await stateOf(stage)).toMatchObject({
    status: 'running',
    cursors: { do: { checked: { pass: true } } },
  });
  await session.send('yes');
  await session.close();
  const { events, state } = await stage.project.onlyRun();
  const checks = await events('gates.finished');
  expect(checks.map(({ pass }) => pass)).toEqual([true, true]);
  expect(checks[0]?.tree).toBe(checks[1]?.tree);
  expect(await state()).toMatchObject({ status: 'complete', outputs: { do: { text: 'Committed.' } } });
});

describe('5: a gate that takes longer than the stop waits, while the person types', () => {
  it('is not red for a tree that was fixed meanwhile: it runs once more, and the run completes', async () => {
    await begin(step('do', gate(`grep -q 42 total.txt; red=$?; ${until}; exit $red`)));
    stage.model.on(lastUser(/make it/), edit('43'), reply.text('Done!'));
    stage.model.on(lastUser(/I fixed it/), reply.text('Thank you.'));
    const session = await stage.open();
    await session.send(typed);
    stage.project.write({ 'total.txt': '42\n' });
    release(stage);
    await expect.poll(async () => await verdictsOf(stage)).toEqual([true]);
    const { events } = await session.send('I fixed it myself');
    await session.close();
    expect(shownIn(events)).toContain('✓ w complete');
    expect(await stateOf(stage)).toMatchObject({ status: 'complete' });
  });

  it('goes on in the background through a conversation, then wakes the session', async () => {
    await begin(step('do', gate(`${until}; ${passes}`)));
    stage.model.on(lastUser(/make it/), edit('43'), reply.text('Done!'));
    stage.model.on(lastUser(/how far/), reply.text('It is being checked.'));
    stage.model.on(told(/not ok 1/), edit('42'), reply.text('Fixed.'));
    const session = await stage.open();
    const first = await session.send(typed);
    expect(shownIn(first.events)).toContain(checkLeftText([`${until}; ${passes}`]));
    await session.send('how far are you?');
    expect(stopsOf(stage)).toEqual(['allowed: checking', 'allowed: checking']);
    expect(await verdictsOf(stage)).toEqual([]);
    release(stage);
    await expect.poll(async () => (await stateOf(stage)).status).toBe('complete');
    await session.close();
    expect(await verdictsOf(stage)).toEqual([false, true]);
  });

  it.each([
    ['red', edit('43'), /not ok 1/],
    ['green', edit('42'), /INSTRUCTIONS-END/],
  ])(
    'never interrupts a turn: a %s result reaches the agent when the turn in which it came has ended',
    async (_, tool, feedback) => {
      await begin(step('do', gate(`${until}; ${passes}`)) + step('end', 'attempts: 1'));
      stage.model.on(lastUser(/make it/), tool, reply.text('Done!'));
      stage.model.on(
        lastUser(/how far/),
        async () => {
          release(stage);
          await expect.poll(async () => await verdictsOf(stage)).toHaveLength(1);
          return toolCall.bash('cat total.txt');
        },
        reply.text('It is being checked.'),
      );
      stage.model.on(told(feedback), reply.text('I see.'));
      const session = await stage.open();
      await session.send(typed);
      await session.send('how far are you?');
      await expect.poll(() => stage.model.left()).toBe(0);
      await session.close();
      expect(stage.model.unmatched().length).toBe(0);
      const [asked, read, continued, ...more] = stage.model
        .requestsOf('main')
        .slice(2)
        .map((request) => feedback.test(contextOf(request)));
      expect([asked, read, continued, more]).toEqual([false, false, true, []]);
    },
  );
});

it('6: of two sessions in one worktree each is checked by its own run, and a third has no part in it', async () => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(step('do', gate('test -f w.txt || { echo not ok w; exit 1; }'))),
    '.stepfast/workflows/v.yaml': workflow(
      step('do', gate('test -f v.txt || { echo not ok v; exit 1; }')),
      'v',
    ),
  });
  let edited = 0;
  /** Said when all three have edited: files that change during a check would have it run again. */
  const says = (text: string) => async () => {
    edited += 1;
    await expect.poll(() => edited, { timeout: 60_000 }).toBe(3);
    return reply.text(text);
  };
  stage.model.on(lastUser(/make it/), edit('43'), says('W is done.'));
  stage.model.on(lastUser(/another/), toolCall.bash('touch v.txt'), says('V is done.'));
  stage.model.on(lastUser(/hello/), edit('44'), says('Hello.'));
  stage.model.on(told(/not ok w/), toolCall.bash('touch w.txt'), reply.text('Now W is done.'));
  const open = async () => await stage.open();
  const [first, second, third] = [await open(), await open(), await open()];
  const [{ session: w }, { session: v }, outsider] = await Promise.all([
    first.send(typed),
    second.send('/stepfast:start v another'),
    third.send('hello'),
  ]);
  await Promise.all([first, second, third].map((each) => each.close()));
  expect(stage.model.unmatched().length).toBe(0);
  expect(stage.model.ofSession(outsider.session).requestsOf('main')).toHaveLength(2);
  const { engine } = runtimeIn(stage.project);
  const runs = await Promise.all((await engine.runs()).map(({ run }) => engine.view(run)));
  const found = runs.map((view) => ({
    workflow: view?.definition.name,
    status: view?.state.status,
    sessions: Object.keys(view?.state.sessions ?? {}),
    output: view?.state.outputs.do?.text,
  }));
  expect(found.toSorted((a, b) => ((a.workflow ?? '') < (b.workflow ?? '') ? -1 : 1))).toEqual([
    { workflow: 'v', status: 'complete', sessions: [v], output: 'V is done.' },
    { workflow: 'w', status: 'complete', sessions: [w], output: 'Now W is done.' },
  ]);
});

it('6: in one worktree one check runs at a time', async () => {
  const alone = `mkdir alone || { echo not alone; exit 1; }; ${until}; sleep 2; rmdir alone`;
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': workflow(step('do', gate(alone))),
    '.stepfast/workflows/v.yaml': workflow(step('do', gate(alone)), 'v'),
  });
  stage.model.on(lastUser(/make it/), edit('43'), reply.text('W is done.'));
  stage.model.on(lastUser(/another/), edit('44'), reply.text('V is done.'));
  const { engine } = runtimeIn(stage.project);
  const views = async () => await Promise.all((await engine.runs()).map(({ run }) => engine.view(run)));
  const runners = async (): Promise<number> =>
    (await views()).filter((view) => view?.state.cursors.do?.checking?.runner).length;
  const [first, second] = [await stage.open(), await stage.open()];
  const turns = [first.send(typed), second.send('/stepfast:start v another')];
  await expect.poll(runners).toBe(2);
  release(stage);
  await Promise.all(turns);
  await Promise.all([first, second].map((each) => each.close()));
  // At the first stop of each: no agent was told of a red check.
  expect(stage.model.unmatched().length).toBe(0);
  expect((await views()).map((view) => view?.state.status)).toEqual(['complete', 'complete']);
});
