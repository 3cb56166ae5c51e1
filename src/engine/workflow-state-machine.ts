import { StepfastError } from '../errors.ts';
import {
  type Command,
  type ContextAction,
  type Cursor,
  type Definition,
  formatHandle,
  loopIdOf,
  onlyCursor,
  opening,
  own,
  prepareAll,
  type State,
  type Status,
  type Step,
  type SubStep,
  settle,
  statusOf,
  stepOf,
  subStepsOf,
  type TaskInput,
  tasksIn,
  type WorkflowState,
  type WorkflowTask,
  workAt,
} from '../machine/index.ts';
import { refusalText, shellVoice } from '../messages/index.ts';
import { prepareFromState } from './prepare-positions.ts';

/** An agent that a workflow declares. */
export type AgentConfig = NonNullable<Definition['agents']>[string];
/** The task of a saved run. */
export type TaskContext = NonNullable<WorkflowState['task']>;

export interface MachineOptions {
  run?: string;
  summary?: string;
  inputs?: Record<string, string | number | boolean>;
  /** Milliseconds since the epoch; only leases and budgets look at it. */
  now?: () => number;
}

/**
 * A run in memory with the names of Lanes' class. A call that the machine refuses throws a `StepfastError` with the
 * refusal's code. Gates that `advance` requests are run by `runPendingGates`, or reported with `execute`.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate, runPendingGates, WorkflowStateMachine } from 'stepfast';
 *
 * const machine = new WorkflowStateMachine(loadWorkflowTemplate('bugfix'), { summary: 'The login fails' });
 * console.log(machine.getStatus().instructions);
 * const { checking } = machine.advance('Reproduced it.');
 * if (checking) await runPendingGates(machine, { worktree: process.cwd() });
 * const saved = JSON.stringify(machine.getState());
 * const again = WorkflowStateMachine.fromState(machine.template, JSON.parse(saved));
 * console.log(again.getStatus().step);
 * ```
 */
export class WorkflowStateMachine {
  readonly template: Definition;
  /** The clock of the options. */
  readonly now: () => number;
  #state: State | null = null;
  /** `markContextActionExecuted` on a position that has no context action. */
  #marked: string | undefined;

  constructor(template: Definition, options: MachineOptions = {}, saved?: WorkflowState) {
    this.template = template;
    this.now = options.now ?? (() => 0);
    const { run = `${template.name}-local`, summary, inputs } = options;
    const common = { now: this.now(), run, inputs };
    if (saved) this.execute({ type: 'import', ...common, state: saved });
    else this.execute({ type: 'start', ...common, summary });
    if (saved?.contextActionExecuted) this.#marked = this.#handle();
  }

  /** Inputs are not part of a `WorkflowState`: give them again where the workflow has any. */
  static fromState(
    template: Definition,
    state: WorkflowState,
    options: MachineOptions = {},
  ): WorkflowStateMachine {
    return new WorkflowStateMachine(template, options, state);
  }

  start(): Status {
    return this.getStatus();
  }

  /** Repeats nothing by accident: the handle of the open position goes with the call. A pending action is skipped. */
  advance(output: string): Status {
    const at = this.#handle();
    if (this.getContextActionIfNeeded() !== null) {
      for (let told = 0; told < 2; told += 1) this.execute({ type: 'status', now: this.now() });
    }
    this.execute({ type: 'advance', now: this.now(), output, at });
    return this.getStatus();
  }

  /** The seeds' rule: a list replaces whatever was not started, and an empty one completes the loop. */
  setTasks(loop: string, tasks: (TaskInput & { status?: WorkflowTask['status'] })[]): Status {
    this.execute({ type: 'setTasks', now: this.now(), loop, tasks, actor: { kind: 'engine' } });
    return this.getStatus();
  }

