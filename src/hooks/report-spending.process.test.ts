import { expect, test } from 'vitest';
import { gate, passes, step } from '../../test/kit/checked-workflow.ts';
import { createHookKit } from '../../test/kit/hooks.ts';
import { startChecked } from '../../test/kit/turns.ts';
import { createBindings, type Request } from '../runtime/index.ts';

type Review = Extract<Request, { type: 'review' }>;

const workflow = `name: w
description: Looks, then builds
steps:
  - { id: look, type: action, instructions: Look. }
  - { id: build, type: action, instructions: Build., budget: { tokens: 100 } }
`;

test('[A1] what was spent before an advance counts for the step that was left', async () => {
  using kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  const first = await kit.start();
  await kit.called('a', first);
  const says = (id: string, tokens: number): void =>
    kit.writeDown({
      type: 'assistant',
      timestamp: new Date(Date.now() + 1000).toISOString(),
      message: { id, model: 'claude', usage: { input_tokens: tokens, output_tokens: 0 } },
    });
  says('m1', 5000);
  const at = await kit.call(first.run, { type: 'advance', output: 'Looked.', at: first.at });
  await kit.called('a', { run: first.run, at });
  const state = async () => (await kit.runtime.engine.view(first.run))?.state;
  expect(await state()).toMatchObject({ step: 'build', status: 'running', budget: { tokens: 0 } });
  says('m2', 150);
  // An agent that never ends its turn is told in the middle of it.
  expect((await kit.called('a', { run: first.run, at })).context).toContain('review approve --tokens');
  expect(await state()).toMatchObject({ status: 'waiting', budget: { tokens: 150, exhausted: 'tokens' } });
});

test.each([
  ['tokens', 100],
  ['minutes', 1],
])('[A1] a shell command of a driven session reports the %s spent in its turn', async (unit, limit) => {
  const yaml = workflow.replace('steps:', `budget: { ${unit}: ${limit} }\nsteps:`);
  using kit = createHookKit({ '.stepfast/workflows/w.yaml': yaml });
  const first = await kit.start();
  await kit.called('a', first);
  const bindings = createBindings(kit.runtime.project.directory);
  for (const binding of await bindings.list()) await bindings.put({ ...binding, driven: true });
  for (const [id, ms] of Object.entries({ m1: 1000, m2: 61_000 }))
    kit.writeDown({
      type: 'assistant',
      timestamp: new Date(Date.now() + ms).toISOString(),
      message: { id, model: 'claude', usage: { input_tokens: 75, output_tokens: 0 } },
    });
  await kit.fire('PostToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: {} });
  expect((await kit.runtime.engine.view(first.run))?.state.total).toMatchObject({ exhausted: unit });
});

async function startBudgeted(...given: Parameters<typeof startChecked>) {
  const { kit, run, session } = await startChecked(...given);
  const person = { actor: { kind: 'person' as const, name: 'ann' } };
  return {
    kit,
    session,
    edit: (total: string) => (): void => kit.project.write({ 'total.txt': `${total}\n` }),
    state: async () => (await kit.runtime.engine.view(run))?.state,
    decide: (review: Omit<Review, 'type'>) =>
      kit.runtime.call({ type: 'review', ...review }, person, { run }),
    async verdicts() {
      const events = (await kit.runtime.engine.entries(run)).flatMap((entry) => entry.events);
      return events.flatMap((event) => (event.type === 'gates.finished' ? event.pass : []));
    },
    [Symbol.dispose]: () => kit[Symbol.dispose](),
  };
}

test('[A1] a budget of turns stops the run, though the agent calls no tool, and more turns continue it', async () => {
  using run = await startBudgeted(step('do', `${gate(passes)}, budget: { turns: 3 }`));
  const { session, edit, state, verdicts } = run;
  for (const _ of [1, 2]) await session.turn('I am thinking.');
  expect(await state()).toMatchObject({ status: 'running', budget: { turns: 2 } });
  // The false "done" is checked, but the turn does not continue: the run waits for the person.
  const { held, json } = await session.turn('Done!', edit('43'));
  expect(held).toBeUndefined();
  expect(json.systemMessage).toContain('/stepfast:budget +20 turns');
  expect(await state()).toMatchObject({ status: 'waiting', budget: { turns: 3, exhausted: 'turns' } });
  // Work beyond it is neither checked nor held, and counted.
  await session.turn('Fixed.', edit('42'));
  expect(await verdicts()).toEqual([false]);
  expect(await state()).toMatchObject({ status: 'waiting', budget: { turns: 4 } });
  await run.decide({ verdict: 'approve', amount: { turns: 2 } });
  await session.turn('Fixed.', edit('42'));
  expect(await verdicts()).toEqual([false, true]);
  expect(await state()).toMatchObject({ status: 'complete' });
});

test('[A1] a budget of the whole run counts every step', async () => {
  const steps = step('do', gate(passes)) + step('end', 'attempts: 1');
  using run = await startBudgeted(`${steps}budget: { turns: 2 }\n`);
  await run.session.turn('Done.', run.edit('42'));
  expect(await run.state()).toMatchObject({ status: 'running', step: 'end', total: { turns: 1 } });
  expect((await run.session.turn('I see.')).json.systemMessage).toContain('/stepfast:budget');
  expect(await run.state()).toMatchObject({ status: 'waiting', total: { exhausted: 'turns' } });
});

test('M1: a budget review pivots to planning, and the session after the clear is briefed with the feedback', async () => {
  const budget = `${gate(passes)}, budget: { turns: 1, on_pivot: plan }`;
  using run = await startBudgeted(step('plan', 'gate: [{ exists: total.txt }]') + step('do', budget));
  const { kit, session, edit, state } = run;
  expect((await session.turn('The plan: use a queue.', edit('43'))).held).toContain('INSTRUCTIONS-DO');
  await session.turn('Done!', edit('43'));
  expect(await state()).toMatchObject({ status: 'waiting', step: 'do', budget: { exhausted: 'turns' } });
  await run.decide({ verdict: 'pivot', feedback: 'Too large: split it.' });
  await kit.fire('SessionEnd', { reason: 'clear' });
  const { context } = await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
  expect(context).toContain('**[BUDGET_PIVOT_FEEDBACK]:** "Too large: split it."');
  expect(context).toContain('The plan: use a queue.');
  expect(await state()).toMatchObject({ status: 'running', step: 'plan' });
});
