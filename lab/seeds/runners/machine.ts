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
import { check } from '../check.ts';
import { runPrinted } from './code.ts';

type Tasks = WorkflowState['tasks'][string];

/** What the printed methods call and the document leaves out. */
class Around {
  template: WorkflowTemplate;
  state: WorkflowState;

  constructor(template: WorkflowTemplate) {
    this.template = template;
    this.state = this.printed('createInitialState') as WorkflowState;
  }

  /** Calls a method that only the text of the document has. */
  printed(method: string, ...args: unknown[]): unknown {
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

/** The printed class; the text of `advanceWithinLoop` stops before the end of a task. */
function classOf(methods: readonly string[]): typeof Around {
  const code = `return class extends Around {\n${methods.join('\n')}\n};`;
  const Printed = runPrinted(code, { Around }) as typeof Around;
  return class extends Printed {
    advanceWithinLoop(): void {
      const last = this.getCurrentSubStepIndex() === this.getLoopSteps(this.state.step).length - 1;
      const next = (this.state.task?.index ?? 0) + 1;
      Reflect.get(Printed.prototype, 'advanceWithinLoop').call(this);
      if (!last) return;
      if (next < this.getCurrentTasks().length) this.enterTask(next);
      else this.printed('advanceToNextStep');
    }
  };
}

const walks = [
  `
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
`,
  `
name: polished
description: Begins with a ralph step
steps: [{ id: polish, type: ralph, n: 2, instructions: Polish it }]
`,
];

const nameOf = (text: string): string | undefined => /^(?:private )?(\w+)\(.*\): .* \{$/m.exec(text)?.[1];

export const agreesWithOurs = check(
  'a machine of the printed methods and ours agree at every position of four walks',
  ({ text }, seeds) => {
    const method = nameOf(text) ?? assert.fail('the block has no method');
    const methods = seeds
      .of('001')
      .map((each) => (nameOf(each.text) === method ? text : each.text))
      .filter((each) => nameOf(each) !== undefined);
    const Printed = classOf(methods);
    let calls = 0;
    const code = Reflect.get(Printed.prototype, method);
    Reflect.set(Printed.prototype, method, function (this: Around, ...args: unknown[]) {
      calls += 1;
      return code.apply(this, args);
    });
    for (const yaml of walks)
      for (const marks of [true, false]) walk(loadWorkflowTemplateFromString(yaml), Printed, marks);
    assert.notEqual(calls, 0, `${method} was not called`);
  },
);

function walk(template: WorkflowTemplate, Printed: typeof Around, marks: boolean): void {
  const theirs = new Printed(template);
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
}

/** The statuses of tasks are set by the part that the document leaves out. */
function shown({ tasks: _, currentStepArtefacts = false, ...state }: WorkflowState): object {
  const { status, outputs } = state;
  return JSON.parse(
    JSON.stringify(status === 'running' ? { ...state, currentStepArtefacts } : { status, outputs }),
  );
}
