/**
 * A context window that follows the states of a run, as seed 003 describes them: `node examples/transitions.ts`. The
 * workflow says where the conversation is cleared; the plan and the feedback of a pivot are pinned. It needs no model
 * and asserts its own results.
 */
import assert from 'node:assert/strict';
import { createContextWindow } from '../src/context/library.ts';
import { loadWorkflowTemplateFromString, WorkflowStateMachine } from '../src/index.ts';

const workflow = `
name: coder
description: Planning, plan review, coding, testing, code review
steps:
  - id: planning
    type: action
    instructions: Write a plan.
    review: { by: human, on_pivot: planning }
  - id: coding
    type: action
    instructions: Implement the plan.
    budget: { turns: 3, on_pivot: planning }
  - id: testing
    type: action
    instructions: Run the tests.
  - id: code_review
    type: action
    instructions: Summarize the change.
    review: { by: human, on_pivot: planning }
transitions:
  - { from: planning, to: coding, context: clear }
`;

const story = 'As an accountant I want every report as CSV.';
const maxTokens = 8000;

export async function main() {
  // #region transitions
  const machine = new WorkflowStateMachine(loadWorkflowTemplateFromString(workflow), { summary: story });
  const promptFor = ({ step, instructions } = machine.getStatus()): string =>
    `Story: ${story}\n\nState ${step.toUpperCase()}: ${instructions}`;
  const window = createContextWindow({ systemPrompt: promptFor() });

  /** After every command: the window does what the machine's position asks for. */
  async function enter(): Promise<void> {
    const action = machine.getContextActionIfNeeded();
    if (action === 'clear') window.clear();
    if (action === 'compact') await window.compact(maxTokens / 2);
    if (action !== null) machine.markContextActionExecuted();
    if (machine.getState().status === 'running') window.resetSystemPrompt(promptFor());
  }

  async function advance(output: string): Promise<void> {
    window.append('assistant', output);
    if (machine.getState().step === 'planning') window.pin('PLAN', output);
    machine.advance(output);
    await enter();
  }

  /** A person's verdict on a step, or on its budget when that is used up. */
  async function decide(verdict: 'approve' | 'revise' | 'pivot', feedback = ''): Promise<void> {
    const isBudget = machine.getStatus().waiting?.for === 'budget';
    machine.execute({ type: 'review', now: 0, verdict, feedback, actor: { kind: 'person' } });
    if (verdict === 'pivot')
      window.pin(isBudget ? 'BUDGET_PIVOT_FEEDBACK' : 'PLAN_PIVOT_FEEDBACK', feedback, { most: 600 });
    if (verdict === 'revise') window.append('user', feedback);
    await enter();
  }
  // #endregion

  const index0 = (): string => window.systemPrompt().content;
  const spend = (turns: number): void => machine.execute({ type: 'spend', now: 0, turns });

  // PLANNING, PLAN_REVIEW: the conversation goes on.
  window.append('user', 'Please begin.');
  await advance('One serializer, three routes.');
  assert.equal(machine.getStatus().waiting?.for, 'review');
  assert.equal(window.conversation().length, 2);
  await decide('revise', 'Name the routes.');
  assert.equal(window.conversation().length, 3);
  await advance('One serializer; the routes /day, /month and /year.');
  assert.equal(window.conversation().length, 4);

  // PLAN_REVIEW → CODING clears; the plan stays.
  await decide('approve');
  assert.equal(machine.getState().step, 'coding');
  assert.deepEqual(window.conversation(), []);
  assert.match(index0(), /State CODING: Implement the plan\./);
  assert.match(index0(), /\*\*\[PLAN\]:\*\* "One serializer; the routes \/day, \/month and \/year\."$/);

  // BUDGET_REVIEW → PLANNING (pivot) clears; story, plan and feedback stay.
  window.append('user', 'The serializer holds every row in memory.');
  spend(3);
  assert.equal(machine.getStatus().waiting?.for, 'budget');
  await decide('pivot', '  Stream the rows.\n');
  assert.equal(machine.getState().step, 'planning');
  assert.deepEqual(window.conversation(), []);
  assert.equal(
    index0(),
    [
      `Story: ${story}\n\nState PLANNING: Write a plan.`,
      '**[PLAN]:** "One serializer; the routes /day, /month and /year."',
      '**[BUDGET_PIVOT_FEEDBACK]:** "Stream the rows."',
    ].join('\n\n'),
  );

  // Every other transition keeps the conversation.
  await advance('A streaming serializer; the same routes.');
  await decide('approve');
  window.append('user', 'Use the writer of the standard library.');
  await advance('Done.');
  assert.equal(machine.getState().step, 'testing');
  assert.equal(window.conversation().length, 2);
  await advance('12 tests pass.');
  assert.equal(machine.getState().step, 'code_review');
  assert.equal(window.conversation().length, 3);
  await advance('Reports are CSV.');
  await decide('approve');
  assert.equal(machine.getState().status, 'complete');
  return { machine, window };
}

if (process.argv[1] === import.meta.filename) {
  const { window } = await main();
  console.log(window.systemPrompt().content);
}
