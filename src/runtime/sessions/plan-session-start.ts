import { isHere } from '../choose-run.ts';
import { type Binding, type SessionKey, sameKey } from './binding.ts';
import { holderOf, isInactive, type LiveRun, type Presence } from './live-runs.ts';

/** Why a session started. */
export type Source = 'startup' | 'resume' | 'clear' | 'compact' | 'fork';

export interface SessionStart {
  source: Source;
  host: string;
  session: string;
  /** An empty type is the host's own summarizer. */
  agent?: { id: string; type?: string };
  /** Both portable. */
  worktree: string;
  cwd: string;
  /** The host's process. */
  pid?: number;
}

/**
 * What a new session is shown: the briefing of the run that it is bound to, an offer to continue the only run of this
 * worktree, a note that another session holds it, a list of runs, or nothing.
 */
export type SessionIntro =
  | { kind: 'brief' | 'offer'; run: string }
  | { kind: 'two_lines'; run: string; heldBy: string }
  /** The most recently changed of `count` runs. */
  | { kind: 'list'; runs: LiveRun[]; count: number }
  | { kind: 'nothing' };

export type SessionPlan = SessionIntro & {
  /** The binding to store. Without one, the first call with a handle binds the session. */
  binding?: Binding;
  /** The binding that it replaces. */
  inherits?: Binding;
  /** Bindings to remove. */
  drop: SessionKey[];
};

const clearMs = 30_000;
const mostListed = 5;

export const keyOf = ({
  host,
  session,
  agent,
}: Pick<SessionStart, 'host' | 'session' | 'agent'>): SessionKey => ({
  host,
  session,
  ...(agent === undefined ? {} : { agent: agent.id }),
});

/** Decides what a new session is shown and which run it is bound to. Pure. */
export function beginSession(
  start: SessionStart,
  runs: readonly LiveRun[],
  bindings: readonly Binding[],
  presence: Presence,
): SessionPlan {
  if (start.agent?.type === '') return { kind: 'nothing', drop: [] };
  const key = keyOf(start);
  const own = bindings.find((binding) => sameKey(binding, key));
  const isLive = (run: string): boolean => runs.some((each) => each.run === run);
  const drop = own && !isLive(own.run) ? [key] : [];
  const known = own && isLive(own.run) ? own : rebuilt(start, runs, presence.now);
  if (known && start.source !== 'fork')
    return { kind: 'brief', run: known.run, binding: refreshed(known, start, presence), drop };
  if (start.agent) return { kind: 'nothing', drop };
  const left = start.source === 'clear' ? clearedBindingFor(start, bindings, presence) : undefined;
  if (left && isLive(left.run)) {
    const { agent: _, cleared: _cleared, endedAt: _ended, ...rest } = left;
    const binding = refreshed({ ...rest, session: start.session, boundAt: presence.now }, start, presence);
    return { kind: 'brief', run: left.run, binding, inherits: left, drop: [...drop, keyIn(left)] };
  }
  const intro = introFor(start, runs, bindings, presence);
  // A compacted session heard of the others when it started.
  if (start.source === 'compact' && intro.kind !== 'offer') return { kind: 'nothing', drop };
  return { ...intro, drop };
}

/** For a session without a binding: the only active run of this worktree, or a list. */
function introFor(
  start: SessionStart,
  runs: readonly LiveRun[],
  bindings: readonly Binding[],
  presence: Presence,
): SessionIntro {
  const here = runs
    .filter(
      (run) => isHere(run, start.worktree) && !isInactive(run, presence.nowOf?.(run.run) ?? presence.now),
    )
    .sort((a, b) => b.updatedAt - a.updatedAt);
  const [only, second] = here;
  if (!only) return { kind: 'nothing' };
  if (second) return { kind: 'list', runs: here.slice(0, mostListed), count: here.length };
  const heldBy = holderOf(only, keyOf(start), bindings, presence);
  if (heldBy !== undefined) return { kind: 'two_lines', run: only.run, heldBy };
  return { kind: 'offer', run: only.run };
}

/** Rebuilds a lost binding from the only run that knows the session. */
function rebuilt(start: SessionStart, runs: readonly LiveRun[], now: number): Binding | undefined {
  if (start.agent) return undefined;
  const [only, second] = runs.filter(({ sessions }) => sessions.includes(start.session));
  if (!only || second) return undefined;
  const { host, session, cwd } = start;
  return { host, session, run: only.run, cwd, boundAt: now, seenAt: now };
}

/** The binding of the session that was just cleared and that this one replaces. */
function clearedBindingFor(
  start: SessionStart,
  bindings: readonly Binding[],
  presence: Presence,
): Binding | undefined {
  const { now, boot, isAlive } = presence;
  const waiting = bindings
    .filter(({ host, agent }) => host === start.host && agent === undefined)
    .filter(({ cleared, endedAt = 0 }) => cleared && now - endedAt <= clearMs)
    .sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  const comparable = (left: Binding): boolean =>
    start.pid !== undefined && left.pid !== undefined && left.boot === boot;
  const same = waiting.find((left) => comparable(left) && left.pid === start.pid);
  if (same) return same;
  // A live process of another host keeps its own binding.
  const [only, second] = waiting.filter(
    (left) => left.cwd === start.cwd && !(comparable(left) && isAlive(left.pid ?? 0)),
  );
  return second ? undefined : only;
}

function refreshed(binding: Binding, { cwd, pid, source }: SessionStart, { now, boot }: Presence): Binding {
  const { endedAt: _ended, cleared: _cleared, pid: _pid, boot: _boot, pressure, cost, ...rest } = binding;
  const emptied = source === 'clear' || source === 'compact';
  return {
    ...rest,
    ...(emptied || pressure === undefined ? {} : { pressure }),
    // After a clear it is another session, whose cost begins with it.
    ...(source === 'clear' || !cost ? {} : { cost }),
    cwd,
    ...(pid === undefined ? {} : { pid, boot }),
    seenAt: now,
  };
}

const keyIn = ({ host, session, agent }: Binding): SessionKey => ({
  host,
  session,
  ...(agent === undefined ? {} : { agent }),
});
