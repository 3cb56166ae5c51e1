import type { Definition, TaskEnd } from '../schema/index.ts';
import { own } from './own-property.ts';
import { type Cursor, opening, type State } from './state.ts';
import { isHeld, isSatisfied, loopIdOf, subStepsOf, taskListOf, tasksIn } from './steps.ts';

export type TaskState =
  | { is: 'ended'; end: TaskEnd }
  | { is: 'review'; by: string }
  | { is: 'question' | 'blocked' | 'started' | 'ready' }
  | { is: 'held'; by: string }
  | { is: 'depends'; on: string[] }
  /** Its work is done and waits to be merged, could not be merged, or waits for a person. */
  | { is: 'queued' | 'merging' | 'returned' | 'parked' };

/** The state of each task of a loop, in the order of the list. */
export function taskStates(
  { steps }: Definition,
  { cursors, tasks, merges, step: current }: State,
  loop: string,
): { task: string; state: TaskState }[] {
  const list = own(tasks, loop);
  const users = steps.filter((step) => (step.loop ?? step.id) === loop).map(({ id }) => id);
  const open = new Map(
    Object.values(cursors).flatMap((cursor) =>
      cursor.task !== undefined && users.includes(cursor.step) ? [[cursor.task, cursor] as const] : [],
    ),
  );
  return (list?.order ?? []).map((id) => {
    const task = own(list?.byId, id);
    const cursor = open.get(id);
    if (task?.end !== undefined) return { task: id, state: { is: 'ended', end: task.end } };
    if (cursor) return { task: id, state: startedState(cursor) };
    const merge = users.includes(current) ? own(merges, id) : undefined;
    if (merge) return { task: id, state: { is: merge.state } };
    const on = task?.depends_on?.filter((each) => !isSatisfied(own(list?.byId, each))) ?? [];
    return { task: id, state: on.length === 0 ? { is: 'ready' } : { is: 'depends', on } };
  });
}

function startedState({ waiting, lease }: Cursor): TaskState {
  if (waiting?.kind === 'review') return { is: 'review', by: waiting.by };
  if (waiting) return { is: waiting.kind };
  return lease ? { is: 'held', by: lease.holder } : { is: 'started' };
}

/** A task as conditions and placeholders see it. */
export interface TaskSummary {
  id: string;
  title: string;
  status: 'pending' | 'in_progress' | TaskEnd;
  /** The beginning of what its last completed sub-step reported. */
  output: string | null;
}

const maxOutput = 500;

/** The tasks of a loop, by the id of its step or its own; undefined where there is no such loop or no list yet. */
export function taskSummaries(definition: Definition, state: State, name: string): TaskSummary[] | undefined {
  const loops = definition.steps.filter(({ type }) => type === 'loop');
  const step = loops.find(({ id }) => id === name) ?? loops.find((each) => loopIdOf(each) === name);
  const list = step && taskListOf(state, step);
  if (!step || !list) return undefined;
  const subSteps = subStepsOf(definition, step).toReversed();
  return tasksIn(list).map((task) => {
    const last = subSteps.find((sub) => own(state.outputs, `${step.id}.${task.id}.${sub.id}`));
    const output = last && own(state.outputs, `${step.id}.${task.id}.${last.id}`);
    return {
      id: task.id,
      title: task.title,
      status: task.end ?? (isHeld(state, step, task) ? 'in_progress' : 'pending'),
      output: output ? opening(output.text).slice(0, maxOutput) : null,
    };
  });
}