  getCurrentStep(): Step {
    return stepOf(this.template, this.#run().step);
  }

  /** Undefined outside a loop, and before the loop has tasks. */
  getCurrentLoopStep(): SubStep | undefined {
    const subStep = this.#cursor()?.subStep;
    return subStepsOf(this.template, this.getCurrentStep()).find(({ id }) => id === subStep);
  }

  /** Null: the main agent. */
  getCurrentAgent(): string | null {
    return this.getStatus().agent;
  }

  /** Null once executed, and where neither sub-step, step nor transition has one. */
  getContextActionIfNeeded(): ContextAction | null {
    const boundary = this.#cursor()?.boundary;
    return boundary?.state === 'pending' ? boundary.action : null;
  }

  /** The caller performed the context action: the position is open for work. */
  markContextActionExecuted(): void {
    const action = this.getContextActionIfNeeded();
    if (action !== null) {
      this.execute({ type: 'status', now: this.now() });
      this.execute({ type: 'boundary', now: this.now(), by: 'driver', saw: action });
    }
    this.#marked = this.#handle();
  }

  getStatus(): Status {
    return statusOf(this.template, this.#run(), { cursor: this.#cursor() });
  }

  /** Everything that is known of the run, as plain JSON: what `statusOf`, `mayStop` and `compileBriefing` take. */
  get state(): State {
    return this.#run();
  }

  /** The run as the seeds save it; `fromState` takes it back. */
  getState(): WorkflowState {
    const state = this.#run();
    const cursor = this.#cursor();
    const step = stepOf(this.template, state.step);
    const { task: shown } = this.getStatus();
    const artefacts = cursor && (workAt(this.template, cursor).artefacts ?? step.artefacts);
    const running = state.status === 'running' || state.status === 'waiting';
    return {
      status: running ? 'running' : state.status === 'complete' ? 'complete' : 'failed',
      step: state.step,
      stepType: step.type,
      ...(shown ? { task: { index: shown.index, id: shown.id, title: shown.title } } : {}),
      ...(cursor?.subStep === undefined ? {} : { subStep: cursor.subStep }),
      ...(cursor?.iteration === undefined ? {} : { ralphIteration: cursor.iteration }),
      tasks: Object.fromEntries(Object.keys(state.tasks).map((loop) => [loop, this.#tasks(loop)])),
      outputs: Object.fromEntries(
        Object.entries(state.outputs).map(([key, { text }]) => [key, opening(text)]),
      ),
      ...(state.summary === undefined ? {} : { summary: state.summary }),
      artefacts: [...state.artefacts],
      ...(artefacts === undefined ? {} : { currentStepArtefacts: artefacts }),
      contextActionExecuted: this.#executed(cursor),
    };
  }

  /** Any command of the machine; throws on a refusal. */
  execute(command: Command): void {
    const { refusal, state } = settle(this.template, this.#state, command);
    this.#state = state && prepareAll(this.template, state, command, prepareFromState).state;
    if (!refusal) return;
    const { message, next } = refusalText(refusal, shellVoice());
    throw new StepfastError(refusal.code, `${message} ${next}`, { data: refusal });
  }

  #executed(cursor: Cursor | undefined): boolean {
    if (cursor?.boundary) return cursor.boundary.state !== 'pending';
    return this.#marked !== undefined && this.#marked === this.#handle();
  }

  #tasks(loop: string): WorkflowTask[] {
    const state = this.#run();
    const step = this.template.steps.find(
      (candidate) => candidate.type === 'loop' && loopIdOf(candidate) === loop,
    );
    const list = own(state.tasks, loop);
    return tasksIn(list).flatMap(({ end, endedAt: _, epoch: _epoch, reason: _why, ...task }) => {
      if (end === 'dropped') return [];
      const needs = task.depends_on?.filter((id) => own(list?.byId, id)?.end !== 'dropped');
      const held = Object.hasOwn(state.cursors, `${step?.id}/${task.id}`);
      const lost = end === 'skipped' ? 'failed' : end;
      return [
        {
          ...task,
          ...(needs ? { depends_on: needs } : {}),
          status: lost ?? (held ? 'in_progress' : 'pending'),
        },
      ];
    });
  }

  #cursor(): Cursor | undefined {
    return onlyCursor(this.#run());
  }

  #handle(): string | undefined {
    const cursor = this.#cursor();
    return cursor && formatHandle(this.#run().run, cursor.path, cursor.visit);
  }

  #run(): State {
    if (this.#state === null) throw new StepfastError('not_started', 'the run has not started: start it');
    return this.#state;
  }
}
