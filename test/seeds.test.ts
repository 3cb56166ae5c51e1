import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { type ContextManager, createContextWindow, type Msg } from '../src/context/library.ts';
import {
  type AgentConfig,
  type LoopStep,
  loadWorkflowTemplateFromString,
  type StepContextAction,
  type Task,
  type TaskContext,
  type WorkflowState,
  WorkflowStateMachine,
  type WorkflowStatusResponse,
  type WorkflowStep,
  type WorkflowTemplate,
} from '../src/index.ts';

describe('M10: what the seeds name is exported', () => {
  const looped = loadWorkflowTemplateFromString(`
name: looped
description: x
agents: { coder: { description: Writes code, model: fast } }
loops: { work: [{ id: code, agent: coder, instructions: Code }] }
steps: [{ id: plan, type: action, instructions: Plan }, { id: work, type: loop }]
`);

  test('001: getCurrentStep, getCurrentLoopStep and getCurrentAgent', () => {
    const machine = new WorkflowStateMachine(looped);
    const current = () => [
      machine.getCurrentStep().id,
      machine.getCurrentLoopStep()?.id,
      machine.getCurrentAgent(),
    ];
    expect(current()).toEqual(['plan', undefined, null]);
    machine.setTasks('work', [{ id: 't1', title: 'One' }]);
    machine.advance('Planned.');
    expect(current()).toEqual(['work', 'code', 'coder']);
    expectTypeOf(machine.getCurrentStep()).toEqualTypeOf<WorkflowStep>();
    expectTypeOf(machine.getCurrentLoopStep()).toEqualTypeOf<LoopStep | undefined>();
    expectTypeOf(machine.getCurrentAgent()).toEqualTypeOf<string | null>();
    expectTypeOf(machine.advance).returns.toEqualTypeOf<WorkflowStatusResponse>();
    expectTypeOf(machine.getContextActionIfNeeded()).toEqualTypeOf<StepContextAction | null>();
  });

  test('001: the interfaces have the printed fields with the printed types', () => {
    const state: WorkflowState = new WorkflowStateMachine(looped).getState();
    expect(state).toMatchObject({ status: 'running', contextActionExecuted: false });
    expectTypeOf<StepContextAction>().toEqualTypeOf<'compact' | 'clear'>();
    // What the document prints is a valid value of ours.
    expectTypeOf<{
      id: string;
      type: 'action' | 'loop' | 'ralph';
      agent: string;
      instructions: string;
      n: number;
      artefacts: boolean;
      context: StepContextAction;
    }>().toExtend<WorkflowStep>();
    expectTypeOf<{
      id: string;
      agent: string;
      instructions: string;
      on_fail: 'retry' | 'skip' | 'abort';
      context: StepContextAction;
    }>().toExtend<LoopStep>();
    expectTypeOf<WorkflowState>().toExtend<{
      status: 'running' | 'complete' | 'failed';
      step: string;
      stepType: 'action' | 'loop' | 'ralph';
      task?: TaskContext;
      subStep?: string;
      ralphIteration?: number;
      tasks: Record<string, Task[]>;
      outputs: Record<string, string>;
      summary?: string;
      artefacts: string[];
      currentStepArtefacts?: boolean;
      contextActionExecuted: boolean;
    }>();
    expectTypeOf<TaskContext>().toExtend<{ index: number; id: string; title: string }>();
    expectTypeOf<Task>().toExtend<{ id: string; title: string }>();
    expectTypeOf<NonNullable<WorkflowTemplate['agents']>>().toEqualTypeOf<Record<string, AgentConfig>>();
  });

  test('003: the context manager', async () => {
    const manager: ContextManager = createContextWindow({ systemPrompt: 'Plan.' });
    const prompt: Msg = { role: 'system', content: 'Code.' };
    manager.append('user', 'Begin.');
    manager.resetSystemPrompt({ content: String(prompt.content) });
    await manager.compact(1000);
    expect(manager.systemPrompt()).toEqual(prompt);
    expect(manager.conversation()).toEqual([{ role: 'user', content: 'Begin.' }]);
  });
});

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
