import type { CommandOf, Step, Task, TaskInput } from '../schema/index.ts';
import type { Action } from './action.ts';
import { type Batch, defined } from './batch.ts';
import { usedUp } from './budget-use.ts';
import { enterPosition, openLoop } from './flow.ts';
import { loopNamed } from './import.ts';
import { createLease, isExpired, renewLease, takeOver } from './lease.ts';
import { byAgent } from './locate.ts';
import { claimReturned } from './merge-queue.ts';
import { own } from './own-property.ts';
import { type Refusal, refuse, type TaskProblem } from './refusal.ts';
import type { Cursor, TaskList } from './state.ts';
import {
  awaitsTasks,
  heldCount,
  isHeld,
  isUnopened,
  loopIdOf,
  parallelOf,
  readyTasks,
  stepIndex,
  stepOf,
  subStepsOf,
  taskListOf,
  tasksIn,
} from './steps.ts';
import { badTasks } from './task-list.ts';

/**
 * A new list replaces the tasks that have not started; started and ended tasks stay. Once the run is at the loop, a
 * list must contain every unfinished task, except for a program that owns its run (actor `engine`).
 */
export function setTasks(batch: Batch, command: CommandOf<'setTasks'>): Refusal | undefined {
  const { definition, state } = batch;
  const loop = loopNamed(definition, command.loop);
  const step = definition.steps.find(
    (candidate) => candidate.type === 'loop' && loopIdOf(candidate) === loop,
  );
  if (!step) {
    const loops = definition.steps.filter((candidate) => candidate.type === 'loop').map(loopIdOf);
    return refuse('unknown_loop', { given: command.loop.slice(0, 80), loops });
  }
  if (step.tasks?.locked && byAgent(command)) return badList(step, { is: 'locked' });
  const here = state.step === step.id;
  if (stepIndex(definition, state.step) > stepIndex(definition, step.id)) {
    return badList(step, { is: 'loop_over' });
  }
  const awaiting = here
    ? Object.values(state.cursors).find((each) => !each.preparing && awaitsTasks(definition, each))
    : undefined;
  const empty = command.tasks.length === 0;
  // New tasks cancel the request to leave the loop without tasks.
  const waits = awaiting?.waiting && (empty || awaiting.waiting.kind !== 'review');
  if (waits || (here && usedUp(state))) {
    batch.ignored = true;
    return undefined;
  }
  const list = taskListOf(state, step);
  const kept = tasksIn(list).filter((task) => task.end !== undefined || isHeld(state, step, task));
  const tasks = mergeTasks(kept, command.tasks, list);
  const stuck = here && state.blocked !== undefined && tasks.length === kept.length;
  const bad =
    badCount(step, tasks.length) ??
    badTasks(command.tasks, tasks) ??
    (stuck ? { is: 'all_ended' as const } : undefined);
  if (bad) return badList(step, bad);
  const leftOut = here && command.actor?.kind !== 'engine' ? unfinishedNotIn(list, command.tasks) : [];
  if (leftOut.length > 0) {
    const named = leftOut.slice(0, mostNamed).map(({ id, title }) => ({ id, title: title.slice(0, 80) }));
    return refuse('task_left_out', { tasks: named, more: leftOut.length - named.length });
  }
  const leaves = tasks.every((task) => task.end !== undefined);
  if (leaves && byAgent(command)) return leaveWithoutTasks(batch, step, awaiting);
  batch.emit('tasks.set', { loop, tasks });
  if (here && heldCount(batch.state) === 0) openLoop(batch);
  return undefined;
}

/** An empty list is a question to a person, whatever the workflow asks for. */
function badCount({ tasks: { min = 0, max } = {} }: Step, count: number): TaskProblem | undefined {
  if (count > 0 && count < min) return { is: 'too_few', count, limit: min };
  return max !== undefined && count > max ? { is: 'too_many', count, limit: max } : undefined;
}

const mostNamed = 5;

function unfinishedNotIn(list: TaskList | undefined, wanted: readonly TaskInput[]): Task[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return tasksIn(list).filter((task) => task.end === undefined && !ids.has(task.id));
}

const badList = (step: Step, problem: TaskProblem): Refusal =>
  refuse('bad_tasks', { step: step.id, problem });

/** An agent asked to skip the loop. A person decides: approve leaves it, revise asks for tasks again. */
function leaveWithoutTasks(batch: Batch, step: Step, awaiting: Cursor | undefined): Refusal | undefined {
  if (!awaiting) return badList(step, { is: 'nothing_left' });
  const { session } = batch.caller;
  const at = batch.at(awaiting);
  batch.emit('review.requested', {
    ...{ at, by: 'human', output: '', receipts: [] },
    ...defined({ session, author: batch.author }),
  });
  return undefined;
}

const maxReason = 400;

