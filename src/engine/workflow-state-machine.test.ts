import { describe, expect, test } from 'vitest';
import { action, loop, ralph, workflow } from '../../test/kit/run.ts';
import { WorkflowStateMachine } from './workflow-state-machine.ts';

const template = workflow(
  [action('plan', { context: 'clear', artefacts: true }), loop('build'), ralph('polish', 2), action('end')],
  {
    loops: {
      build: [
        { id: 'code', instructions: 'Code {task.title}', context: 'compact' },
        { id: 'check', instructions: 'Check' },
      ],
    },
  },
);

const task = (id: string, status: 'pending' | 'done' = 'pending') => ({ id, title: `Task ${id}`, status });

describe('WorkflowStateMachine', () => {
  test('[000/3] the flag starts false and survives save and restore with either value', () => {
    const machine = new WorkflowStateMachine(template);
    expect(machine.getState().contextActionExecuted).toBe(false);
    const again = () =>
      WorkflowStateMachine.fromState(template, JSON.parse(JSON.stringify(machine.getState())));
    expect(again().getContextActionIfNeeded()).toBe('clear');
    machine.markContextActionExecuted();
    expect(machine.getState().contextActionExecuted).toBe(true);
    expect(again().getContextActionIfNeeded()).toBeNull();
    expect(again().getState()).toEqual(machine.getState());
  });

  test('[000/3] the flag survives on a step that has no action, and resets with the step', () => {
    const plain = workflow([action('a'), action('b')]);
    const machine = new WorkflowStateMachine(plain);
    machine.markContextActionExecuted();
    expect(machine.getState().contextActionExecuted).toBe(true);
    const restored = WorkflowStateMachine.fromState(plain, machine.getState());
    expect(restored.getState().contextActionExecuted).toBe(true);
    restored.advance('done');
    expect(restored.getState().contextActionExecuted).toBe(false);
  });

  test("[000/4] the sub-step's action comes before the step's, and null where neither has one", () => {
    const definition = workflow([loop('work', { context: 'compact' })], {
      loops: {
        work: [
          { id: 'a', instructions: 'A', context: 'clear' },
          { id: 'b', instructions: 'B' },
        ],
      },
    });
    const machine = new WorkflowStateMachine(definition);
    expect(machine.getContextActionIfNeeded()).toBeNull();
    machine.setTasks('work', [task('t1')]);
    expect(machine.getContextActionIfNeeded()).toBe('clear');
    machine.advance('a');
    expect(machine.getContextActionIfNeeded()).toBe('compact');
    expect(new WorkflowStateMachine(workflow([action('x')])).getContextActionIfNeeded()).toBeNull();
  });

  test('[000/5] marking it opens the position for work', () => {
    const machine = new WorkflowStateMachine(template);
    expect(machine.getStatus()).toMatchObject({ contextAction: '/clear' });
    machine.markContextActionExecuted();
    machine.markContextActionExecuted();
    expect(machine.getState().contextActionExecuted).toBe(true);
    expect(machine.getStatus()).toMatchObject({ instructions: 'Do plan' });
    expect(machine.advance('planned')).toMatchObject({ step: 'build' });
  });

  test('advance while the action is pending is accepted', () => {
    const machine = new WorkflowStateMachine(template);
    expect(machine.advance('planned')).toMatchObject({ step: 'build' });
  });

  test('a whole run in the form of the seeds', () => {
    const machine = new WorkflowStateMachine(template, { summary: ' Build it ', run: 'demo-1-abc' });
    expect(machine.start()).toMatchObject({ run: 'demo-1-abc' });
    expect(machine.getState()).toEqual({
      status: 'running',
      step: 'plan',
      stepType: 'action',
      tasks: {},
      outputs: {},
      summary: 'Build it',
      artefacts: [],
      currentStepArtefacts: true,
      contextActionExecuted: false,
    });
    machine.advance('planned');
    machine.setTasks('build', [task('t1'), task('t2')]);
    machine.advance('coded');
    expect(machine.getState()).toMatchObject({
      step: 'build',
      stepType: 'loop',
      task: { index: 0, id: 't1', title: 'Task t1' },
      subStep: 'check',
      tasks: {
        build: [
          { id: 't1', status: 'in_progress' },
          { id: 't2', status: 'pending' },
        ],
      },
      outputs: { plan: 'planned', 'build.t1.code': 'coded' },
    });
    machine.advance('checked');
    expect(machine.getState().tasks.build?.[0]?.status).toBe('done');
    machine.advance('coded');
    machine.advance('checked');
    machine.advance('first');
    expect(machine.getState()).toMatchObject({ stepType: 'ralph', ralphIteration: 2 });
    machine.advance('second');
    expect(machine.advance('done')).toMatchObject({ status: 'complete' });
    expect(machine.getState()).toMatchObject({
      status: 'complete',
      outputs: { 'polish.2': 'second', end: 'done' },
    });
    expect(machine.advance('more')).toMatchObject({ status: 'complete' });
  });

  test('a run restored in the middle of a loop goes on there', () => {
    const machine = new WorkflowStateMachine(template);
    machine.advance('planned');
    machine.setTasks('build', [task('t1'), { ...task('t2'), depends_on: ['t1'] }]);
    machine.advance('coded');
    const restored = WorkflowStateMachine.fromState(template, machine.getState());
    expect(restored.getStatus()).toMatchObject({ task: { id: 't1', index: 0, total: 2 }, subStep: 'check' });
    expect(restored.advance('checked')).toMatchObject({ task: { id: 't2' } });
    expect(restored.getState().outputs).toMatchObject({ plan: 'planned', 'build.t1.check': 'checked' });
    const complete = { ...restored.getState(), status: 'complete' as const };
    expect(WorkflowStateMachine.fromState(template, complete).getStatus()).toMatchObject({
      status: 'complete',
    });
  });

  test('a skipped task is a failed one in the form of the seeds, and a failed run is failed', () => {
    const definition = workflow([loop('work'), action('end', { on_fail: 'abort' })], {
      loops: { work: [{ id: 'a', instructions: 'A', on_fail: 'skip' }] },
    });
    const machine = new WorkflowStateMachine(definition);
    machine.setTasks('work', [task('t1'), { ...task('t2'), depends_on: ['t1'] }, task('t3')]);
    machine.execute({ type: 'fail', now: 0, reason: 'x' });
    machine.advance('done');
    expect(machine.getState().tasks.work?.map(({ status }) => status)).toEqual(['failed', 'failed', 'done']);
    machine.execute({ type: 'fail', now: 0, reason: 'x' });
    expect(machine.getState().status).toBe('failed');
  });

  test('a removed task is not saved, and the tasks that depend on it go on in the restored run', () => {
    const definition = workflow([loop('work')], { loops: { work: [{ id: 'code', instructions: 'C' }] } });
    const machine = new WorkflowStateMachine(definition);
    machine.setTasks('work', [task('t1'), task('t2'), { ...task('t3'), depends_on: ['t2'] }]);
    const person = { actor: { kind: 'person' as const } };
    machine.execute({ type: 'dropTask', now: 0, task: 't2', reason: 'not needed', ...person });
    const restored = WorkflowStateMachine.fromState(definition, machine.getState());
    expect(restored.advance('done')).toMatchObject({ task: { id: 't3' } });
  });

  test('a waiting run is running, a cancelled one failed, in the form of the seeds', () => {
    const machine = new WorkflowStateMachine(workflow([action('a')]));
    machine.execute({ type: 'ask', now: 0, text: 'What?' });
    expect(machine.getStatus().status).toBe('waiting');
    expect(machine.getState().status).toBe('running');
    machine.execute({ type: 'cancel', now: 0, actor: { kind: 'person' } });
    expect(machine.getState().status).toBe('failed');
  });

  test('a refusal throws with its code and the next action, and leaves the run usable', () => {
    const machine = new WorkflowStateMachine(template);
    machine.advance('planned');
    expect(() => machine.advance('x')).toThrow(expect.objectContaining({ code: 'needs_tasks' }));
    expect(() => machine.setTasks('nope', [])).toThrow(expect.objectContaining({ code: 'unknown_loop' }));
    expect(machine.setTasks('build', [])).toMatchObject({ step: 'polish' });
  });

  test('a saved state of another workflow is refused', () => {
    const saved = new WorkflowStateMachine(workflow([action('other')])).getState();
    expect(() => WorkflowStateMachine.fromState(template, saved)).toThrow(
      expect.objectContaining({ code: 'unknown_step' }),
    );
    const odd = {
      ...new WorkflowStateMachine(template).getState(),
      step: 'build',
      task: { index: 0, id: 't', title: 'T' },
      subStep: 'x',
    };
    expect(() => WorkflowStateMachine.fromState(template, odd)).toThrow(
      expect.objectContaining({ code: 'unknown_step' }),
    );
  });

  test("inputs are given again on restore, and a transition's action survives it", () => {
    const definition = workflow(
      [action('a'), action('b', { instructions: 'Fix {input.issue}' }), ralph('c', 2)],
      {
        inputs: { issue: { required: true } },
        transitions: [
          { from: 'a', to: 'b', context: 'clear' },
          { from: 'b', to: 'c', context: 'compact' },
        ],
      },
    );
    const options = { inputs: { issue: 'login' } };
    const machine = new WorkflowStateMachine(definition, options);
    machine.advance('done');
    const restored = WorkflowStateMachine.fromState(definition, machine.getState(), options);
    expect(restored.getContextActionIfNeeded()).toBe('clear');
    restored.markContextActionExecuted();
    expect(restored.getStatus().instructions).toBe('Fix login');
    restored.advance('fixed');
    expect(
      WorkflowStateMachine.fromState(definition, restored.getState(), options).getContextActionIfNeeded(),
    ).toBe('compact');
    restored.advance('first');
    expect(
      WorkflowStateMachine.fromState(definition, restored.getState()).getContextActionIfNeeded(),
    ).toBeNull();
  });

  test('a handle of before is never open again after a restore', () => {
    const definition = workflow([action('a'), action('b')]);
    const machine = new WorkflowStateMachine(definition, { run: 'x-1-abc' });
    machine.advance('done');
    const restored = WorkflowStateMachine.fromState(definition, machine.getState(), { run: 'x-1-abc' });
    restored.execute({ type: 'rewind', now: 0, actor: { kind: 'person' }, to: 'a' });
    expect(restored.getStatus().at).toBe('abc:a#2');
  });
});
