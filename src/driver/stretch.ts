import { randomUUID } from 'node:crypto';
import type { Cursor } from '../machine/index.ts';
import { createBindings, type DrivenSession, type HostEvent, type TurnEnd } from '../runtime/index.ts';
import { drivenVariable, endProcesses, markedProcesses, portable, withCheckout } from '../workspace/index.ts';
import type { SessionReason } from './progress.ts';
import { sessionLogin } from './session-login.ts';
import { agentNamed, type DriverContext, load } from './worker-context.ts';

/** One session of the host: all turns between two resets of the context. */
export interface Stretch {
  readonly session: string;
  /** The workflow's agent that it works as. */
  readonly agent: string | undefined;
  /** No turn was sent yet. */
  isFresh: boolean;
  /** Its context was compacted, and it was not briefed since. */
  isCompacted: boolean;
  /** When the host last reported anything. */
  readonly lastEventAt: number;
  readonly inTool: boolean;
  send(prompt: string): Promise<TurnEnd>;
  /** In a turn, where the hooks of the host do not tell it in time. */
  spent?(): Promise<TurnEnd['spent']>;
  compact(): Promise<boolean>;
  interrupt(): Promise<void>;
  /** Ends the session and whatever it has left running. */
  end(graceMs?: number): Promise<void>;
}

export interface StretchOptions {
  worker: string;
  agent: string | undefined;
  cursor: Cursor;
  worktree: string;
  why: SessionReason;
  /** The session that it replaces. */
  from?: string | undefined;
}

/** The processes of a run's sessions carry this in their environment. */
const markerOf = (run: string, stretch: string): string => `${run}/${stretch}`;

/** Opens a session. It is known to the run before its first turn, so that hooks leave all decisions to the driver. */
export async function openStretch(context: DriverContext, options: StretchOptions): Promise<Stretch> {
  const { runtime, host, hostDriver, run, clock, report } = context;
  const { worker, agent, cursor, worktree, why } = options;
  const marker = markerOf(run, randomUUID());
  const { definition } = await load(context);
  let lastEventAt = clock();
  const open = new Set<string>();
  const { model, tools, cannot, permissions } = agentNamed(definition, agent) ?? {};
  const login = await sessionLogin(context, why);
  const driven: DrivenSession = await hostDriver.open({
    cwd: worktree,
    env: {
      ...context.env,
      ...login?.env,
      [drivenVariable]: marker,
      ...(cursor.slot === undefined ? {} : { STEPFAST_SLOT: String(cursor.slot) }),
    },
    command: context.command,
    plugin: context.plugin,
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(cannot === undefined ? {} : { cannot }),
    ...(permissions === undefined ? {} : { permissions }),
    onSession,
    onEvent,
  });
  const { session } = driven;
  await bind(session, { pid: driven.pid, boot: runtime.workspace.gates.host });
  return {
    session,
    agent,
    isFresh: true,
    isCompacted: false,
    get lastEventAt() {
      return lastEventAt;
    },
    get inTool() {
      return open.size > 0;
    },
    send(prompt) {
      lastEventAt = clock();
      open.clear();
      return driven.send(prompt);
    },
    ...(driven.spent && { spent: driven.spent }),
    compact: () => driven.compact(),
    interrupt: () => driven.interrupt(),
    end,
  };

  async function onSession(id: string): Promise<void> {
    await announce(context, { ...options, session: id, as: login?.as });
    await bind(id);
    report({ type: 'session', worker, session: id, why, ...(agent === undefined ? {} : { agent }) });
  }

  function bind(id: string, process: { pid?: number; boot?: string } = {}): Promise<void> {
    return createBindings(runtime.project.directory).put({
      host: host.name,
      session: id,
      run,
      cwd: portable(worktree, runtime.project.root),
      ...process,
      driven: true,
      boundAt: clock(),
      seenAt: clock(),
    });
  }

  function onEvent(event: HostEvent): void {
    lastEventAt = clock();
    if (event.type === 'tool') {
      const { id, name, detail } = event;
      if (!event.open) return void open.delete(id);
      open.add(id);
      const shown = detail?.replaceAll(`${worktree}/`, '');
      report({ type: 'tool', worker, name, ...(shown === undefined ? {} : { detail: shown }) });
    } else if (event.type === 'text') report({ type: 'said', worker, text: event.text });
    else if (event.type === 'denied') report({ type: 'denied', worker, tool: event.tool });
    else if (event.type === 'retry') {
      const { status, resetAt, waitMs } = event;
      const until = resetAt ?? (waitMs === undefined ? undefined : clock() + waitMs);
      report({
        type: 'retry',
        worker,
        ...(status === undefined ? {} : { status }),
        ...(until === undefined ? {} : { until }),
      });
    }
  }

  async function end(graceMs?: number): Promise<void> {
    await driven.end(graceMs);
    const left = markedProcesses(marker);
    await endProcesses(left);
    for (const { command } of left) report({ type: 'leftover', worker, command });
    await runtime.call({ type: 'session', event: { type: 'ended' } }, { session }, { run });
    await createBindings(runtime.project.directory).drop({ host: host.name, session });
  }
}

/** Reports the session to the run, with its predecessor, whose tasks and boundaries it takes over. */
async function announce(
  { runtime, host, run, clock }: DriverContext,
  { session, worktree, from, as }: StretchOptions & { session: string; as: string | undefined },
): Promise<void> {
  const { workspace, project } = runtime;
  await runtime.engine.execute(run, {
    type: 'session',
    now: clock(),
    session,
    event: {
      type: 'started',
      host: host.name,
      witness: 'driver',
      worktree: withCheckout(portable(worktree, project.root), workspace.checkout),
      environment: workspace.environment(),
      ...(from === undefined ? {} : { from }),
      ...(as === undefined ? {} : { as }),
    },
  });
}
