import type { Engine } from '../../engine/index.ts';
import {
  type Caller,
  type Command,
  cursorAt,
  ended as isOver,
  isWithin,
  type SessionFacts,
  type State,
} from '../../machine/index.ts';
import { type Project, portable, withCheckout } from '../../workspace/index.ts';
import { type Binding, type SessionKey, sessionName } from './binding.ts';
import { type Bindings, createBindings } from './binding-files.ts';
import { type LiveRun, liveRuns, type Presence } from './live-runs.ts';
import { beginSession, type SessionPlan, type SessionStart, type Source } from './plan-session-start.ts';
import { concernsStop } from './stop-concerns-run.ts';

/** Records what hooks see of sessions. Independent of the host. */
export interface Sessions {
  /** Stores and removes bindings as planned, and reports the session to its run. Write errors are ignored. */
  begin(start: Omit<SessionStart, 'worktree' | 'cwd'> & { cwd: string }): Promise<SessionPlan>;
  /** A call of the session was accepted and answered with this handle: binds the session, unless the run has ended. */
  called(key: SessionKey, call: { run: string; at?: string; cwd: string; pid?: number }): Promise<void>;
  /** The session is alive. Written at most once a minute. */
  seen(key: SessionKey): Promise<void>;
  /** Its subagents end with it. */
  ended(key: SessionKey, how: { cleared: boolean }): Promise<void>;
  /** The binding to pass to `mayStop`; undefined if no run is concerned. */
  stopping(key: SessionKey & { agentType?: string }): Promise<Binding | undefined>;
}

interface SessionsOptions {
  engine: Engine;
  project: Project;
  clock(): number;
  /** The clock of a run, if it differs. */
  nowOf?(run: string): number;
  /** Of `bootId`. */
  boot: string;
  /** Of `sessionEnvironment`. */
  environment(): Record<string, string>;
  isAlive(pid: number): boolean;
  bindings?: Bindings;
  /** Of `checkoutId`, if runs are on a server. */
  checkout?: string | undefined;
  /** Called if a session could not be reported to its run. */
  onError?(error: unknown): void;
}

const quietMs = 60_000;

export function createSessions(options: SessionsOptions): Sessions {
  const { engine, project, clock, nowOf, boot, isAlive } = options;
  const bindings = options.bindings ?? createBindings(project.directory);
  const worktree = withCheckout(portable(project.worktree, project.root), options.checkout);
  return { begin, called, seen, ended, stopping };

  async function begin({ cwd, ...rest }: Parameters<Sessions['begin']>[0]): Promise<SessionPlan> {
    const start: SessionStart = { ...rest, cwd: portable(cwd, project.root), worktree };
    const presence: Presence = { now: clock(), boot, isAlive, ...(nowOf ? { nowOf } : {}) };
    const runs = await live();
    const known = await bindings.list();
    const beginning = beginSession(start, runs, known, presence);
    const { binding, inherits, drop } = beginning;
    for (const key of drop) await quietly(bindings.drop(key));
    if (binding) {
      await quietly(bindings.put(binding));
      await reportToRun(binding, inherits, start.source).catch((error: unknown) => options.onError?.(error));
    }
    if (start.source === 'startup')
      await quietly(bindings.sweep(new Set(runs.map(({ run }) => run)), presence.now));
    return beginning;
  }

  /** Reports a new or returning session and a context reset to the run. */
  async function reportToRun(binding: Binding, inherits: Binding | undefined, source: Source): Promise<void> {
    const session = sessionName(binding);
    const caller: Caller = { now: clock(), session };
    const state = (await engine.view(binding.run))?.state;
    const before = state && Object.hasOwn(state.sessions, session) ? state.sessions[session] : undefined;
    if (!before || before.endedAt !== undefined) {
      const from = inherits && sessionName(inherits);
      await engine.execute(binding.run, { ...caller, ...started(binding.host, from) });
    }
    if (source !== 'clear' && source !== 'compact') return;
    const after = (await engine.view(binding.run))?.state;
    if (after) await engine.execute(binding.run, resetOf(after, binding, source, caller.now));
  }

  function started(host: string, from: string | undefined) {
    const facts: SessionFacts = {
      host,
      witness: 'hooks',
      worktree,
      environment: options.environment(),
      ...(from === undefined ? {} : { from }),
    };
    return { type: 'session', event: { type: 'started', ...facts } } as const;
  }

  async function called(
    { host, session, agent }: SessionKey,
    { run, at, cwd, pid }: Parameters<Sessions['called']>[1],
  ): Promise<void> {
    const now = clock();
    const key = { host, session, ...(agent === undefined ? {} : { agent }) };
    const state = (await engine.view(run))?.state;
    if (!state || isOver(state)) return await bindings.drop(key);
    const known = await bindings.get(key);
    const binding: Binding = {
      ...key,
      run,
      ...(at === undefined ? {} : { at }),
      cwd: portable(cwd, project.root),
      ...(pid === undefined ? {} : { pid, boot }),
      boundAt: known?.run === run ? known.boundAt : now,
      seenAt: now,
      ...(known?.driven && { driven: true }),
      ...(known?.pressure === undefined ? {} : { pressure: known.pressure }),
      ...(known?.run === run && known.cost ? { cost: known.cost } : {}),
    };
    await bindings.put(binding);
    await reportToRun(binding, undefined, 'startup');
  }

  async function seen(key: SessionKey): Promise<void> {
    const known = await bindings.get(key);
    if (!known || clock() - known.seenAt < quietMs) return;
    await bindings.put({ ...known, seenAt: clock() });
    await engine.execute(known.run, {
      now: clock(),
      session: sessionName(known),
      type: 'session',
      event: { type: 'seen' },
    });
  }

  async function ended(key: SessionKey, { cleared }: { cleared: boolean }): Promise<void> {
    const known = await bindings.get(key);
    if (known) await end(known, cleared);
    if (key.agent !== undefined) return;
    const own = (await bindings.list()).filter(
      ({ host, session }) => host === key.host && session === key.session,
    );
    for (const binding of own)
      if (binding.agent !== undefined && binding.endedAt === undefined) await end(binding, false);
  }

  async function end(binding: Binding, cleared: boolean): Promise<void> {
    const now = clock();
    await bindings.put({ ...binding, endedAt: now, ...(cleared ? { cleared } : {}) });
    await engine.execute(binding.run, {
      now,
      session: sessionName(binding),
      type: 'session',
      event: { type: 'ended' },
    });
  }

  async function stopping(key: SessionKey & { agentType?: string }): Promise<Binding | undefined> {
    const known = await bindings.get(key);
    return known && concernsStop(key, known, await live()) ? known : undefined;
  }

  async function live(): Promise<LiveRun[]> {
    return liveRuns(await engine.runs());
  }
}

/** The command that reports a context reset of a bound session. */
export function resetOf(state: State, binding: Binding, saw: 'clear' | 'compact', now: number): Command {
  const at = askedElsewhere(state, binding);
  const session = sessionName(binding);
  return { now, session, type: 'boundary', by: 'hook', saw, at };
}

/** A call without a hook has a session id of the MCP server, so the reset names the position by its handle. */
function askedElsewhere(state: State, { at, ...key }: Binding): string | undefined {
  const asked = cursorAt(state, at)?.boundary?.session;
  const seen = asked !== undefined && Object.hasOwn(state.sessions, asked) && state.sessions[asked]?.witness;
  return asked === undefined || seen || isWithin(asked, sessionName(key)) ? undefined : at;
}

async function quietly(done: Promise<void>): Promise<void> {
  await done.catch(() => {});
}
