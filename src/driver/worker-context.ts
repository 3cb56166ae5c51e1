import type { Definition, State } from '../machine/index.ts';
import {
  type Environment,
  type Host,
  type HostDriver,
  isRefused,
  type LocalRuntime,
} from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import type { Progress } from './progress.ts';
import type { Timing } from './timing.ts';

/** What the merge queue needs. */
export interface QueueContext {
  runtime: LocalRuntime;
  run: string;
  /** What sessions leave uncommitted is committed. */
  commits: boolean;
  clock(): number;
  timing: Timing;
  /** Aborted when the person wants to stop, or another driver has taken the run. */
  signal: AbortSignal;
  report(progress: Progress): void;
}

/** What every part of a driver shares. */
export interface DriverContext extends QueueContext {
  host: Host;
  hostDriver: HostDriver;
  env: Environment;
  /** Starts Stepfast. */
  command: readonly string[];
  /** The directory of Stepfast's plugin. */
  plugin: string;
}

export const engine = { actor: { kind: 'engine' as const } };

export async function load({ runtime, run }: QueueContext): Promise<Loaded> {
  const view = await runtime.engine.view(run);
  if (!view) throw new Error(`the run ${run} was removed`);
  return view;
}

/** The workflow's agent with this name, if it declares one. */
export const agentNamed = ({ agents = {} }: Definition, name: string | undefined) =>
  name !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;

export const isPaused = ({ paused }: State): boolean => paused !== undefined;

/** For a reason that concerns no single position. */
export async function pauseFor({ runtime, run, report }: DriverContext, reason: string): Promise<void> {
  const name = reason.slice(0, 1000);
  const { reply } = await runtime.call({ type: 'pause' }, { actor: { kind: 'engine', name } }, { run });
  // A run that has ended cannot be paused, but the person must know.
  if (isRefused(reply)) report({ type: 'waits', for: 'person', reason });
}

/** Resolves after a time, or when the signal is aborted. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });
}
