import { type Binding, type SessionKey, sessionName } from './binding.ts';
import type { LiveRun } from './live-runs.ts';

/**
 * Whether a stop of this session concerns the run; the machine's `mayStop` decides the rest. A subagent is held only by
 * its claimed tasks, the host's own summarizer never.
 */
export function concernsStop(
  stopping: SessionKey & { agentType?: string },
  binding: Binding | undefined,
  runs: readonly LiveRun[],
): boolean {
  const run = binding && runs.find((each) => each.run === binding.run);
  if (!run || stopping.agentType === '') return false;
  return stopping.agent === undefined || run.leases.some(({ holder }) => holder === sessionName(stopping));
}
