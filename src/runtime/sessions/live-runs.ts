import { ended, isWithin, type State } from '../../machine/index.ts';
import type { RunInfo } from '../../store/index.ts';
import { worktreesOf } from '../choose-run.ts';
import { type Binding, type SessionKey, sessionName } from './binding.ts';

/** A run that has not ended, with the fields that a session start needs. */
export interface LiveRun {
  run: string;
  workflow: string;
  summary?: string;
  status: State['status'];
  step: string;
  updatedAt: number;
  /** Of its live sessions, portable; empty: it may continue anywhere. */
  worktrees: string[];
  /** Its sessions, without those that another session replaced. */
  sessions: string[];
  leases: { holder: string; expires: number }[];
}

/** What shows whether a session is still running. */
export interface Presence {
  now: number;
  /** The clock of the run's leases, if it differs. */
  nowOf?(run: string): number;
  /** This machine, boot and process namespace. */
  boot: string;
  isAlive(pid: number): boolean;
}

const presentMs = 30 * 60_000;
const inactiveMs = 7 * 24 * 3_600_000;

/** Without activity for a week: listed, but not offered to new sessions. */
export const isInactive = ({ updatedAt }: { updatedAt: number }, now: number): boolean =>
  now - updatedAt > inactiveMs;

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

/** Seen within half an hour, not ended, and its process is alive as far as this machine can check. */
export function isPresent(binding: Binding, { now, boot, isAlive }: Presence): boolean {
  if (binding.endedAt !== undefined || now - binding.seenAt > presentMs) return false;
  return binding.pid === undefined || binding.boot !== boot || isAlive(binding.pid);
}

/** Whether a session other than the caller's is bound to the run and present. */
export const heldElsewhere = (
  run: string,
  session: string | undefined,
  bindings: readonly Binding[],
  presence: Presence,
): boolean =>
  bindings.some(
    (each) =>
      each.run === run &&
      (session === undefined || !isWithin(session, each.session)) &&
      isPresent(each, presence),
  );

/**
 * The other session that holds the run: one that is present, or the holder of a lease that has not expired. The
 * presence of a known session wins over its lease.
 */
export function holderOf(
  { run, leases }: LiveRun,
  me: SessionKey,
  bindings: readonly Binding[],
  presence: Presence,
): string | undefined {
  // Subagents of the same session do not count.
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
