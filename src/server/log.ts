import { destination, type Logger, pino } from 'pino';

/** Never logs bodies, tokens or query strings. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'debug' | 'flush'>;

/** Writes JSON lines, by default to stdout. Writes are buffered: call `flush` before exiting. */
export function createLog(options: { level?: string; write?(line: string): void } = {}): Log {
  const { level = 'info', write } = options;
  const stream = write
    ? { write }
    : destination({ fd: 1, sync: false, minLength: 4096, periodicFlush: 1000 });
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, stream);
}
