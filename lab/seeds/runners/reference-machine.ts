/** The state machine as the plan prints it, method by method, against ours on the same walks. */
import assert from 'node:assert/strict';
import {
  type LoopStep,
  loadWorkflowTemplateFromString,
  type WorkflowState,
  WorkflowStateMachine,
  type WorkflowStep,
  type WorkflowTemplate,
} from '../../../src/index.ts';
import { runPrinted } from '../../../test/kit/printed-tests.ts';
import type { Runner } from '../row.ts';

type Tasks = WorkflowState['tasks'][string];

/** What the printed methods call and the document leaves out. */
class Around {
  template: WorkflowTemplate;
  state: WorkflowState;
  called = new Set<string>();

  constructor(template: WorkflowTemplate) {
    this.template = template;
    // The compiler has checked what the method returns.
    this.state = this.printed('createInitialState') as WorkflowState;
  }

  /** Calls a method that only the text of the document has. */
  printed(method: string, ...args: unknown[]): unknown {
    this.called.add(method);
    const code: unknown = Reflect.get(this, method);
    assert.ok(typeof code === 'function', `${method} is not printed`);
    return code.apply(this, args);
  }

  getCurrentStep(): WorkflowStep {
    return this.template.steps[this.getCurrentStepIndex()] ?? assert.fail('no such step');
  }
  getCurrentStepIndex(): number {
    return this.template.steps.findIndex(({ id }) => id === this.state.step);
  }
  getLoopSteps(step: string): LoopStep[] {
    return this.template.loops?.[step] ?? [];
  }
  getCurrentLoopStep(): LoopStep | undefined {
    return this.getLoopSteps(this.state.step)[this.getCurrentSubStepIndex()];
  }
  getCurrentSubStepIndex(): number {
    return this.getLoopSteps(this.state.step).findIndex(({ id }) => id === this.state.subStep);
  }
  getCurrentTasks(): Tasks {
    return this.state.tasks[this.state.step] ?? [];
  }
  getOutputKey(): string {
    const { step, task, subStep, ralphIteration } = this.state;
    return [step, task?.id, subStep, ralphIteration].filter((part) => part !== undefined).join('.');
  }
  getStatus(): WorkflowState {
    return this.state;
  }
  initializeLoopIteration(): void {
    this.enterTask(0);
  }
  enterTask(index: number): void {
    const { id, title } = this.getCurrentTasks()[index] ?? assert.fail('no such task');
    this.state.task = { index, id, title };
    const [first] = this.getLoopSteps(this.state.step);
    if (first) this.state.subStep = first.id;
    this.state.contextActionExecuted = false;
  }
}

/** Adds the end of a task to `advanceWithinLoop`, whose text stops before it. */
function referenceMachine(template: WorkflowTemplate, methods: readonly string[]): Around {
  const Printed = runPrinted(`return class extends Around {\n${methods.join('\n')}\n};`, {
    Around,
  }) as typeof Around;
  class Reference extends Printed {
    advanceWithinLoop(): void {
      const last = this.getCurrentSubStepIndex() === this.getLoopSteps(this.state.step).length - 1;
      const { index = 0 } = this.state.task ?? {};
      this.called.add('advanceWithinLoop');
      Reflect.get(Printed.prototype, 'advanceWithinLoop').call(this);
      if (!last) return;
      if (index + 1 < this.getCurrentTasks().length) this.enterTask(index + 1);
      else this.printed('advanceToNextStep');
    }
  }
  const machine = new Reference(template);
  const next = Reflect.get(machine, 'advanceToNextStep');
  Reflect.set(machine, 'advanceToNextStep', function (this: Around) {
    this.called.add('advanceToNextStep');
    next.call(this);
  });
  return machine;
}

