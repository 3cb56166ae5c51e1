/** What pino's logger is, as far as jobs use it. */
export interface JobsLog {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
}

const quietMs = 60_000;

/** Tells what fails, the same thing once a minute: a database that is away fails every loop. */
export function createReporter(
  log: JobsLog | undefined,
  clock: () => number,
  told: (message: string) => void,
): (error: unknown) => void {
  const last = new Map<string, number>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    told(message);
    const now = clock();
    for (const [known, at] of last) if (now - at >= quietMs) last.delete(known);
    if (last.has(message)) return;
    last.set(message, now);
    log?.warn({ err: error }, 'a job failed');
  };
}
