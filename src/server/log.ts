import { destination, type Logger, pino } from 'pino';

/** What the server tells of itself; never bodies, tokens or query strings. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'debug' | 'flush'>;

/** JSON lines, by default to stdout; written behind, so flush it at the end. */
export function createLog(options: { level?: string; write?(line: string): void } = {}): Log {
  const { level = 'info', write } = options;
  const stream = write
    ? { write }
    : destination({ fd: 1, sync: false, minLength: 4096, periodicFlush: 1000 });
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, stream);
}
