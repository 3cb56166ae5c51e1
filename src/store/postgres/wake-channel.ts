import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** `runs`: a batch was committed; `tokens`: a token was created or revoked. */
export type Wake = 'runs' | 'tokens';
/** Without `projects` any project may have changed. */
export type WakeListener = (wake: Wake, projects?: ReadonlySet<number>) => void;

/** Notifies other servers and receives their notifications, on a separate connection. */
export interface WakeChannel {
  /** Call it after a commit, never inside the transaction. Several calls are sent as one notification. */
  send(project: number): void;
  /** Also calls the listener every few seconds; returns a function that unsubscribes. */
  on(listener: WakeListener): () => void;
  close(): Promise<void>;
}

export interface WakeChannelOptions {
  url: string;
  onError(error: Error): void;
  poll?: number;
}

export const channel = 'stepfast';
const batchMs = 20;
const maxPayload = 7000;
const maxPause = 2000;
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
    for (let pause = 50; !closing.signal.aborted; pause = Math.min(2 * pause, maxPause)) {
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

  /** Resolves when the connection ends. */
  async function listenOnce(connected: () => void): Promise<void> {
    const opened = new pg.Client({
      connectionString: url,
      application_name: 'stepfast wake',
      keepAlive: true,
      connectionTimeoutMillis: answerLimit,
      query_timeout: answerLimit,
    });
    // A client that is ended while it connects emits no event.
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
      // Notifications need no durability.
      await opened.query(`set synchronous_commit = off; listen ${channel}`);
      client = opened;
      connected();
      // Notifications sent while disconnected were missed.
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
        await open.query(`select pg_notify($1, $2)`, [channel, list.length > maxPayload ? '' : list]);
      } catch (error) {
        // Every server polls every few seconds anyway.
        onError(error instanceof Error ? error : new Error(String(error)));
      } finally {
        sending = false;
        flush();
      }
    }, batchMs);
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
