/** The end of a turn is a check: turns as people have them, each as the table in docs/claude-code.md says. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { gate, passes, step, until, workflow } from '../../test/kit/checked-workflow.ts';
import type { HookKit } from '../../test/kit/hooks.ts';
import { openTurns, startChecked, type Turns } from '../../test/kit/turns.ts';
import {
  checkLeftText,
  greenStaysText,
  runEndedText,
  stepOpenText,
  stillRedText,
} from '../messages/index.ts';

let kit: HookKit;
let run: string;
let at: string;
let session: Turns;
afterEach(() => kit[Symbol.dispose]());

const release = (): void => writeFileSync(join(kit.project.root, '..', 'release'), '');
const begin = async (...given: Parameters<typeof startChecked>): Promise<void> => {
  ({ kit, run, at, session } = await startChecked(...given));
};

const edit = (total: string) => (): void => kit.project.write({ 'total.txt': `${total}\n` });
const shown = ({ json }: { json: Record<string, unknown> }): string => String(json.systemMessage ?? '');
const state = async () => (await kit.runtime.engine.view(run))?.state ?? expect.unreachable();
const checks = async () =>
  (await kit.runtime.engine.entries(run))
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'gates.finished' ? [event] : []));
const verdicts = async (): Promise<boolean[]> => (await checks()).map(({ pass }) => pass);
const allowed = (): string[] =>
  kit.log().flatMap((entry) => (entry.what === 'allowed' && 'why' in entry ? [entry.why] : []));

test('[U3] a false "done" is held with the failure, and the fix completes the run', async () => {
  await begin(step('do', gate(passes)));
  expect((await session.turn('Done!', edit('43'))).held).toContain('> not ok 1');
  const { held } = await session.goOn('Now it is done.', edit('42'));
  expect(held).toBeUndefined();
  expect(await state()).toMatchObject({ status: 'complete', outputs: { do: { text: 'Now it is done.' } } });
});

test('[U2] an agent that insists is held three times, and the person sees the red gate at every stop', async () => {
  await begin(step('do', gate(passes)));
  const held = [(await session.turn('Done!', edit('43'))).held];
  for (const _ of [1, 2]) held.push((await session.goOn('Done!', edit('43'))).held);
  expect(held.every((each) => each !== undefined)).toBe(true);
  const stillRed = stillRedText('do', { what: passes }, '/stepfast:cancel');
  for (const last of [await session.goOn('Done!', edit('43')), await session.turn('Done!', edit('43'))]) {
    expect(last.held).toBeUndefined();
    expect(shown(last)).toContain(stillRed);
  }
  expect(await state()).toMatchObject({ status: 'running', cursors: { do: { stops: 3 } } });
});

test('[U13] a turn that only reads is left alone', async () => {
  await begin(step('do', gate(passes)));
  const { held, json } = await session.turn('It is 41.');
  expect({ held, json }).toEqual({ held: undefined, json: {} });
  expect(allowed()).toEqual(['conversation']);
  expect((await state()).cursors.do).toMatchObject({ stops: 0, checks: 0 });
});

test('green hands the next position over in the same turn', async () => {
  await begin(step('do', gate(passes)) + step('end', 'attempts: 1'));
  expect((await session.turn('Done.', edit('42'))).held).toContain('INSTRUCTIONS-END');
  expect((await state()).step).toBe('end');
});

test('10: a question keeps a green position open, and a commit alone then completes the run', async () => {
  await begin(step('do', gate(passes)));
  expect(shown(await session.turn('Shall I commit it?', edit('42')))).toContain(greenStaysText('do'));
  expect(await state()).toMatchObject({ status: 'running', cursors: { do: { checked: { pass: true } } } });
  await session.turn('Committed.', () => kit.project.git('commit', '-qam', 'The total is 42'));
  const [first, second] = await checks();
  expect(first?.tree).toBe(second?.tree);
  expect(await state()).toMatchObject({ status: 'complete', outputs: { do: { text: 'Committed.' } } });
});

test('1: a step without a gate continues the turn once, then the person sees that it is open', async () => {
  await begin(step('plan', 'attempts: 1') + step('build', 'attempts: 1'));
  const act = (): void => kit.project.write({ 'PLAN.md': 'plan\n' });
  expect((await session.turn('Planned.', act)).held).toContain(at);
  for (const last of [await session.goOn('Planned.', act), await session.turn('Planned.', act)]) {
    expect(last.held).toBeUndefined();
    expect(shown(last)).toContain(stepOpenText('plan'));
  }
  expect(shown(await session.turn('The plan is there.'))).toBe('');
  expect(await verdicts()).toEqual([]);
});

test('2: a loop that waits for tasks is left alone, then each task is checked at the stop', async () => {
  await begin(`  - { id: work, type: loop, instructions: Set the tasks. }
loops:
  work:
    - { id: do, instructions: "INSTRUCTIONS-{task.id}", ${gate('test -f $STEPFAST_TASK_ID.txt')} }
`);
  const write = (name: string) => (): void => kit.project.write({ [name]: 'x\n' });
  expect((await session.turn('Looked around.', write('notes.txt'))).held).toBeUndefined();
  expect(allowed()).toEqual(['needs_tasks']);
  const tasks = ['a', 'b'].map((id) => ({ id, title: `Task ${id}` }));
  await kit.runtime.call({ type: 'setTasks', loop: 'work', tasks }, { session: 'a' }, { run });
  expect((await session.turn('Task a is done.', write('a.txt'))).held).toContain('INSTRUCTIONS-b');
  expect((await session.goOn('Task b is done.', write('c.txt'))).held).toContain('test -f');
  await session.goOn('Now b is done.', write('b.txt'));
  expect(await verdicts()).toEqual([true, false, true]);
  expect((await state()).status).toBe('complete');
});

test('3: a subagent that ends without advancing leaves its position to its parent', async () => {
  await begin(step('do', gate(passes)));
  const sub = { agent_id: 's1', agent_type: 'general-purpose' };
  const input = { subagent_type: 'general-purpose', prompt: `Do ${at}` };
  const delegate = async (): Promise<void> => {
    await kit.fire('PreToolUse', { tool_name: 'Agent', tool_use_id: 't1', tool_input: input });
    expect((await kit.fire('SubagentStart', sub)).context).toContain('INSTRUCTIONS-DO');
    edit('43')();
    expect((await kit.fire('SubagentStop', sub)).held).toBeUndefined();
  };
  expect((await session.turn('Done.', delegate)).held).toContain('> not ok 1');
  await session.goOn('Fixed.', edit('42'));
  expect(await state()).toMatchObject({ status: 'complete', outputs: { do: { text: 'Fixed.' } } });
});

test('4: while a review is pending, turns are neither checked nor held', async () => {
  await begin(step('do', `${gate(passes)}, review: { by: human }`) + step('end', 'attempts: 1'));
  expect(shown(await session.turn('Done.', edit('42')))).toMatch(/\/stepfast:approve [0-9a-f]{4}/);
  expect((await session.turn('Changed it back.', edit('41'))).held).toBeUndefined();
  expect(await verdicts()).toEqual([true]);
  expect((await state()).cursors.do).toMatchObject({ stops: 0, waiting: { kind: 'review' } });
});

test('7: a gate that writes files is green once its second run changes nothing, and a conversation does not repeat it', async () => {
  await begin(step('do', gate(`cp total.txt report.txt; ${passes}`)));
  await session.turn('Done!', edit('43'));
  expect((await session.turn('I do not know.')).held).toBeUndefined();
  expect(await verdicts()).toEqual([false]);
  await session.turn('Done!', edit('42'));
  expect(await verdicts()).toEqual([false, true]);
  expect((await state()).status).toBe('complete');
});

test('8: an install that changes ignored files only is an act, so the same tree is checked again', async () => {
  await begin(step('do', gate('test -f node_modules/dep')), { files: { '.gitignore': 'node_modules\n' } });
  expect((await session.turn('Done!', edit('42'))).held).toBeDefined();
  await session.goOn('Installed.', () => kit.project.write({ 'node_modules/dep': 'x' }));
  const [red, green] = await checks();
  expect([red?.pass, green?.pass]).toEqual([false, true]);
  expect(red?.tree).toBe(green?.tree);
});

test.each([
  ['red', '41', false],
  ['green', '42', true],
])(
  '9: files that the person edits are checked in the background, %s, without effect on the turn',
  async (_, total, pass) => {
    await begin(step('do', gate(passes)));
    await session.turn('Shall I go on?', edit('42'));
    kit.project.write({ 'total.txt': `${total}\n`, 'by-hand.txt': 'x\n' });
    expect((await session.turn('I see.')).held).toBeUndefined();
    await expect.poll(verdicts).toEqual([true, pass]);
    const { held, ...later } = await session.turn('I see.');
    expect(held).toBeUndefined();
    expect(shown(later)).toBe(pass ? '' : stillRedText('do', { what: passes }, undefined));
    expect(await state()).toMatchObject({ status: 'running', cursors: { do: { stops: 0, checks: 2 } } });
  },
);

describe('5: a gate that takes longer than the stop waits', () => {
  const slow = `${until}; ${passes}`;

  test('is not red for a tree that was fixed meanwhile: it runs once more, and the run completes', async () => {
    const looked = `grep -q 42 total.txt; red=$?; touch ../looked; ${until}; exit $red`;
    await begin(step('do', gate(looked)), { stopCheckMs: 0 });
    await session.turn('Done!', edit('43'));
    await expect.poll(() => existsSync(join(kit.project.root, '..', 'looked'))).toBe(true);
    edit('42')();
    release();
    await expect.poll(async () => (await state()).status).toBe('complete');
    expect(await verdicts()).toEqual([true]);
  });

  test('[U3] goes on through a conversation, then wakes the session with the failure', async () => {
    await begin(step('do', gate(slow)), { stopCheckMs: 0 });
    const first = await session.turn('Done!', edit('43'));
    expect(shown(first)).toContain(checkLeftText([slow]));
    const woken = session.wakes();
    expect((await session.turn('It is being checked.')).held).toBeUndefined();
    expect(allowed()).toEqual(['checking', 'checking']);
    release();
    expect(await woken).toContain('> not ok 1');
  });

  test.each([
    ['red', '43', '> not ok 1'],
    ['green', '42', 'INSTRUCTIONS-END'],
  ])('never interrupts a turn: a %s result reaches the agent at its end', async (_, total, feedback) => {
    await begin(step('do', gate(slow)) + step('end', 'attempts: 1'), { stopCheckMs: 0 });
    await session.turn('Done!', edit(total));
    const woken = session.wakes();
    const { held } = await session.turnWhile('It is being checked.', async () => {
      release();
      await expect.poll(verdicts).toHaveLength(1);
      expect(await woken).toBe('');
    });
    expect(held).toContain(feedback);
  });

  test('[U14] a run that it completes is shown at the next prompt', async () => {
    await begin(step('do', gate(slow)), { stopCheckMs: 0 });
    await session.turn('Done.', edit('42'));
    release();
    await expect.poll(async () => (await state()).status).toBe('complete');
    // The process that ran the gates leaves the notice a moment after the run has ended.
    const ended = runEndedText({ workflow: 'w', status: 'complete', checks: [slow], caught: 0 });
    await expect
      .poll(async () => shown(await kit.fire('UserPromptSubmit', { prompt: 'x' })))
      .toContain(ended);
  });
});

test('[L/run] a command that fails is shown to the person, with what to type', async () => {
  await begin(`  - { id: set, type: run, run: test -f ready.txt }\n${step('end', gate(passes))}`);
  await expect.poll(async () => (await state()).status).toBe('waiting');
  expect(shown(await session.turn('I see.'))).toContain('/stepfast:reject');
});

test('6: of two sessions in one worktree each is checked by its own run, and a third has no part in it', async () => {
  const v = workflow(step('do', gate('test -f v.txt')), 'v');
  await begin(step('do', gate('test -f w.txt')), { files: { '.stepfast/workflows/v.yaml': v } });
  kit.project.trust('v');
  const second = await kit.runtime.start({ workflow: 'v' }, { session: 'mcp-2' });
  await kit.called('b', { run: second.run ?? '', at: second.reply.at ?? '' });
  const other = openTurns(kit, 'b');
  const outsider = openTurns(kit, 'c');
  expect((await session.turn('W is done.', edit('43'))).held).toContain('test -f w.txt');
  expect((await outsider.turn('Hello.', edit('44'))).json).toEqual({});
  await other.turn('V is done.', () => kit.project.write({ 'v.txt': 'x' }));
  expect((await kit.runtime.engine.view(second.run ?? ''))?.state).toMatchObject({ status: 'complete' });
  expect((await state()).status).toBe('running');
  await session.goOn('Now W is done.', () => kit.project.write({ 'w.txt': 'x' }));
  expect(await state()).toMatchObject({ status: 'complete', outputs: { do: { text: 'Now W is done.' } } });
});
