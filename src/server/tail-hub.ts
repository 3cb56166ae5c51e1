import type { TailPage, TailRow } from '../store/postgres/index.ts';
import type { Backend } from './backend.ts';

/** Receives the batches of one project. */
export interface Listener {
  /** Called in order, once for each row. */
  take(rows: readonly TailRow[], cursor: string): void;
  /** The stream cannot resume and restarts at the cursor. */
  reset(cursor: string): void;
  failed(error: unknown): void;
}

export interface TailHub {
  /** Subscribes after the cursor, or from now on. Returns an unsubscribe function. */
  join(
    project: number,
    after: string | undefined,
    listener: Listener,
    untilWritable: () => Promise<void>,
  ): () => void;
  close(): void;
}

interface Channel {
  cursor: bigint | undefined;
  listeners: Map<Listener, bigint>;
  /** A query is in flight, and whether another must follow. */
  polling: boolean;
  pollAgain: boolean;
}

const pageSize = 500;
/** Minimum pause between two queries of one project. */
const restMs = 20;

/** Runs one query per project and wake-up, shared by all listeners. */
export function createTailHub(backend: Pick<Backend, 'tail' | 'onWake'>): TailHub {
  const channels = new Map<number, Channel>();
  const stop = backend.onWake((wake, projects) => {
    if (wake !== 'runs') return;
    for (const [project, channel] of channels)
      if (projects?.has(project) ?? true) void poll(project, channel);
  });
  return { join, close: stop };

  function join(
    project: number,
    after: string | undefined,
    listener: Listener,
    untilWritable: () => Promise<void>,
  ) {
    let left = false;
    catchUp(project, after, listener, untilWritable, () => left).catch((error) => {
      if (!left) listener.failed(error);
    });
    return () => {
      left = true;
      const channel = channels.get(project);
      channel?.listeners.delete(listener);
      if (channel?.listeners.size === 0) channels.delete(project);
    };
  }

  /** Reads past batches for one listener until it has caught up with the channel. */
  async function catchUp(
    project: number,
    after: string | undefined,
    listener: Listener,
    untilWritable: () => Promise<void>,
    left: () => boolean,
  ): Promise<void> {
    let from = after;
    for (;;) {
      const tail = await backend.tail(project, from, pageSize);
      if (left()) return;
      if (tail.reset) listener.reset(tail.cursor);
      else listener.take(tail.rows, tail.cursor);
      if (left()) return;
      from = tail.cursor;
      const channel = channels.get(project);
      const caughtUp =
        !tail.more &&
        tail.rows.length < pageSize &&
        !(channel?.cursor !== undefined && BigInt(from) < channel.cursor);
      // No await between the check and subscribing, so no batch can be missed.
      if (caughtUp) return subscribe(project, BigInt(from), listener);
      await untilWritable();
      if (left()) return;
    }
  }

  function subscribe(project: number, cursor: bigint, listener: Listener): void {
    const channel = channels.get(project) ?? {
      cursor,
      listeners: new Map(),
      polling: false,
      pollAgain: false,
    };
    channel.listeners.set(listener, cursor);
    channels.set(project, channel);
    // Batches committed while it subscribed sent it no wake-up.
    void poll(project, channel);
  }

  async function poll(project: number, channel: Channel): Promise<void> {
    if (channel.polling) {
      channel.pollAgain = true;
      return;
    }
    channel.polling = true;
    try {
      do {
        channel.pollAgain = false;
        const tail = await backend.tail(project, channel.cursor?.toString(), pageSize);
        publish(channel, tail);
        if (tail.more || tail.rows.length >= pageSize) channel.pollAgain = true;
        if (channel.listeners.size === 0) return;
        await new Promise((resolve) => setTimeout(resolve, restMs));
      } while (channel.pollAgain && channels.get(project) === channel);
    } catch {
      // Retried on the next wake-up, which comes within seconds.
    } finally {
      channel.polling = false;
    }
  }

  function publish(channel: Channel, tail: TailPage): void {
    const cursor = BigInt(tail.cursor);
    channel.cursor = cursor;
    for (const [listener, seen] of [...channel.listeners]) {
      if (tail.reset) listener.reset(tail.cursor);
      else {
        const rows = tail.rows.filter((row) => BigInt(row.cursor) > seen);
        if (rows.length > 0) listener.take(rows, tail.cursor);
      }
      if (channel.listeners.has(listener))
        channel.listeners.set(listener, cursor > seen || tail.reset ? cursor : seen);
    }
  }
}
