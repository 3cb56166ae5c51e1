import { readFileSync } from 'node:fs';

/** False for zombies too. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    // Without /proc the signal decides.
    return (
      error instanceof Error && 'syscall' in error && error.syscall === 'open' && process.platform !== 'linux'
    );
  }
}
