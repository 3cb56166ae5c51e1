import type { Baseline, EventOf, Lease, Owner, Receipt, Text } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { type Position, pathOf } from './handle.ts';
import { own } from './own-property.ts';
import type { Cursor } from './state.ts';
import {
  attemptsOf,
  baselineGates,
  contextAt,
  dependantsOf,
  firstReady,
  hasTaskSource,
  isRunStep,
  loopIdOf,
  parallelOf,
  queuesMerges,
  retryOf,
  stepIndex,
  stepOf,
  subStepsOf,
  taskListOf,
  tasksIn,
  undroppedTasks,
  workAt,
} from './steps.ts';

export interface Evidence {
  receipts: Receipt[];
  tree?: string;
}

interface Entry {
  why: EventOf<'position.entered'>['why'];
  lease?: Lease | undefined;
  context?: EventOf<'position.entered'>['context'] | undefined;
  failures?: number;
  failedAt?: string;
  failure?: string;
  receipts?: Receipt[] | undefined;
  feedback?: string | undefined;
  output?: Text | undefined;
  tree?: string | undefined;
  preparing?: EventOf<'position.entered'>['preparing'] | undefined;
  baseline?: Baseline[] | undefined;
}

export function enterStep(
  batch: Batch,
  step: string,
  options: { from?: string | undefined; pivot?: boolean } = {},
): void {
  const transition = batch.definition.transitions?.find(
    (candidate) => candidate.from === options.from && candidate.to === step,
  );
  const context = options.pivot ? 'clear' : transition?.context;
  const forced = options.pivot || undefined;
  const arrival = { step, ...defined({ context, forced }) };
  const { when } = stepOf(batch.definition, step);
  if (when === undefined) return beginStep(batch, arrival);
  batch.emit('step.preparing', arrival);
  enterPosition(batch, { step }, { why: 'next', preparing: 'when' });
}

/** Its `when` holds, or it has none. */
export function beginStep(batch: Batch, arrival: Omit<EventOf<'step.entered'>, 'type' | 'now'>): void {
  const { step } = arrival;
  batch.emit('step.entered', arrival);
  const { type } = stepOf(batch.definition, step);
  if (type === 'loop') return openLoop(batch);
  enterPosition(batch, type === 'ralph' ? { step, iteration: 1 } : { step }, { why: 'next' });
}

/** A new entry asks for the context action of the position; a retry continues in the same context. */
export function enterPosition(batch: Batch, position: Position, entry: Entry): void {
  const fresh = entry.why === 'next' || entry.why === 'claim';
  const when = fresh && position.task !== undefined ? workAt(batch.definition, position).when : undefined;
  const baseline = fresh && baselineGates(batch.definition, position).length > 0 ? 'baseline' : undefined;
  const { failures = 0, preparing = when === undefined ? baseline : 'when', ...rest } = entry;
  const context =
    fresh && (!preparing || preparing === 'baseline')
      ? contextAt(batch.definition, batch.state, position, entry.why === 'claim')
      : undefined;
  const visit = (own(batch.state.visits, pathOf(position)) ?? 0) + 1;
  const { tree } = batch.caller;
  const session = preparing === 'tasks' ? batch.worker : undefined;
  batch.emit('position.entered', {
    ...position,
    visit,
    failures,
    ...defined({ context, tree, preparing, session }),
    ...defined(rest),
  });
}

/** Opens the next task of the current loop, or leaves the loop if no task is left. */
export function openLoop(batch: Batch): void {
  const step = stepOf(batch.definition, batch.state.step);
  const list = taskListOf(batch.state, step);
  if (!list) {
    const preparing = hasTaskSource(step) ? 'tasks' : undefined;
    return enterPosition(batch, { step: step.id }, { why: 'next', preparing });
  }
  const tasks = tasksIn(list);
  if (tasks.every((task) => task.end !== undefined)) {
    const wanted = undroppedTasks(list);
    const allLost = wanted.length > 0 && wanted.every((task) => task.end !== 'done');
    if (!allLost) return leaveStep(batch);
    return batch.emit('run.blocked', { reason: `every task of '${step.id}' failed or was skipped` });
  }
  if (parallelOf(step) > 1) return;
  const next = firstReady(batch.state, step);
  const [first] = subStepsOf(batch.definition, step);
  if (next && first)
    enterPosition(batch, { step: step.id, task: next.id, subStep: first.id }, { why: 'next' });
}

export function leaveStep(batch: Batch): void {
  const from = batch.state.step;
  batch.emit('step.completed', { step: from, ...defined({ session: batch.worker }) });
  enterNext(batch, { from });
}

export function enterNext(batch: Batch, options: { from?: string | undefined; pivot?: boolean }): void {
  const next = batch.definition.steps[stepIndex(batch.definition, batch.state.step) + 1];
  if (next) enterStep(batch, next.id, options);
  else batch.emit('run.completed', {});
}

