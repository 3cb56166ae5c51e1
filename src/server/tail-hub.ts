import type { Backend, Tail, TailRow } from './backend.ts';

/** Whoever wants the batches of one project. */
export interface Listener {
  /** In order, each once; false where it takes no more. */
  take(rows: readonly TailRow[], cursor: string): void;
  /** The stream cannot go on from here: it begins anew at the cursor. */
  reset(cursor: string): void;
  failed(error: unknown): void;
}

export interface TailHub {
  /** From after the cursor, or from now; answers how to stop. */
  join(project: number, after: string | undefined, listener: Listener, room: () => Promise<void>): () => void;
  close(): void;
}

interface Room {
  cursor: bigint | undefined;
  listeners: Map<Listener, bigint>;
  /** A query is on its way, and whether another must follow. */
  asking: boolean;
  again: boolean;
}

const pageSize = 500;
/** Between two queries of one project, however often we are woken. */
const restMs = 20;

/** One query a project and wake, however many listen. */
export function createTailHub(backend: Pick<Backend, 'tail' | 'onWake'>): TailHub {
  const rooms = new Map<number, Room>();
  const stop = backend.onWake((wake, projects) => {
    if (wake !== 'runs') return;
    for (const [project, room] of rooms) if (projects?.has(project) ?? true) void ask(project, room);
  });
  return { join, close: stop };

  function join(project: number, after: string | undefined, listener: Listener, room: () => Promise<void>) {
    let gone = false;
    catchUp(project, after, listener, room, () => gone).catch((error) => {
      if (!gone) listener.failed(error);
    });
    return () => {
      gone = true;
      const here = rooms.get(project);
      here?.listeners.delete(listener);
      if (here?.listeners.size === 0) rooms.delete(project);
    };
  }

  /** What happened before, by queries of its own, until it has all that the others have. */
  async function catchUp(
    project: number,
    after: string | undefined,
    listener: Listener,
    room: () => Promise<void>,
    gone: () => boolean,
  ): Promise<void> {
    let from = after;
    for (;;) {
      const tail = await backend.tail(project, from, pageSize);
      if (gone()) return;
      if (tail.reset) listener.reset(tail.cursor);
      else listener.take(tail.rows, tail.cursor);
      if (gone()) return;
      from = tail.cursor;
      const here = rooms.get(project);
      const all =
        !tail.more &&
        tail.rows.length < pageSize &&
        !(here?.cursor !== undefined && BigInt(from) < here.cursor);
      // No wait between the look and the entry: nothing can be told in between.
      if (all) return enter(project, BigInt(from), listener);
      await room();
      if (gone()) return;
    }
  }

  function enter(project: number, cursor: bigint, listener: Listener): void {
    const here = rooms.get(project) ?? { cursor, listeners: new Map(), asking: false, again: false };
    here.listeners.set(listener, cursor);
    rooms.set(project, here);
    // What was committed while it entered woke nobody for it.
    void ask(project, here);
  }

  async function ask(project: number, room: Room): Promise<void> {
    if (room.asking) {
      room.again = true;
      return;
    }
    room.asking = true;
    try {
      do {
        room.again = false;
        const tail = await backend.tail(project, room.cursor?.toString(), pageSize);
        tell(room, tail);
        if (tail.more || tail.rows.length >= pageSize) room.again = true;
        if (room.listeners.size === 0) return;
        await new Promise((resolve) => setTimeout(resolve, restMs));
      } while (room.again && rooms.get(project) === room);
    } catch {
      // The next wake comes in a moment; whoever cannot be told now is told then.
    } finally {
      room.asking = false;
    }
  }

  function tell(room: Room, tail: Tail): void {
    const cursor = BigInt(tail.cursor);
    room.cursor = cursor;
    for (const [listener, seen] of [...room.listeners]) {
      if (tail.reset) listener.reset(tail.cursor);
      else {
        const rows = tail.rows.filter((row) => BigInt(row.cursor) > seen);
        if (rows.length > 0) listener.take(rows, tail.cursor);
      }
      if (room.listeners.has(listener))
        room.listeners.set(listener, cursor > seen || tail.reset ? cursor : seen);
    }
  }
}
