import { readFileSync } from 'node:fs';

const shells = /^(?:ba|da|z|k|a)?sh$|^busybox$/;
const mostShells = 3;

/** The process id of the host, which starts hooks through a shell. undefined where it cannot be determined. */
export function hostProcess(parent: number = process.ppid): number | undefined {
  let pid = parent;
  try {
    for (let count = 0; count < mostShells; count += 1) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      if (!shells.test(name)) return pid;
      pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }
  } catch {
    // No such file system, or the parent is gone.
  }
  return undefined;
}
