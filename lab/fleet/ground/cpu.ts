import { readFileSync } from 'node:fs';

/** Length of a clock tick on Linux. */
const tickMs = 10;

/** CPU time of a process and all its descendants in milliseconds; 0 if unknown. */
export function cpuOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields after the process name, which may contain anything.
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

/** The process id of a cluster's postmaster. */
export function postmasterOf(directory: string): number | undefined {
  try {
    return Number(readFileSync(`${directory}/data/postmaster.pid`, 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}
