import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';

/**
 * Which process runs gates is known from a file that the runner itself leaves beside their output. A journal tells it
 * to people only: it may come from anywhere, and a process id in it may be anybody's.
 */
interface Mark {
  pid: number;
  host: string;
  /** When the process began: ids are used again. Absent where the system does not tell. */
  started?: string;
}

const named = /^runner-(\d{1,10})\.json$/;

/** Marks this process as a runner of these gates; the answer takes the mark away. */
export function markRunner(logs: string, host: string): () => void {
  const { pid } = process;
  const started = factsOf(pid)?.started;
  const mark: Mark = { pid, host, ...(started === undefined ? {} : { started }) };
  const file = join(logs, `runner-${pid}.json`);
  mkdirSync(logs, { recursive: true });
  writeFileSync(file, `${JSON.stringify(mark)}\n`);
  return () => rmSync(file, { force: true });
}

/** `unknown` where no runner of this machine left a mark: then only the deadline ends the gates. */
export function runnerIs(logs: string, host: string): 'alive' | 'dead' | 'unknown' {
  const marks = marksIn(logs, host);
  if (marks.length === 0) return 'unknown';
  return marks.some(isRunning) ? 'alive' : 'dead';
}

/** Asks the runners of these gates to end. Only a process that was started with these words is asked. */
export function stopRunners(logs: string, host: string, words: readonly string[]): void {
  for (const mark of marksIn(logs, host)) {
    const facts = factsOf(mark.pid);
    if (!facts || facts.started !== mark.started || !words.every((word) => facts.command.includes(word)))
      continue;
    try {
      // The runner ends the group of the command that it runs.
      process.kill(mark.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
}

function marksIn(logs: string, host: string): Mark[] {
  try {
    return readdirSync(logs).flatMap((name) => {
      const pid = Number(named.exec(name)?.[1] ?? 0);
      // Neither everything nor what started everything.
      if (pid <= 1) return [];
      const read: Partial<Mark> | null = JSON.parse(readFileSync(join(logs, name), 'utf8'));
      if (read?.host !== host) return [];
      return [{ pid, host, ...(typeof read.started === 'string' ? { started: read.started } : {}) }];
    });
  } catch {
    return [];
  }
}

function isRunning({ pid, started }: Mark): boolean {
  return started === undefined ? isAlive(pid) : factsOf(pid)?.started === started;
}

/** Start time and command line of a process; undefined if it is gone or the system does not say. */
function factsOf(pid: number): { started: string; command: string } | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return factsByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may hold spaces and brackets; what comes after the last one is counted.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const started = rest[18];
    if (started === undefined || state === 'Z' || state === 'X') return undefined;
    return { started, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
  } catch {
    return undefined;
  }
}

const startLength = 'Sun Nov 15 07:00:00 2026'.length;

function factsByPs(pid: number): { started: string; command: string } | undefined {
  const args = ['-ww', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)];
  const { status, stdout } = spawnSync('ps', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const line = stdout?.trim() ?? '';
  if (status !== 0 || line.length <= startLength) return undefined;
  return { started: line.slice(0, startLength), command: line.slice(startLength + 1) };
}
