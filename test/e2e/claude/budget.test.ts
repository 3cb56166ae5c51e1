/** Budgets count by themselves: nothing here depends on the agent calling a tool. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ClaudeProject,
  contextOf,
  lastUser,
  reply,
  runtimeIn,
  subagent,
  toolCall,
} from '../../../src/testing/index.ts';
import { openClaudeTerminal } from '../../kit/claude-terminal.ts';
import type { Terminal } from '../../kit/terminal.ts';
import {
  createCheckedProject,
  edit,
  gate,
  passes,
  shownIn,
  stateOf,
  step,
  told,
  typed,
  verdictsOf,
  workflow,
} from './checked-project.ts';

let stage: ClaudeProject;
let terminal: Terminal | undefined;
afterEach(async () => {
  await terminal?.close().catch(() => {});
  terminal = undefined;
  await stage[Symbol.asyncDispose]();
});

const begin = async (steps: string, more: Record<string, string> = {}): Promise<void> => {
  stage = await createCheckedProject({ '.stepfast/workflows/w.yaml': workflow(steps), ...more });
};
const approve = async (amount: object): Promise<void> => {
  const { run } = await stage.project.onlyRun();
  const actor = { kind: 'person' as const, name: 'test' };
  await runtimeIn(stage.project).call({ type: 'review', verdict: 'approve', amount }, { actor }, { run });
};

describe('A1: a budget that is used up', () => {
  it('of three turns stops the run after three, though the agent calls no tool; more turns continue it', async () => {
    await begin(step('do', `${gate(passes)}, budget: { turns: 3 }`));
    stage.model.on(lastUser(/fix it/), edit('43'), reply.text('Done!'));
    stage.model.on(lastUser(/again/), edit('42'), reply.text('Fixed.'));
    stage.model.always(lastUser(/./), reply.text('I am thinking.'));
    const session = await stage.open();
    await session.send(typed);
    await session.send('and?');
    expect(await stateOf(stage)).toMatchObject({ status: 'running', budget: { turns: 2 } });
    // The false "done" is checked, but the turn does not continue: the run waits for the person.
    const asked = stage.model.all().length;
    const third = await session.send('fix it');
    expect(await verdictsOf(stage)).toEqual([false]);
    expect(stage.model.since(asked + 1).requestsOf('main')).toHaveLength(2);
    expect(shownIn(third.events)).toContain('/stepfast:budget +20 turns');
    expect(await stateOf(stage)).toMatchObject({
      status: 'waiting',
      budget: { turns: 3, exhausted: 'turns' },
    });
    // Work beyond it is neither checked nor held, and counted.
    await session.send('again');
    expect(await verdictsOf(stage)).toEqual([false]);
    expect(await stateOf(stage)).toMatchObject({ status: 'waiting', budget: { turns: 4 } });
    await approve({ turns: 2 });
    stage.model.on(lastUser(/now/), toolCall.bash('touch more.txt'), reply.text('Fixed.'));
    await session.send('now check it');
    await session.close();
    expect(await verdictsOf(stage)).toEqual([false, true]);
    expect(await stateOf(stage)).toMatchObject({ status: 'complete' });
  });

  it('of tokens counts those of subagents, and an advance that passes beats it', async () => {
    await begin(
      step('do', `${gate(passes)}, budget: { tokens: 5000 }`) + step('end', 'budget: { tokens: 100000 }'),
    );
    const usage = { input_tokens: 3000, cache_read_input_tokens: 900_000, output_tokens: 10 };
    stage.model.on(
      lastUser(/make it/),
      toolCall.agent('SUB-TASK: look at it.'),
      reply.text('Looked.', { usage }),
    );
    stage.model.on(subagent(/SUB-TASK/), reply.text('It is 41.', { usage }));
    stage.model.on(lastUser(/once more/), edit('42'), reply.text('Done.'));
    stage.model.always(told(/INSTRUCTIONS-END/), reply.text('I see.'));
    const session = await stage.open();
    await session.send(typed);
    const { budget, told: figures } = await stateOf(stage);
    await session.close();
    expect(Object.values(figures ?? {})).toMatchObject([{ turns: 1 }]);
    expect(budget.tokens).toBeGreaterThan(6000);
    expect(budget.tokens).toBeLessThan(900_000);
    expect(await stateOf(stage)).toMatchObject({ status: 'waiting', budget: { exhausted: 'tokens' } });
  });

  it('is told to an agent that calls Stepfast in a long turn', async () => {
    await begin(step('do', 'budget: { tokens: 1000 }') + step('end', 'attempts: 1'));
    const usage = { input_tokens: 3000 };
    stage.model.on(
      lastUser(/make it/),
      toolCall.bash('ls', { usage }),
      reply.tool('mcp__plugin_stepfast_stepfast__workflow_note', { kind: 'decision', text: 'Use a list.' }),
      reply.text('I stop here.'),
    );
    await stage.run({ prompts: [typed] });
    const last = stage.model.requestsOf('main').at(-1);
    expect(last && contextOf(last)).toContain('review approve --tokens');
    expect(await stateOf(stage)).toMatchObject({ status: 'waiting', budget: { exhausted: 'tokens' } });
  });

  it('of the whole run counts every step', async () => {
    await begin(step('do', gate(passes)) + step('end', 'attempts: 1'), {
      '.stepfast/workflows/w.yaml': `${workflow(step('do', gate(passes)) + step('end', 'attempts: 1'))}budget: { turns: 2 }\n`,
    });
    stage.model.on(lastUser(/make it/), edit('42'), reply.text('Done.'));
    stage.model.always(told(/INSTRUCTIONS-END/), reply.text('I see.'));
    const session = await stage.open();
    await session.send(typed);
    expect(await stateOf(stage)).toMatchObject({ status: 'running', step: 'end', total: { turns: 1 } });
    const { events } = await session.send('and?');
    await session.close();
    expect(shownIn(events)).toContain('/stepfast:budget');
    expect(await stateOf(stage)).toMatchObject({ status: 'waiting', total: { exhausted: 'turns' } });
  });
});

it('A1: minutes are the time in which the session worked', async () => {
  await begin(step('do', 'budget: { minutes: 1 }'));
  stage.model.on(lastUser(/make it/), toolCall.bash('sleep 3'), reply.text('Slept.'));
  await stage.run({ prompts: [typed] });
  const { budget } = await stateOf(stage);
  expect(budget.activeMs).toBeGreaterThanOrEqual(3_000);
});

it('A1: a person types /stepfast:budget in the session, and the work goes on', async () => {
  await begin(step('do', `${gate(passes)}, budget: { turns: 1 }`));
  stage.model.on(lastUser(/make it/), edit('43'), reply.text('Done!'));
  stage.model.on(told(/is recorded/), edit('42'), reply.text('Now it is 42.'));
  const person = await openClaudeTerminal(stage);
  terminal = person.terminal;
  await person.enter(typed);
  await terminal.waitFor(/\/stepfast:budget \+20 turns/);
  await person.enter('/stepfast:budget +3 turns');
  await terminal.waitFor(/✓ w complete/);
  expect(await stateOf(stage)).toMatchObject({ status: 'complete' });
});

it('M1: a budget review pivots to planning: the context is cleared, and the next briefing has the feedback', async () => {
  await begin(
    step('plan', 'attempts: 1') +
      step('do', `${gate(passes)}, budget: { turns: 1, on_pivot: plan }`) +
      step('end', 'attempts: 1'),
  );
  stage.model.on(
    lastUser(/make it/),
    toolCall.advance('The plan: use a queue.'),
    edit('43'),
    reply.text('Done!'),
  );
  stage.model.always(lastUser(/./), reply.text('I see.'));
  const session = await stage.open();
  await session.send(typed);
  const { run } = await stage.project.onlyRun();
  expect(await stateOf(stage)).toMatchObject({
    status: 'waiting',
    step: 'do',
    budget: { exhausted: 'turns' },
  });
  await runtimeIn(stage.project).call(
    { type: 'review', verdict: 'pivot', feedback: 'Too large: split it.' },
    { actor: { kind: 'person', name: 'test' } },
    { run },
  );
  await session.send('/clear');
  await session.send('continue');
  await session.close();
  expect(await stateOf(stage)).toMatchObject({ status: 'running', step: 'plan' });
  const last = stage.model.requestsOf('main').at(-1);
  const context = last ? contextOf(last) : '';
  expect(context).toContain('**[BUDGET_PIVOT_FEEDBACK]:** "Too large: split it."');
  expect(context).toContain('The plan: use a queue.');
});
