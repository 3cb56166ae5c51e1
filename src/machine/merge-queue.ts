import type { CommandOf, Receipt, SubStep } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { staleDriver } from './driver.ts';
import { enterPosition, openLoop } from './flow.ts';
import { pathOf } from './handle.ts';
import { createLease } from './lease.ts';
import { own } from './own-property.ts';
import { reporterOf } from './ownership.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Merge } from './state.ts';
import { attemptsOf, baselineGates, loopIdOf, retryOf, stepOf, subStepsAgain } from './steps.ts';

const maxReason = 2000;

/** The driver merges this task now. */
export function mergeStarted(batch: Batch, command: CommandOf<'mergeStarted'>): Refusal | undefined {
  const { task, base, commit } = command;
  const found = mergeOf(batch, command);
  if ('code' in found) return found;
  if (found.state !== 'queued' && found.state !== 'merging') return refuse('no_merge', { task });
  batch.emit('merge.started', { loop: loopOf(batch), task, base, commit });
  return undefined;
}

/** The branch is merged and its gates were green, or the task goes back to an agent. */
export function mergeFinished(batch: Batch, command: CommandOf<'mergeFinished'>): Refusal | undefined {
  const { task, result, files, tree } = command;
  const found = mergeOf(batch, command);
  if ('code' in found) return found;
  if (found.state !== 'merging' && !(found.state === 'queued' && result === 'conflict'))
    return refuse('no_merge', { task });
  const loop = loopOf(batch);
  const receipts = receiptsOf(command);
  if (result === 'merged') {
    const commit = command.commit ?? found.commit ?? '';
    // The run may end with this merge, and nothing can be said afterwards.
    if (batch.state.held) batch.emit('queue.resumed', {});
    batch.emit('merge.finished', { loop, task, commit, receipts, ...defined({ tree }) });
    batch.emit('task.ended', { loop, task, end: 'done' });
    openLoop(batch);
    return undefined;
  }
  const reason = (command.reason ?? result).slice(0, maxReason);
  batch.emit('merge.failed', { loop, task, why: result, reason, receipts, ...defined({ files }) });
  const work = subStepFor(batch);
  const failures = found.failures + 1;
  const retry = retryOf(work);
  if (retry ? failures < retry.retry : failures <= attemptsOf(work)) return undefined;
  if (retry?.then === 'abort') batch.emit('run.failed', { reason });
  else batch.emit('merge.parked', { loop, task, reason });
  return undefined;
}

/** A condition of the repository that only a person can change: nothing is counted against the task. */
export function holdQueue(batch: Batch, command: CommandOf<'holdQueue'>): Refusal | undefined {
  const { why, reason = '', head } = command;
  const stale = staleDriver(batch, command.epoch);
  if (stale) return stale;
  const { held } = batch.state;
  if (why === undefined) {
    if (held) batch.emit('queue.resumed', {});
  } else if (held?.why !== why || held.reason !== reason || held.head !== head)
    batch.emit('queue.held', { why, reason: reason.slice(0, maxReason), ...defined({ head }) });
  return undefined;
}

/** A person wants a parked task to be tried again. */
export function retryMerge(batch: Batch, command: CommandOf<'retryMerge'>): Refusal | undefined {
  const { task, actor } = command;
  if (own(batch.state.merges, task)?.state !== 'parked') return refuse('no_merge', { task });
  batch.emit('merge.retried', { loop: loopOf(batch), task, by: actor?.name ?? 'person' });
  return undefined;
}

/** Gives a task whose merge failed to a session: it is first in line. */
export function claimReturned(batch: Batch, task: string, holder: string): void {
  const merge = own(batch.state.merges, task);
  const { failures = 0, reason, receipts, baseline: before } = merge ?? {};
  const step = stepOf(batch.definition, batch.state.step);
  const epoch = (own(own(batch.state.tasks, loopIdOf(step))?.byId, task)?.epoch ?? 0) + 1;
  const position = { step: step.id, task, subStep: subStepFor(batch).id };
  const failure = reason === undefined ? {} : { failure: reason };
  const baseline = before?.path === pathOf(position) ? before.said : undefined;
  // A sub-step that was skipped has none yet.
  const isNew = !baseline && baselineGates(batch.definition, position).length > 0;
  const lease = createLease(batch, holder, epoch);
  enterPosition(batch, position, {
    why: 'retry',
    ...{ lease, failures, receipts, baseline },
    ...(isNew && { preparing: 'baseline' as const }),
    ...failure,
  });
}

function subStepFor({ definition, state }: Batch): SubStep {
  const [first] = subStepsAgain(definition, state.step);
  if (!first) throw new RangeError(`'${state.step}' has no sub-step`);
  return first;
}

function mergeOf(batch: Batch, { epoch, task }: { epoch: number; task: string }): Merge | Refusal {
  return (
    staleDriver(batch, epoch) ??
    own(batch.state.merges, task) ??
    refuse('no_merge', { task: task.slice(0, 80) })
  );
}

const loopOf = ({ definition, state }: Batch): string => loopIdOf(stepOf(definition, state.step));

function receiptsOf(command: CommandOf<'mergeFinished'>): Receipt[] {
  const { receipts = [], gates = [] } = command;
  const reportedBy = reporterOf(command);
  return receipts.map((result) => ({
    ...result,
    role: 'gate',
    what: gates[result.gate] ?? '',
    ...defined({ reportedBy }),
  }));
}
