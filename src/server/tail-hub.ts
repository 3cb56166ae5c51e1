import type { TailPage, TailRow } from '../store/postgres/index.ts';
import type { Backend } from './backend.ts';
import { createLanes } from './lanes.ts';

/** Receives the batches of one project. */
export interface Listener {
  /** Called in order, once for each row. */
  take(rows: readonly TailRow[], cursor: string): void;
  /** The stream cannot resume and restarts at the cursor. */
  reset(cursor: string): void;
  failed(error: unknown): void;
  /** Whether its reader keeps up. */
  hasRoom(): boolean;
  untilRoom(): Promise<void>;
}

export interface TailHub {
  /** Subscribes after the cursor, or from now on. Returns an unsubscribe function. */
  join(project: number, after: string | undefined, listener: Listener): () => void;
  close(): void;
}

interface Member {
  listener: Listener;
  left(): boolean;
  /** Reads on its own from the cursor. */
  follow(from: string | undefined): void;
}

interface Channel {
  cursor: bigint | undefined;
  listeners: Map<Listener, Member & { seen: bigint }>;
  /** A query is in flight, and whether another must follow. */
  polling: boolean;
  pollAgain: boolean;
}

const pageSize = 500;
/** Minimum pause between two queries of one project. */
const restMs = 20;
/** Reads of past batches at a time, for each project. */
const mostReads = 2;
/** How much a listener takes before it is asked whether it keeps up. */
const pieceCharacters = 64 * 1024;

/** Runs one query per project and wake-up, shared by all listeners. */
export function createTailHub(backend: Pick<Backend, 'tail' | 'onWake'>): TailHub {
  const channels = new Map<number, Channel>();
  const reads = createLanes<number>(mostReads);
  const stop = backend.onWake((wake, projects) => {
    if (wake !== 'runs') return;
    for (const [project, channel] of channels)
      if (projects?.has(project) ?? true) void poll(project, channel);
  });
  return { join, close: stop };

  function join(project: number, after: string | undefined, listener: Listener) {
    let left = false;
    const member: Member = { listener, left: () => left, follow };
    function follow(from: string | undefined): void {
      catchUp(project, from, member).catch((error) => {
        if (!left) listener.failed(error);
      });
    }
    follow(after);
    return () => {
      left = true;
      const channel = channels.get(project);
      channel?.listeners.delete(listener);
      if (channel?.listeners.size === 0) channels.delete(project);
    };
  }

  /**
   * Reads past batches for one listener until it has caught up with the channel. What its reader does not take is not
   * kept but read again.
   */
  async function catchUp(project: number, after: string | undefined, member: Member): Promise<void> {
    const { listener, left } = member;
    let from = after;
    for (;;) {
      await listener.untilRoom();
      if (left()) return;
      const tail = await reads(project, () => backend.tail(project, from, pageSize));
      if (left()) return;
      // Others of its project may have used the room up.
      if (!listener.hasRoom()) continue;
      if (tail.reset) listener.reset(tail.cursor);
      const taken = tail.reset ? tail.cursor : takeInPieces(listener, tail);
      if (left()) return;
      from = taken;
      const channel = channels.get(project);
      const caughtUp =
        taken === tail.cursor &&
        !tail.more &&
        tail.rows.length < pageSize &&
        !(channel?.cursor !== undefined && BigInt(from) < channel.cursor);
      // No await between the check and subscribing, so no batch can be missed.
      if (caughtUp) return subscribe(project, BigInt(from), member);
    }
  }

  function subscribe(project: number, seen: bigint, member: Member): void {
    const channel = channels.get(project) ?? {
      cursor: seen,
      listeners: new Map(),
      polling: false,
      pollAgain: false,
    };
    channel.listeners.set(member.listener, { ...member, seen });
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
    for (const [listener, subscribed] of [...channel.listeners]) {
      const { seen, follow } = subscribed;
      // It reads on its own until it has caught up.
      if (!listener.hasRoom()) {
        channel.listeners.delete(listener);
        follow(String(seen));
      } else if (tail.reset) listener.reset(tail.cursor);
      else {
        const rows = tail.rows.filter((row) => BigInt(row.cursor) > seen);
        if (rows.length > 0) listener.take(rows, tail.cursor);
      }
      if (channel.listeners.has(listener))
        channel.listeners.set(listener, { ...subscribed, seen: cursor > seen || tail.reset ? cursor : seen });
    }
  }
}

/** Returns the cursor after the last row that the listener took. */
function takeInPieces(listener: Listener, { rows, cursor }: TailPage): string {
  let piece: TailRow[] = [];
  let size = 0;
  for (const [index, row] of rows.entries()) {
    piece.push(row);
    size += row.batch.length;
    // Rows of one transaction have one cursor and belong together.
    const next = rows[index + 1];
    if (!next || next.cursor === row.cursor || size < pieceCharacters) continue;
    listener.take(piece, row.cursor);
    if (!listener.hasRoom()) return row.cursor;
    piece = [];
    size = 0;
  }
  listener.take(piece, cursor);
  return cursor;
}
