import { readFileSync } from 'node:fs';

/** A tick of the kernel's accounting, as every Linux has it. */
const tickMs = 10;

/** Processor time of a process and all that it started, dead or alive, in milliseconds; 0 where it cannot be known. */
export function cpuOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return (
      own + (children === '' ? 0 : children.split(' ').reduce((sum, child) => sum + cpuOf(Number(child)), 0))
    );
  } catch {
    return 0;
  }
}

/** Of the postmaster of a cluster. */
export function postmasterOf(directory: string): number | undefined {
  try {
    return Number(readFileSync(`${directory}/data/postmaster.pid`, 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}
