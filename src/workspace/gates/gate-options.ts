import type { Engine } from '../../engine/index.ts';
import type { Project } from '../project.ts';
import type { Trust } from '../trust.ts';

/** Of the supervisor and the runner. */
export interface GateOptions {
  project: Project;
  trust: Trust;
  env: Readonly<Record<string, string | undefined>>;
  /** This machine, boot and process id namespace. */
  host: string;
  /** For cached file hashes. */
  cacheDirectory: string;
}

/** The gates of one advance, and where their results are reported. */
export interface GateRun {
  engine: Engine;
  clock(): number;
  run: string;
  id: string;
}

/** In a process of its own, which stops its command before it ends. */
export function abortOnSignal(): AbortController {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop;
}
