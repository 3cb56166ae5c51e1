import { ended, type State } from '../../machine/index.ts';
import type { RunInfo } from '../../store/index.ts';
import { worktreesOf } from '../choose-run.ts';
import { type Binding, type SessionKey, sessionName } from './binding.ts';

/** A run that has not ended, as far as it matters to a session that begins. */
export interface LiveRun {
  run: string;
  workflow: string;
  summary?: string;
  status: State['status'];
  step: string;
  updatedAt: number;
  /** Of its sessions that have not ended, portable; none: it may go on anywhere. */
  worktrees: string[];
  /** Sessions that it knows, without those whose place another took. */
  sessions: string[];
  leases: { holder: string; expires: number }[];
}

/** What tells whether somebody is still there. */
export interface Presence {
  now: number;
  /** By the clock of the run's leases, where that is another. */
  nowOf?(run: string): number;
  /** This machine, boot and process space. */
  boot: string;
  isAlive(pid: number): boolean;
}

const presentMs = 30 * 60_000;

export const liveRuns = (runs: readonly RunInfo[]): LiveRun[] =>
  runs.flatMap(({ state }) => (state && !ended(state) ? [liveRun(state)] : []));

function liveRun(state: State): LiveRun {
  const { run, workflow, summary, status, step, updatedAt } = state;
  const sessions = Object.entries(state.sessions);
  const replaced = new Set(sessions.flatMap(([, { from }]) => from ?? []));
  const gone = new Set(sessions.flatMap(([id, { endedAt }]) => (endedAt === undefined ? [] : [id])));
  return {
    run,
    workflow,
    ...(summary === undefined ? {} : { summary }),
    status,
    step,
    updatedAt,
    worktrees: worktreesOf(state),
    sessions: sessions.map(([id]) => id).filter((id) => !replaced.has(id)),
    leases: Object.values(state.cursors).flatMap(({ lease }) =>
      lease && !gone.has(lease.holder) ? [{ holder: lease.holder, expires: lease.expires }] : [],
    ),
  };
}

/** Seen within half an hour, not ended, and its process is there as far as this machine can tell. */
export function isPresent(binding: Binding, { now, boot, isAlive }: Presence): boolean {
  if (binding.endedAt !== undefined || now - binding.seenAt > presentMs) return false;
  return binding.pid === undefined || binding.boot !== boot || isAlive(binding.pid);
}

/**
 * Who else holds the run: a session that is present, or the holder of a lease that has not run out. What is known of a
 * session's presence wins over its lease.
 */
export function holderOf(
  { run, leases }: LiveRun,
  me: SessionKey,
  bindings: readonly Binding[],
  presence: Presence,
): string | undefined {
  // A session's subagents are its own.
  const others = bindings.filter(({ host, session }) => host !== me.host || session !== me.session);
  const [present] = others
    .filter((binding) => binding.run === run && isPresent(binding, presence))
    .sort((a, b) => b.seenAt - a.seenAt);
  if (present) return sessionName(present);
  const known = new Set(bindings.map(sessionName));
  const now = presence.nowOf?.(run) ?? presence.now;
  return leases.find(({ holder, expires }) => expires > now && holder !== me.session && !known.has(holder))
    ?.holder;
}