/** A person removes a task in any state. Tasks that depend on it no longer wait for it. */
export function dropTask(batch: Batch, command: CommandOf<'dropTask'>): Refusal | undefined {
  const { definition, state } = batch;
  const ahead = definition.steps
    .slice(stepIndex(definition, state.step))
    .filter(({ id, type, loop }) => type === 'loop' && [undefined, id, loop].includes(command.loop));
  const step = ahead.find((each) => own(taskListOf(state, each)?.byId, command.task));
  const task = step && own(taskListOf(state, step)?.byId, command.task);
  const named = command.task.slice(0, 80);
  const status = { action: { do: 'ask_status' as const } };
  if (!step || !task) return refuse('no_task', { step: state.step, why: 'unknown', task: named }, status);
  if (task.end !== undefined)
    return refuse('no_task', { step: step.id, why: 'ended', task: named, end: task.end }, status);
  const reason = command.reason.trim().slice(0, maxReason);
  if (reason === '') return refuse('bad_note', { why: 'no_reason', task: named });
  const by = command.actor?.name ?? 'person';
  batch.emit('task.dropped', { loop: loopIdOf(step), task: task.id, reason, by });
  if (state.step === step.id && heldCount(batch.state) === 0) openLoop(batch);
  return undefined;
}

function mergeTasks(kept: Task[], wanted: TaskInput[], before: TaskList | undefined): Task[] {
  const keptIds = new Set(kept.map((task) => task.id));
  const fresh = wanted
    .filter((task) => !keptIds.has(task.id))
    .map(({ id, title, description, depends_on }): Task => {
      const epoch = own(before?.byId, id)?.epoch;
      return { id, title, ...defined({ description, depends_on, epoch }) };
    });
  return [...kept, ...fresh];
}

/**
 * Each claim takes one more task, unless it names a task that the holder has already: then it renews the lease. Ready
 * tasks come before tasks with an expired lease.
 */
export function claim(batch: Batch, command: CommandOf<'claim'>): Refusal | undefined {
  const { definition, state } = batch;
  const step = stepOf(definition, state.step);
  const cursors = Object.values(state.cursors);
  if (step.type !== 'loop' || parallelOf(step) === 1 || isUnopened(state, step)) {
    const handles = cursors.map((cursor) => batch.at(cursor));
    const action: Action = handles.length > 0 ? { do: 'continue', at: handles } : { do: 'ask_status' };
    return refuse('no_task', { step: step.id, why: 'not_claimable' }, { action });
  }
  if (byAgent(command) && command.session !== undefined && command.session !== command.holder) {
    return refuse('task_held', { why: 'other_holder' });
  }
  if (usedUp(state)) return undefined;
  const mine = cursors.filter((cursor) => cursor.lease?.holder === command.holder);
  const named = mine.find((cursor) => cursor.task === command.task);
  if (named) return renewLease(batch, named);
  const hasRoom = cursors.length < parallelOf(step);
  const ready = readyTasks(state, step).find((task) => matchesClaim(command, task.id));
  const [first] = subStepsOf(definition, step);
  if (hasRoom && ready && own(state.merges, ready.id)) {
    claimReturned(batch, ready.id, command.holder);
    return undefined;
  }
  if (hasRoom && ready && first) {
    const lease = createLease(batch, command.holder, (ready.epoch ?? 0) + 1);
    enterPosition(batch, { step: step.id, task: ready.id, subStep: first.id }, { why: 'claim', lease });
    return undefined;
  }
  const expired = cursors.find(
    (cursor) => isExpired(cursor, batch.now) && matchesClaim(command, cursor.task),
  );
  if (expired) return takeOver(batch, expired, command.holder);
  if (!ready) return claimRefusal(batch, command, mine);
  const taken = { step: step.id, held: cursors.length, limit: parallelOf(step) };
  return refuse('task_held', { why: 'all_taken', ...taken }, continueAt(batch, mine));
}

const matchesClaim = (command: CommandOf<'claim'>, task: string | undefined): boolean =>
  command.task === undefined || command.task === task;

const continueAt = (batch: Batch, mine: readonly Cursor[]): { action: Action } | undefined =>
  mine.length === 0
    ? undefined
    : { action: { do: 'continue', at: mine.slice(0, mostNamed).map((cursor) => batch.at(cursor)) } };

function claimRefusal(batch: Batch, command: CommandOf<'claim'>, mine: readonly Cursor[]): Refusal {
  const step = stepOf(batch.definition, batch.state.step);
  const task = own(taskListOf(batch.state, step)?.byId, command.task ?? '');
  const more = continueAt(batch, mine) ?? { action: { do: 'ask_status' as const } };
  const { id } = step;
  if (command.task === undefined) return refuse('no_task', { step: id, why: 'none_ready' }, more);
  if (!task) return refuse('no_task', { step: id, why: 'unknown', task: command.task.slice(0, 80) }, more);
  if (task.end !== undefined)
    return refuse('no_task', { step: id, why: 'ended', task: task.id, end: task.end }, more);
  if (isHeld(batch.state, step, task)) return refuse('task_held', { why: 'held', task: task.id }, more);
  return refuse('no_task', { step: id, why: 'depends', task: task.id, on: task.depends_on ?? [] }, more);
}
