import type { Backend, TailRow } from './backend.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createTailHub } from './tail-hub.ts';

/** Server-sent events: batches as they are committed, each with the id to go on after. */
export interface Streams {
  /** Throws `too_many_requests`. */
  open(principal: Principal, wanted: { after?: string; run?: string; signal: AbortSignal }): Response;
  readonly size: number;
  /** Ends them all, with the word to come back soon. */
  close(): void;
}

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Proxies that gather an answer would keep it for ever.
  'X-Accel-Buffering': 'no',
};
/** As long a reader may stand still before what it missed is dropped with it. */
const stillMs = 30_000;

export function createStreams({ backend, limits }: { backend: Backend; limits: Limits }): Streams {
  const hub = createTailHub(backend);
  const ends = new Set<(last?: string) => void>();
  const byToken = new Map<string, number>();
  let closed = false;
  const again = 'retry: 1000\nevent: reconnect\ndata: {}\n\n';
  // Whoever comes back shows its token again.
  const stopWake = backend.onWake((wake) => {
    if (wake === 'tokens') for (const end of [...ends]) end(again);
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
      for (const end of [...ends]) end(again);
    },
  };

  function open(
    { id, project }: Principal,
    wanted: { after?: string; run?: string; signal: AbortSignal },
  ): Response {
    const mine = byToken.get(id) ?? 0;
    if (closed) throw problem('unavailable', 'The server is stopping.', { next: 'connect again' });
    if (mine >= limits.streamsPerToken || ends.size >= limits.streams)
      throw problem('too_many_requests', 'Too many streams are open.', {
        next: 'close one of them',
        headers: { 'Retry-After': '10' },
      });
    byToken.set(id, mine + 1);

    let wakeRoom: (() => void) | undefined;
    let leave: (() => void) | undefined;
    let beat: NodeJS.Timeout | undefined;
    let old: NodeJS.Timeout | undefined;
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    let over = false;
    let told = wanted.after !== undefined;

    const end = (last?: string): void => {
      if (over) return;
      over = true;
      ends.delete(end);
      const left = (byToken.get(id) ?? 1) - 1;
      if (left === 0) byToken.delete(id);
      else byToken.set(id, left);
      clearInterval(beat);
      clearTimeout(old);
      leave?.();
      wakeRoom?.();
      wanted.signal.removeEventListener('abort', onAbort);
      try {
        if (last !== undefined) stream?.enqueue(encode(last));
        stream?.close();
      } catch {
        // The reader has closed it.
      }
    };
    const onAbort = (): void => end();
    /** A reader that is too far behind comes back with the last id that it has. */
    const write = (text: string): void => {
      if (over || !stream) return;
      if ((stream.desiredSize ?? 0) <= 0) return end();
      stream.enqueue(encode(text));
    };
    const room = (): Promise<void> => {
      if (over || (stream?.desiredSize ?? 0) > 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(() => end(), stillMs);
        wakeRoom = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    };
    const take = (rows: readonly TailRow[], cursor: string): void => {
      const shown = rows.filter((row) => wanted.run === undefined || row.run === wanted.run);
      // Rows of other runs move the cursor too, or a reader of a quiet run would begin far back.
      const skipped = shown.length === rows.length ? '' : `id: ${cursor}\n: skipped\n\n`;
      // Whoever is cut off before the first event goes on from where it began.
      const begun = told ? '' : `id: ${cursor}\n: from here\n\n`;
      told = true;
      if (rows.length > 0 || begun !== '') write(shown.map(eventOf).join('') + (skipped || begun));
    };

    ends.add(end);
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          stream = controller;
          write(': connected\n\n');
          wanted.signal.addEventListener('abort', onAbort, { once: true });
          beat = setInterval(() => {
            // Who is behind gets no more to read.
            if ((controller.desiredSize ?? 0) > 0) write(': still here\n\n');
          }, limits.heartbeatMs);
          // Those that came together do not come back together.
          old = setTimeout(() => end(again), limits.streamMs * (0.9 + Math.random() * 0.2));
          const reset = (cursor: string): void =>
            write(`event: reset\nid: ${cursor}\ndata: ${JSON.stringify({ cursor })}\n\n`);
          const listener = { take, reset, failed: () => end('retry: 2000\nevent: reconnect\ndata: {}\n\n') };
          leave = hub.join(project.id, wanted.after, listener, room);
        },
        pull() {
          wakeRoom?.();
        },
        cancel: () => end(),
      },
      { highWaterMark: limits.streamBytes, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    if (wanted.signal.aborted) end();
    return new Response(body, { headers });
  }
}

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);

const eventOf = ({ cursor, run, seq, batch }: TailRow): string =>
  // JSON text has no line breaks of its own.
  `id: ${cursor}\nevent: batch\ndata: {"run":${JSON.stringify(run)},"seq":${seq},"batch":${batch}}\n\n`;
