import type { ContextAction, Definition, Gate, Step, SubStep, Task } from '../schema/index.ts';
import type { Position } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor, Merge, State, TaskList } from './state.ts';

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

/** Gates that also run before the work begins. A loop that awaits its tasks has none. */
export const baselineGates = (definition: Definition, position: Position): Gate[] =>
  awaitsTasks(definition, position) ? [] : baselinesIn(workAt(definition, position));

const baselinesIn = ({ gate = [] }: Step | SubStep): Gate[] =>
  gate.filter(({ baseline }) => baseline === true);

/** The engine starts commands of it without a call of an agent: run steps, and gates with `baseline`. */
export const startsCommands = ({ steps, loops = {} }: Definition): boolean =>
  [...steps, ...Object.values(loops).flat()].some((each) => isRunStep(each) || baselinesIn(each).length > 0);

/** The command of a run step that the engine runs at this position now. */
export const commandIn = ({ checking }: Pick<Cursor, 'checking'>): string | undefined =>
  checking?.gates.find(({ role }) => role === 'run')?.gate.run;

/** What the engine runs here without a call of an agent: that command, or gates before the work. */
export function startedIn({ checking }: Pick<Cursor, 'checking'>): string | undefined {
  const started = checking?.gates.filter(({ role }) => role === 'run' || role === 'baseline') ?? [];
  const commands = started.flatMap(({ gate }) => gate.run ?? []);
  return commands.length === 0 ? undefined : commands.join(', ');
}

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
  const work = workAt(definition, position);
  const asked = work.context ?? step.context ?? arrival;
  if (asked !== undefined || claimed || !state.driver || state.driver.released) return asked;
  // A driven session works as one agent.
  return agentBefore(definition, state) === (work.agent ?? step.agent) ? undefined : 'clear';
}

/** Of the position that was completed last; a run begins with any agent. */
function agentBefore(definition: Definition, { last, step }: State): string | undefined {
  const [id = step, , subId] = last?.kind === 'advance' ? last.key.split('.') : [];
  const before = definition.steps.find((each) => each.id === id);
  if (!before) return undefined;
  const sub = subStepsOf(definition, before).find((each) => each.id === subId);
  return sub?.agent ?? before.agent;
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

/** Started: some agent has a cursor on it, or it is in the merge queue. */
export const isHeld = (state: State, step: Step, task: Task): boolean =>
  Object.hasOwn(state.cursors, `${step.id}/${task.id}`) || mergeState(state, step, task.id) !== undefined;

const mergeState = ({ step: current, merges }: State, { id }: Step, task: string) =>
  current === id ? own(merges, task)?.state : undefined;

/** Where a task goes back to whose merge failed: the last sub-step that an agent works on. What follows is done again. */
export function subStepsAgain(definition: Definition, id: string): SubStep[] {
  const subSteps = subStepsOf(definition, stepOf(definition, id));
  const last = subSteps.findLastIndex((sub) => !isRunStep(sub));
  return subSteps.slice(Math.max(0, last));
}

/**
 * Tasks that wait to be merged, in order. One whose merge has begun is first; then those that came back, before what they
 * were resolved against changes again.
 */
export const queuedMerges = ({ merges = {} }: State): [string, Merge][] =>
  Object.entries(merges)
    .filter(([, { state }]) => state === 'queued' || state === 'merging')
    .sort(
      ([, a], [, b]) =>
        Number(b.state === 'merging') - Number(a.state === 'merging') ||
        Number(b.failures > 0) - Number(a.failures > 0) ||
        a.since - b.since,
    );

export const isMerging = (state: State): boolean => queuedMerges(state).length > 0;

/** Several agents write at the same time, each in its own worktree. */
export function needsWorktree(definition: Definition, id: string): boolean {
  const step = definition.steps.find((each) => each.id === id);
  return (
    step !== undefined && parallelOf(step) > 1 && !subStepsOf(definition, step).every((sub) => sub.read_only)
  );
}

/** A task of this loop ends when its branch is merged: a driver does it, or the workflow has gates for it. */
export const queuesMerges = (definition: Definition, { driver }: State, step: Step): boolean =>
  needsWorktree(definition, step.id) && (step.merge_gate !== undefined || driver !== undefined);

/** The loop waits for its condition or its tasks: no task of it can begin. */
export const isUnopened = ({ cursors }: State, { id }: Step): boolean => Object.hasOwn(cursors, id);

/** Those whose merge failed are first in line. */
export function readyTasks(state: State, step: Step): Task[] {
  const ready = tasksIn(taskListOf(state, step)).filter((task) => isReady(state, step, task));
  const returned = ready.filter(({ id }) => mergeState(state, step, id) === 'returned');
  return returned.length === 0 ? ready : [...returned, ...ready.filter((task) => !returned.includes(task))];
}

export function firstReady(state: State, step: Step): Task | undefined {
  return tasksIn(taskListOf(state, step)).find((task) => isReady(state, step, task));
}

function isReady(state: State, step: Step, task: Task): boolean {
  if (task.end !== undefined || isUnopened(state, step)) return false;
  if (mergeState(state, step, task.id) === 'returned') return true;
  if (isHeld(state, step, task)) return false;
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
