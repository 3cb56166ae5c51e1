import type { CommandOf } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { State } from './state.ts';

/** `finally`: commands after the end of a run, at most once for each end. They never change how it ended. */

/** The run has ended, and its cleanup has not started. */
export const needsCleanup = ({ cleanup }: State): boolean => cleanup?.state === 'pending';

/** The first runner that reports cleans up. */
export function cleanupStarted(batch: Batch, { runner }: CommandOf<'cleanupStarted'>): Refusal | undefined {
  const { state } = batch;
  if (!needsCleanup(state)) return stale(state);
  batch.emit('cleanup.started', defined({ runner }));
  return undefined;
}

export function cleanupFinished(batch: Batch, command: CommandOf<'cleanupFinished'>): Refusal | undefined {
  const { state, definition } = batch;
  const { step, pass, exit, tail, runner } = command;
  const { cleanup } = state;
  const isMine = cleanup?.runner?.pid === runner?.pid && cleanup?.runner?.host === runner?.host;
  const isOpen =
    definition.finally?.some(({ id }) => id === step) && !cleanup?.done?.some(({ step: id }) => id === step);
  if (cleanup?.state !== 'started' || !isMine || !isOpen) return stale(state);
  batch.emit('cleanup.finished', { step, pass, ...defined({ exit, tail }) });
  return undefined;
}

const stale = ({ run, status }: State): Refusal => refuse('stale_gates', { run, status });