export interface Reviewed {
  by: string;
  /** Who proved to be the reviewer. */
  principal?: Owner;
  /** The reviewer is the principal that did the work. */
  ownWork?: true;
}

/** Records the output with its evidence and moves on. */
export function complete(
  batch: Batch,
  cursor: Cursor,
  output: Text,
  evidence: Evidence,
  review?: Reviewed,
): void {
  const at = batch.at(cursor);
  const { step: id, task, iteration } = cursor;
  const step = stepOf(batch.definition, id);
  const session = batch.worker;
  const author = step.review && !review ? batch.author : undefined;
  batch.emit('position.completed', {
    at,
    output,
    ...evidence,
    ...defined({ reviewed: review?.by, ownWork: review?.ownWork, session, author }),
  });
  if (step.type === 'action') return leaveStep(batch);
  if (step.type === 'ralph') {
    if (endsRalph(batch, cursor, evidence.receipts)) return leaveStep(batch);
    return enterPosition(batch, { step: id, iteration: (iteration ?? 1) + 1 }, { why: 'next' });
  }
  if (task === undefined) {
    // A person approved leaving the loop without tasks.
    batch.emit('tasks.set', { loop: loopIdOf(step), tasks: [] });
    return openLoop(batch);
  }
  leaveSubStep(batch, cursor, 'next');
}

export function leaveSubStep(batch: Batch, cursor: Cursor, why: 'next' | 'claim'): void {
  const { step: id, task = '', subStep, lease } = cursor;
  const step = stepOf(batch.definition, id);
  const subSteps = subStepsOf(batch.definition, step);
  const next = subSteps[subSteps.findIndex((sub) => sub.id === subStep) + 1];
  if (next) return enterPosition(batch, { step: id, task, subStep: next.id }, { why, lease });
  const loop = loopIdOf(step);
  if (queuesMerges(batch.definition, batch.state, step))
    batch.emit('merge.queued', { loop, task, at: batch.at(cursor), failures: cursor.failures });
  else batch.emit('task.ended', { loop, task, end: 'done' });
  openLoop(batch);
}

/** Whether this is the last iteration, or its `until` gates passed. */
export function endsRalph(batch: Batch, cursor: Cursor, receipts: Receipt[]): boolean {
  const step = stepOf(batch.definition, cursor.step);
  return untilHolds(receipts) || (cursor.iteration ?? 1) >= (step.n ?? 1);
}

export function untilHolds(receipts: readonly Receipt[]): boolean {
  const until = receipts.filter((receipt) => receipt.role === 'until');
  return until.length > 0 && until.every((receipt) => receipt.pass);
}

/** `on_fail` decides; a position without one waits for a person. */
export function failPosition(batch: Batch, cursor: Cursor, reason: string): void {
  const at = batch.at(cursor);
  const work = workAt(batch.definition, cursor);
  const session = batch.worker;
  batch.emit('position.failed', { at, reason, ...defined({ session }) });
  const retry = retryOf(work);
  // A run step fails with its first red result, which is the failure.
  const failures = cursor.failures + 1 + (retry && !isRunStep(work) ? cursor.reds : 0);
  const again = retry ? failures < retry.retry : work.on_fail === 'retry' && failures <= attemptsOf(work);
  if (again) {
    const { feedback, receipts } = cursor;
    return reenterPosition(batch, cursor, {
      why: 'retry',
      failures,
      failedAt: at,
      failure: reason,
      feedback,
      receipts,
    });
  }
  const then = retry ? retry.then : work.on_fail;
  if (then === 'abort') return batch.emit('run.failed', { reason });
  if (then === 'skip') return skipTask(batch, cursor, at);
  batch.emit('position.blocked', { at, reason });
}

/** Starts the next visit of the same position, with the tree and the baseline of the first entry. */
export function reenterPosition(batch: Batch, cursor: Cursor, entry: Entry): void {
  const { step, task, subStep, iteration, lease, tree, baseline } = cursor;
  const position = defined({ step, task, subStep, iteration });
  const preparing = cursor.preparing?.kind;
  enterPosition(batch, position, { ...defined({ lease, tree, preparing, baseline }), ...entry });
}

function skipTask(batch: Batch, cursor: Cursor, at: string): void {
  const step = stepOf(batch.definition, cursor.step);
  const loop = loopIdOf(step);
  const lost = new Set([cursor.task ?? '']);
  batch.emit('task.ended', { loop, task: cursor.task ?? '', end: 'failed', at });
  const dependants = dependantsOf(tasksIn(taskListOf(batch.state, step)));
  // The set grows during the loop.
  for (const id of lost) {
    for (const task of dependants.get(id) ?? []) {
      if (task.end !== undefined || lost.has(task.id)) continue;
      lost.add(task.id);
      batch.emit('task.ended', { loop, task: task.id, end: 'skipped' });
    }
  }
  openLoop(batch);
}
