/** Whether there is such a process; ids are used again, so it may be another by now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is there all the same.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