const walked = `
name: walked
description: Every kind of step, with and without a context action
loops:
  build:
    - { id: code, context: compact, instructions: Code it }
    - { id: check, instructions: Check it }
steps:
  - { id: plan, type: action, context: clear, instructions: Plan it }
  - { id: tell, type: action, artefacts: true, instructions: Tell it }
  - { id: build, type: loop, context: clear }
  - { id: polish, type: ralph, n: 3, context: compact, instructions: Polish it }
  - { id: end, type: action, instructions: End it }
`;
const polished = `
name: polished
description: Begins with a ralph step
steps: [{ id: polish, type: ralph, n: 2, instructions: Polish it }]
`;

/** The methods of the plan, from `createInitialState` to `advance`. */
const methodIds = [5, 6, 7, 8, 9, 10].map((number) => `001/block-${number}`);

/** The machine of the plan with this block in it is where ours is, at every step of the walks. */
export const agreesWithOurs: Runner = (sample, seeds) => {
  const method = /^(?:private )?(\w+)\(/m.exec(sample.text)?.[1] ?? assert.fail('the block has no method');
  const methods = methodIds.map((id) => (id === sample.id ? sample : seeds.sample(id)).text);
  const called = new Set<string>();
  for (const yaml of [walked, polished])
    for (const marks of [true, false]) walk(yaml, methods, marks, called);
  assert.ok(called.has(method), `${method} was not called`);
};

function walk(yaml: string, methods: readonly string[], marks: boolean, called: Set<string>): void {
  const template = loadWorkflowTemplateFromString(yaml);
  const theirs = referenceMachine(template, methods);
  const ours = new WorkflowStateMachine(template);
  const compare = (): void => {
    assert.deepEqual(shown(ours.getState()), shown(theirs.state));
    if (theirs.state.status === 'running')
      assert.equal(ours.getContextActionIfNeeded(), theirs.printed('getContextActionIfNeeded'));
  };
  compare();
  for (const loop of Object.keys(template.loops ?? {})) {
    const tasks: Tasks = ['a', 'b'].map((id) => ({ id, title: `Task ${id}`, status: 'pending' }));
    ours.setTasks(loop, structuredClone(tasks));
    theirs.state.tasks[loop] = tasks;
  }
  for (let round = 0; theirs.state.status === 'running'; round += 1) {
    assert.ok(round < 50, 'the walk has no end');
    if (marks) {
      ours.markContextActionExecuted();
      theirs.printed('markContextActionExecuted');
      compare();
    }
    ours.advance(`output ${round}`);
    theirs.printed('advance', `output ${round}`);
    compare();
  }
  for (const name of theirs.called) called.add(name);
}

/** The statuses of tasks are set by the part that the document leaves out. */
function shown({ tasks: _, currentStepArtefacts = false, ...state }: WorkflowState): object {
  const at = state.status === 'running' ? state : { status: state.status, outputs: state.outputs };
  return JSON.parse(
    JSON.stringify({ ...at, ...(state.status === 'running' ? { currentStepArtefacts } : {}) }),
  );
}

/** The printed method, called on what our machine shows of itself, gives what our method gives. */
export const worksOnOurs: Runner = ({ text }) => {
  const name = /^(\w+)\(/m.exec(text)?.[1] ?? assert.fail('the block has no method');
  const Printed = runPrinted(`return class {\n${text}\n};`, {}) as { prototype: object };
  const printed: unknown = Reflect.get(Printed.prototype, name);
  assert.ok(typeof printed === 'function');
  const template = loadWorkflowTemplateFromString(walked);
  const machine = new WorkflowStateMachine(template);
  machine.setTasks('build', [{ id: 'a', title: 'A' }]);
  for (let round = 0; machine.getState().status === 'running'; round += 1) {
    const state = machine.getState();
    const face = new Proxy(machine, {
      get: (_, key) => (key === 'state' ? state : Reflect.get(machine, key).bind(machine)),
    });
    const answer: unknown = printed.call(face);
    if (name === 'getContextActionIfNeeded') assert.equal(answer, machine.getContextActionIfNeeded());
    else assert.equal(WorkflowStateMachine.fromState(template, state).getContextActionIfNeeded(), null);
    machine.advance(`output ${round}`);
  }
};
