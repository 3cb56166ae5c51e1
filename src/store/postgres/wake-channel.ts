import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A batch was committed somewhere, or a token was made or revoked. */
export type Wake = 'runs' | 'tokens';
/** Without projects: any may be meant. */
export type WakeListener = (wake: Wake, projects?: ReadonlySet<number>) => void;

/** One connection of its own, which hears the other servers and tells them. */
export interface WakeChannel {
  /** After a commit, never inside it. Many at once are told as one. */
  send(project: number): void;
  /** Also called every few seconds though nothing was heard; answers how to stop listening. */
  on(listener: WakeListener): () => void;
  close(): Promise<void>;
}

export interface WakeChannelOptions {
  url: string;
  onError(error: Error): void;
  poll?: number;
}

export const channel = 'stepfast';
const gather = 20;
const longestPayload = 7000;
const longestPause = 2000;
const answerLimit = 10_000;

export function createWakeChannel({ url, onError, poll = 2000 }: WakeChannelOptions): WakeChannel {
  const listeners = new Set<WakeListener>();
  const moved = new Set<number>();
  const closing = new AbortController();
  let client: pg.Client | undefined;
  let working: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let polling: NodeJS.Timeout | undefined;
  let sending = false;

  function begin(): void {
    if (working || closing.signal.aborted) return;
    working = keepConnected();
    polling = setInterval(() => notifyListeners('runs'), poll);
    polling.unref();
  }

  async function keepConnected(): Promise<void> {
    for (let pause = 50; !closing.signal.aborted; pause = Math.min(2 * pause, longestPause)) {
      try {
        await listenOnce(() => {
          pause = 50;
        });
      } catch (error) {
        if (!closing.signal.aborted) onError(error instanceof Error ? error : new Error(String(error)));
      }
      client = undefined;
      await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  /** Ends when the connection does. */
  async function listenOnce(connected: () => void): Promise<void> {
    const opened = new pg.Client({
      connectionString: url,
      application_name: 'stepfast wake',
      keepAlive: true,
      connectionTimeoutMillis: answerLimit,
      query_timeout: answerLimit,
    });
    // A client that is ended while it connects never says so.
    let stop = (): void => {};
    const end = new Promise<void>((resolve, reject) => {
      opened.on('error', reject);
      opened.on('end', resolve);
      stop = resolve;
    });
    end.catch(() => {});
    closing.signal.addEventListener('abort', stop, { once: true });
    const connecting = opened.connect();
    connecting.catch(() => {});
    try {
      await Promise.race([connecting, end]);
      if (closing.signal.aborted) return;
      opened.on('notification', ({ payload }) => receive(payload ?? ''));
      // What it commits is only that somebody was woken.
      await opened.query(`set synchronous_commit = off; listen ${channel}`);
      client = opened;
      connected();
      // Whatever was said meanwhile was not heard.
      notifyListeners('runs');
      notifyListeners('tokens');
      flush();
      await end;
    } finally {
      closing.signal.removeEventListener('abort', stop);
      void opened.end().catch(() => {});
    }
  }

  function receive(payload: string): void {
    if (payload === 'tokens') return notifyListeners('tokens');
    const projects = payload.split(',').filter(Boolean).map(Number);
    notifyListeners('runs', projects.length > 0 ? new Set(projects) : undefined);
  }

  function notifyListeners(wake: Wake, projects?: ReadonlySet<number>): void {
    for (const listener of listeners) listener(wake, projects);
  }

  function flush(): void {
    if (timer || sending || moved.size === 0 || !client) return;
    timer = setTimeout(async () => {
      timer = undefined;
      const open = client;
      if (!open) return;
      const list = [...moved].join(',');
      moved.clear();
      sending = true;
      try {
        await open.query(`select pg_notify($1, $2)`, [channel, list.length > longestPayload ? '' : list]);
      } catch (error) {
        // Everybody looks every few seconds in any case.
        onError(error instanceof Error ? error : new Error(String(error)));
      } finally {
        sending = false;
        flush();
      }
    }, gather);
  }

  return {
    send(project) {
      begin();
      moved.add(project);
      flush();
    },
    on(listener) {
      begin();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closing.abort();
      clearInterval(polling);
      clearTimeout(timer);
      await working;
    },
  };
}
