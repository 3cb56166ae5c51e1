import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';
import { factsOf } from '../process-facts.ts';

/**
 * A file that the runner writes beside the gate output identifies its process. The pid in a journal is for display
 * only: a journal may come from anywhere, and its pid may be that of any process.
 */
export interface Mark {
  pid: number;
  host: string;
  /** Start time, since pids are reused. Absent where the system does not report it. */
  started?: string;
}

const named = /^runner-(\d{1,10})\.json$/;

/** Marks this process as a runner of these gates; returns a function to unmark. */
export function markRunner(logs: string, host: string): () => void {
  const mark = markOf(host);
  const file = join(logs, `runner-${mark.pid}.json`);
  mkdirSync(logs, { recursive: true });
  writeFileSync(file, `${JSON.stringify(mark)}\n`);
  return () => rmSync(file, { force: true });
}

/** Identifies this process. */
export function markOf(host: string): Mark {
  const { pid } = process;
  const started = factsOf(pid)?.started;
  return { pid, host, ...(started === undefined ? {} : { started }) };
}

/** `unknown` without a mark from this machine: then only the deadline ends the gates. */
export function runnerIs(logs: string, host: string): 'alive' | 'dead' | 'unknown' {
  const marks = marksIn(logs, host);
  if (marks.length === 0) return 'unknown';
  return marks.some(isRunning) ? 'alive' : 'dead';
}

/** Stops the runners of these gates: only processes whose command line contains these words. */
export function stopRunners(logs: string, host: string, words: readonly string[]): void {
  for (const mark of marksIn(logs, host)) {
    const facts = factsOf(mark.pid);
    if (!facts || facts.started !== mark.started || !words.every((word) => facts.command.includes(word)))
      continue;
    try {
      // The runner kills the process group of its command.
      process.kill(mark.pid, 'SIGTERM');
    } catch {
      // It has already ended.
    }
  }
}

function marksIn(logs: string, host: string): Mark[] {
  try {
    return readdirSync(logs).flatMap((name) => {
      const pid = Number(named.exec(name)?.[1] ?? 0);
      // 0 is the process group, 1 is init.
      if (pid <= 1) return [];
      const read: Partial<Mark> | null = JSON.parse(readFileSync(join(logs, name), 'utf8'));
      if (read?.host !== host) return [];
      return [{ pid, host, ...(typeof read.started === 'string' ? { started: read.started } : {}) }];
    });
  } catch {
    return [];
  }
}

export function isRunning({ pid, started }: Mark): boolean {
  return started === undefined ? isAlive(pid) : factsOf(pid)?.started === started;
}
