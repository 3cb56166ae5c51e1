import type { TailRow } from '../store/postgres/index.ts';
import type { Backend } from './backend.ts';
import { createEventStream, encodeEvent } from './event-stream.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createStreamBudget } from './stream-budget.ts';
import { createTailHub } from './tail-hub.ts';

/** Server-sent events: each committed batch with the id to resume after. */
export interface Streams {
  /** Throws `too_many_requests`. */
  open(
    principal: Principal,
    wanted: { after?: string | undefined; run?: string | undefined; signal: AbortSignal },
  ): Response;
  readonly size: number;
  /** Ends every stream with a `reconnect` event. */
  close(): void;
}

const reconnect = 'retry: 1000\nevent: reconnect\ndata: {}\n\n';

export function createStreams({ backend, limits }: { backend: Backend; limits: Limits }): Streams {
  const hub = createTailHub(backend);
  const budget = createStreamBudget(limits);
  const ends = new Set<(last?: string) => void>();
  let closed = false;
  // Reconnecting clients are authenticated again.
  const stopWake = backend.onWake((wake) => {
    if (wake === 'tokens') for (const end of [...ends]) end(reconnect);
  });
  return {
    open,
    get size() {
      return ends.size;
    },
    close() {
      closed = true;
      hub.close();
      stopWake();
      for (const end of [...ends]) end(reconnect);
    },
  };

  function open(
    principal: Principal,
    wanted: { after?: string | undefined; run?: string | undefined; signal: AbortSignal },
  ): Response {
    if (closed) throw problem('unavailable', 'The server is shutting down.', { next: 'reconnect' });
    if (ends.size >= limits.streams)
      throw problem('too_many_requests', 'Too many open streams.', {
        next: 'retry later',
        headers: { 'Retry-After': '10' },
      });
    let over = false;
    /** Runs while it waits to take something. */
    let patience: NodeJS.Timeout | undefined;
    const ended = Promise.withResolvers<void>();
    let hasCursor = wanted.after !== undefined;
    const stream = createEventStream({
      signal: wanted.signal,
      heartbeatMs: limits.heartbeatMs,
      onQueued: (change) => budget.add(principal, change),
      onEnd() {
        over = true;
        ended.resolve();
        ends.delete(stream.end);
        clearTimeout(expiry);
        clearTimeout(patience);
        leave();
      },
    });
    const write = (text: string): void => stream.write(encodeEvent(text));
    const hasRoom = (): boolean => stream.queued < limits.streamBytes && budget.hasRoom(principal);

    function take(rows: readonly TailRow[], cursor: string): void {
      clearTimeout(patience);
      patience = undefined;
      const shown = rows.filter((row) => wanted.run === undefined || row.run === wanted.run);
      for (const row of shown) stream.write(eventOf(row));
      // Rows of other runs also advance the cursor, so that a reader of an idle run resumes near the end.
      if (shown.length < rows.length) write(`id: ${cursor}\n: skipped\n\n`);
      // A client that disconnects before the first event resumes from where it started.
      else if (!hasCursor) write(`id: ${cursor}\n: from here\n\n`);
      hasCursor = true;
    }

    ends.add(stream.end);
    write(': connected\n\n');
    // Jitter keeps clients from reconnecting at the same time.
    const expiry = setTimeout(() => stream.end(reconnect), limits.streamMs * (0.9 + Math.random() * 0.2));
    const leave = hub.join(principal.project.id, wanted.after, {
      take,
      reset: (cursor) => write(`event: reset\nid: ${cursor}\ndata: ${JSON.stringify({ cursor })}\n\n`),
      failed: () => stream.end('retry: 2000\nevent: reconnect\ndata: {}\n\n'),
      hasRoom,
      async untilRoom() {
        if (hasRoom()) return;
        patience ??= setTimeout(() => stream.end(reconnect), limits.stallMs);
        while (!over && !hasRoom()) await Promise.race([budget.changed(), ended.promise]);
      },
    });
    if (wanted.signal.aborted) stream.end();
    return stream.response;
  }
}

/** Streams share what they send. */
const encoded = new WeakMap<TailRow, Uint8Array>();

function eventOf(row: TailRow): Uint8Array {
  const known = encoded.get(row);
  if (known) return known;
  const { cursor, run, seq, batch } = row;
  // JSON.stringify writes no line breaks.
  const event = encodeEvent(
    `id: ${cursor}\nevent: batch\ndata: {"run":${JSON.stringify(run)},"seq":${seq},"batch":${batch}}\n\n`,
  );
  encoded.set(row, event);
  return event;
}
