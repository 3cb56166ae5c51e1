import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether the process is alive and its command line has these words: an id may belong to another one by now. */
export function isOf(pid: number, words: readonly string[]): boolean {
  const line = commandLine(pid);
  return pid > 1 && words.every((word) => line.includes(word));
}

function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
