import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessFacts {
  /** As the system writes it; with the pid it identifies a process, since pids are reused. */
  started: string;
  command: string;
}

/** undefined if the process is gone or cannot be inspected. */
export function factsOf(pid: number): ProcessFacts | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return factsByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name may contain spaces and parentheses; fields count from the last one.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const started = rest[18];
    if (started === undefined || state === 'Z' || state === 'X') return undefined;
    return { started, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
  } catch {
    return undefined;
  }
}

const startLength = 'Sun Nov 15 07:00:00 2026'.length;

function factsByPs(pid: number): ProcessFacts | undefined {
  const args = ['-ww', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)];
  const { status, stdout } = spawnSync('ps', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const line = stdout?.trim() ?? '';
  if (status !== 0 || line.length <= startLength) return undefined;
  return { started: line.slice(0, startLength), command: line.slice(startLength + 1) };
}
