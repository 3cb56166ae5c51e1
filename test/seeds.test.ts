import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  loadWorkflowTemplateFromString,
  WorkflowStateMachine,
  WorkflowValidationError,
} from '../src/index.ts';

const corpus = process.env.STEPFAST_CORPUS;

/** The tests that the plan document prints, run as they are printed: only their functions are ours. */
function runPrinted(code: string): void {
  const adapter = {
    suite: describe,
    setup: beforeEach,
    test: (name: string, body: () => void) => test(`[000/12] ${name}`, body),
    assert: {
      strictEqual: (actual: unknown, expected: unknown, message?: string) =>
        expect(actual, message).toBe(expected),
      throws: (act: () => unknown, type: new (...args: never[]) => Error, message?: string) =>
        expect(act, message).toThrow(type),
    },
    loadWorkflowTemplateFromString,
    WorkflowStateMachine,
    WorkflowValidationError,
  };
  new Function(...Object.keys(adapter), stripTypeScriptTypes(code))(...Object.values(adapter));
}

/** The TypeScript blocks of a Markdown document that hold test cases. */
const printedTests = (markdown: string): string[] =>
  [...markdown.matchAll(/```typescript\n([\s\S]*?)```/g)]
    .map((match) => match[1] ?? '')
    .filter((code) => /^(suite|test)\(/m.test(code));

if (corpus) {
  const [file = ''] = globSync(join(corpus, 'seeds', '001_*.txt'));
  const blocks = printedTests(readFileSync(file, 'utf8'));
  test('[000/12] the plan document prints two blocks of tests', () => {
    expect(blocks).toHaveLength(2);
  });
  for (const block of blocks) runPrinted(block);
} else {
  test.skip('not run: the tests as the plan document prints them need STEPFAST_CORPUS');
}

describe("[000/12] the design document's test scenarios", () => {
  const template = loadWorkflowTemplateFromString(`
name: scenarios
description: Every scenario of the table
loops:
  work:
    - { id: first, context: clear, instructions: First }
    - { id: second, instructions: Second }
steps:
  - { id: clears, type: action, context: clear, instructions: After a clear }
  - { id: compacts, type: action, context: compact, instructions: After a compaction }
  - { id: plain, type: action, instructions: Straight on }
  - { id: work, type: loop }
  - { id: again, type: ralph, n: 2, context: compact, instructions: Once more }
`);
  let machine: WorkflowStateMachine;
  beforeEach(() => {
    machine = new WorkflowStateMachine(template);
  });
  const executed = () => machine.getState().contextActionExecuted;
  const take = () => {
    const action = machine.getContextActionIfNeeded();
    if (action) machine.markContextActionExecuted();
    return action;
  };

  test('a step with a context action returns it on the first call and instructions on the second', () => {
    expect(machine.start()).toMatchObject({ contextAction: '/clear' });
    expect(take()).toBe('clear');
    expect(take()).toBeNull();
    expect(machine.getStatus().instructions).toBe('After a clear');
    machine.advance('done');
    expect(machine.getStatus()).toMatchObject({ contextAction: '/compact' });
    expect(take()).toBe('compact');
    expect(machine.getStatus().instructions).toBe('After a compaction');
  });

  test('a step without one returns its instructions at once', () => {
    machine.advance('a');
    machine.advance('b');
    expect(machine.getContextActionIfNeeded()).toBeNull();
    expect(machine.getStatus().instructions).toBe('Straight on');
  });

  test('the flag resets at a new step, sub-step, task and iteration', () => {
    machine.markContextActionExecuted();
    expect(executed()).toBe(true);
    machine.advance('a');
    expect(executed()).toBe(false);
    machine.advance('b');
    machine.markContextActionExecuted();
    expect(executed()).toBe(true);
    machine.advance('c');
    expect(executed()).toBe(false);
    machine.setTasks('work', [
      { id: 't1', title: 'One', status: 'pending' },
      { id: 't2', title: 'Two', status: 'pending' },
    ]);
    machine.advance('first');
    machine.markContextActionExecuted();
    machine.advance('second');
    expect(machine.getState()).toMatchObject({ task: { id: 't2' }, contextActionExecuted: false });
    machine.advance('first');
    machine.advance('second');
    expect(machine.getState()).toMatchObject({
      step: 'again',
      ralphIteration: 1,
      contextActionExecuted: false,
    });
    machine.advance('one');
    expect(machine.getState()).toMatchObject({ ralphIteration: 2, contextActionExecuted: false });
  });

  test('a restored state keeps the flag', () => {
    const restore = () =>
      WorkflowStateMachine.fromState(template, machine.getState()).getState().contextActionExecuted;
    expect(restore()).toBe(false);
    machine.markContextActionExecuted();
    expect(restore()).toBe(true);
  });
});
