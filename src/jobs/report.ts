/** The part of pino's logger that jobs use. */
export interface JobsLog {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
}

const quietMs = 60_000;

/** Logs each distinct error at most once a minute: an unreachable database fails every loop. */
export function createReporter(
  log: JobsLog | undefined,
  clock: () => number,
  onError: (message: string) => void,
): (error: unknown) => void {
  const last = new Map<string, number>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    onError(message);
    const now = clock();
    for (const [known, at] of last) if (now - at >= quietMs) last.delete(known);
    if (last.has(message)) return;
    last.set(message, now);
    log?.warn({ err: error }, 'job failed');
  };
}
