import type { ContextAction, Definition, Gate, Step, SubStep, Task } from '../schema/index.ts';
import type { Position } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, State, TaskList } from './state.ts';

export function stepIndex(definition: Definition, id: string): number {
  return definition.steps.findIndex((step) => step.id === id);
}

/** The step must exist, because the definition of a run is pinned. */
export function stepOf(definition: Definition, id: string): Step {
  const step = definition.steps[stepIndex(definition, id)];
  if (!step) throw new RangeError(`the pinned workflow has no step '${id}'`);
  return step;
}

/** A command of the engine, without an agent. */
export const isRunStep = ({ run }: Step | SubStep): boolean => run !== undefined;

export const hasRunSteps = ({ steps, loops = {} }: Definition): boolean =>
  [...steps, ...Object.values(loops).flat()].some(isRunStep);

/** The command of a run step that the engine runs at this position now. */
export const commandIn = ({ checking }: Pick<Cursor, 'checking'>): string | undefined =>
  checking?.gates.find(({ role }) => role === 'run')?.gate.run;

/** Something of it is found out by the engine: `when`, or tasks from an output. */
export const hasConditions = ({ steps, loops = {} }: Definition): boolean =>
  steps.some(({ tasks }) => tasks?.output !== undefined) ||
  [...steps, ...Object.values(loops).flat()].some(({ when }) => when !== undefined);

/** Its tasks are read, not set by an agent. */
export const hasTaskSource = ({ tasks: { files, checklist, json, output } = {} }: Step): boolean =>
  [files, checklist, json, output].some((source) => source !== undefined);

/** They are in files, and not in the run. */
export const needsFiles = (step: Step): boolean => hasTaskSource(step) && step.tasks?.output === undefined;

export const attemptsOf = (step: Step | SubStep): number => step.attempts ?? 5;

/** `on_fail: { retry, then }`: counts red gates and failures together. Absent: the words of older definitions count each. */
export const retryOf = ({ on_fail }: Step | SubStep) => (typeof on_fail === 'object' ? on_fail : undefined);

export const loopIdOf = (step: Step): string => step.loop ?? step.id;

export const subStepsOf = (definition: Definition, step: Step): SubStep[] =>
  own(definition.loops, loopIdOf(step)) ?? [];

/** The sub-step in a loop, else the step itself: what carries instructions, gates and `on_fail`. */
export function workAt(definition: Definition, position: Position): Step | SubStep {
  const step = stepOf(definition, position.step);
  if (position.task === undefined) return step;
  return subStepsOf(definition, step).find((sub) => sub.id === position.subStep) ?? step;
}

/** What people read; the id stays the address. */
export const titleOf = ({ id, title }: Step | SubStep): string => title ?? id;

/** A position as people read it: `Check it (build/task-2/verify)`; its path where it has no title. */
export function titledPath(definition: Definition, path: string): string {
  // A handle's path may end in its visit.
  const [id, , subId] = path.replace(/#\d+$/, '').split('/', 3);
  const step = definition.steps.find((each) => each.id === id);
  if (!step) return path;
  const sub =
    subId === undefined ? undefined : subStepsOf(definition, step).find((each) => each.id === subId);
  const { title } = subId === undefined ? step : (sub ?? {});
  return title === undefined ? path : `${title} (${path})`;
}

/** Sub-step before step before transition; a pivot's clear before all. A loop that awaits its tasks has none. */
export function contextAt(
  definition: Definition,
  state: State,
  position: Position,
  claimed = false,
): ContextAction | undefined {
  if (awaitsTasks(definition, position) || isRunStep(workAt(definition, position))) return undefined;
  const step = stepOf(definition, position.step);
  // Where several agents work, each one arrives with its first sub-step.
  const arrival = claimed || parallelOf(step) === 1 ? state.arrival : undefined;
  if (state.arrivalForced && arrival) return arrival;
  return workAt(definition, position).context ?? step.context ?? arrival;
}

export const awaitsTasks = (definition: Definition, position: Position): boolean =>
  position.task === undefined && stepOf(definition, position.step).type === 'loop';

export const parallelOf = (step: Step): number => step.parallel ?? 1;

export const taskListOf = (state: State, step: Step): TaskList | undefined =>
  own(state.tasks, loopIdOf(step));

export function tasksIn(list: TaskList | undefined): Task[] {
  const tasks: Task[] = [];
  for (const id of list?.order ?? []) {
    const task = own(list?.byId, id);
    if (task) tasks.push(task);
  }
  return tasks;
}

/** Without the tasks that a person removed. */
export const undroppedTasks = (list: TaskList | undefined): Task[] =>
  tasksIn(list).filter((task) => task.end !== 'dropped');

/** The tasks that depend on it can begin: it is done, or a person removed it. */
export const isSatisfied = (dependency: Task | undefined): boolean =>
  dependency?.end === 'done' || dependency?.end === 'dropped';

/** For each task those that depend on it. */
export function dependantsOf(tasks: readonly Task[]): Map<string, Task[]> {
  const dependants = new Map<string, Task[]>();
  for (const task of tasks) {
    for (const id of task.depends_on ?? []) {
      const known = dependants.get(id);
      if (known) known.push(task);
      else dependants.set(id, [task]);
    }
  }
  return dependants;
}

/** Started: some agent has a cursor on it. */
export const isHeld = (state: State, step: Step, task: Task): boolean =>
  Object.hasOwn(state.cursors, `${step.id}/${task.id}`);

export function readyTasks(state: State, step: Step): Task[] {
  return tasksIn(taskListOf(state, step)).filter((task) => isReady(state, step, task));
}

export function firstReady(state: State, step: Step): Task | undefined {
  return tasksIn(taskListOf(state, step)).find((task) => isReady(state, step, task));
}

function isReady(state: State, step: Step, task: Task): boolean {
  if (task.end !== undefined || isHeld(state, step, task)) return false;
  const byId = taskListOf(state, step)?.byId;
  return task.depends_on?.every((id) => isSatisfied(own(byId, id))) ?? true;
}

export const heldCount = (state: State): number => Object.keys(state.cursors).length;

/** Gates marked `rerun` on the steps before this one. */
export function rerunGates(definition: Definition, before: number): { gate: Gate; from: string }[] {
  return definition.steps.slice(0, before).flatMap((step) => {
    const outer = (step.gate ?? []).map((gate) => ({ gate, from: step.id }));
    const inner =
      step.type === 'loop'
        ? subStepsOf(definition, step).flatMap((sub) =>
            (sub.gate ?? []).map((gate) => ({ gate, from: `${step.id}/${sub.id}` })),
          )
        : [];
    return [...outer, ...inner].filter(({ gate }) => gate.rerun === true);
  });
}

export function isAtLoop(definition: Definition, { step: id }: State, loop: string): boolean {
  const step = stepOf(definition, id);
  return step.type === 'loop' && loopIdOf(step) === loop;
}
