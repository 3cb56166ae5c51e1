import type { CommandOf, Definition, Step, TaskInput } from '../schema/index.ts';
import type { Batch } from './batch.ts';
import { defined } from './batch.ts';
import { beginStep, enterNext, leaveSubStep, openLoop } from './flow.ts';
import { locate } from './locate.ts';
import { reporterOf } from './ownership.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Cursor, State } from './state.ts';
import { baselineGates, contextAt, loopIdOf, stepOf } from './steps.ts';
import { badTasks } from './task-list.ts';

/** What a position asked for. */
export type Prepared = Pick<CommandOf<'prepared'>, 'when' | 'tasks' | 'problem'>;

/** Finds out what the position asks for; undefined where that needs something that is not here. */
export type Prepare = (definition: Definition, state: State, cursor: Cursor) => Prepared | undefined;

const maxReason = 2000;

/** Work begins, the position is skipped, or it waits for a person. Its handle fences the answer. */
export function prepared(batch: Batch, command: CommandOf<'prepared'>): Refusal | undefined {
  const { at, when, tasks, problem } = command;
  const found = locate(batch, at);
  const cursor = 'cursor' in found ? found.cursor : undefined;
  if (!cursor?.preparing || cursor.preparing.kind === 'baseline' || cursor.waiting)
    return refuse('stale_handle', { at });
  if (cursor.preparing.kind === 'tasks') return takeTasks(batch, cursor, { tasks, problem });
  if (problem !== undefined || !when) {
    const reason = (problem ?? 'nothing was found out').slice(0, maxReason);
    batch.emit('position.blocked', { at, reason });
    return undefined;
  }
  const { holds, values } = when;
  if (cursor.task !== undefined) {
    const claimed = cursor.preparing.claimed === true;
    if (!holds) {
      batch.emit('position.skipped', { at, values });
      leaveSubStep(batch, cursor, claimed ? 'claim' : 'next');
    } else {
      const context = contextAt(batch.definition, batch.state, cursor, claimed);
      const then = baselineGates(batch.definition, cursor).length > 0 ? ('baseline' as const) : undefined;
      batch.emit('position.prepared', { at, ...defined({ context, then }) });
    }
    return undefined;
  }
  const { arrival: context, arrivalForced: forced, entered } = batch.state;
  if (holds) beginStep(batch, { step: cursor.step, ...defined({ context, forced }) });
  else {
    batch.emit('step.skipped', { step: cursor.step, values });
    enterNext(batch, { from: entered?.step, ...(forced && { pivot: true }) });
  }
  return undefined;
}

function takeTasks(batch: Batch, cursor: Cursor, { tasks = [], problem }: Prepared): undefined {
  const step = stepOf(batch.definition, cursor.step);
  const found = problem ?? countProblem(step, tasks.length) ?? listProblem(tasks);
  if (found !== undefined) {
    batch.emit('position.blocked', { at: batch.at(cursor), reason: found.slice(0, maxReason) });
    return;
  }
  const reportedBy = reporterOf(batch.caller);
  batch.emit('tasks.set', { loop: loopIdOf(step), tasks, ...defined({ reportedBy }) });
  openLoop(batch);
}

export function countProblem({ id, tasks: { min = 0, max } = {} }: Step, count: number): string | undefined {
  if (count < min) return `'${id}' has ${count} tasks, and needs at least ${min}`;
  return max !== undefined && count > max
    ? `'${id}' has ${count} tasks, and takes at most ${max}`
    : undefined;
}

/** The tasks come from a file: what is wrong with them is told to a person. */
function listProblem(tasks: TaskInput[]): string | undefined {
  const bad = badTasks(tasks, tasks);
  switch (bad?.is) {
    case undefined:
      return undefined;
    case 'bad_id':
      return `'${bad.task}' cannot be the id of a task`;
    case 'no_title':
      return `task '${bad.task}' has no title`;
    case 'duplicate':
      return `task '${bad.task}' is there twice`;
    case 'unknown_dependency':
      return `task '${bad.task}' depends on '${bad.on}', which is not there`;
    case 'circle':
      return `tasks depend on each other in a circle: ${bad.tasks.join(', ')}`;
    case 'too_many':
      return `there are ${bad.count} tasks; the limit is ${bad.limit}`;
    case 'too_many_dependencies':
      return `its tasks have ${bad.count} dependencies; the limit is ${bad.limit}`;
    default:
      return 'its tasks cannot be used';
  }
}
