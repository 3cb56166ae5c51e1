import type { TailRow } from '../store/postgres/index.ts';
import type { Backend } from './backend.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
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

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Otherwise nginx buffers the stream.
  'X-Accel-Buffering': 'no',
};
/** A reader that stalls for longer is dropped. */
const stallMs = 30_000;

export function createStreams({ backend, limits }: { backend: Backend; limits: Limits }): Streams {
  const hub = createTailHub(backend);
  const ends = new Set<(last?: string) => void>();
  const byToken = new Map<string, number>();
  let closed = false;
  const reconnect = 'retry: 1000\nevent: reconnect\ndata: {}\n\n';
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
    { id, project }: Principal,
    wanted: { after?: string | undefined; run?: string | undefined; signal: AbortSignal },
  ): Response {
    const open = byToken.get(id) ?? 0;
    if (closed) throw problem('unavailable', 'The server is shutting down.', { next: 'reconnect' });
    if (open >= limits.streamsPerToken || ends.size >= limits.streams)
      throw problem('too_many_requests', 'Too many open streams.', {
        next: 'close one of them',
        headers: { 'Retry-After': '10' },
      });
    byToken.set(id, open + 1);

    let wakeWriter: (() => void) | undefined;
    let leave: (() => void) | undefined;
    let heartbeat: NodeJS.Timeout | undefined;
    let expiry: NodeJS.Timeout | undefined;
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    let over = false;
    let hasCursor = wanted.after !== undefined;

    const end = (last?: string): void => {
      if (over) return;
      over = true;
      ends.delete(end);
      const left = (byToken.get(id) ?? 1) - 1;
      if (left === 0) byToken.delete(id);
      else byToken.set(id, left);
      clearInterval(heartbeat);
      clearTimeout(expiry);
      leave?.();
      wakeWriter?.();
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
    const untilWritable = (): Promise<void> => {
      if (over || (stream?.desiredSize ?? 0) > 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(() => end(), stallMs);
        wakeWriter = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    };
    const take = (rows: readonly TailRow[], cursor: string): void => {
      const shown = rows.filter((row) => wanted.run === undefined || row.run === wanted.run);
      // Rows of other runs also advance the cursor, so that a reader of an idle run resumes near the end.
      const skipped = shown.length === rows.length ? '' : `id: ${cursor}\n: skipped\n\n`;
      // A client that disconnects before the first event resumes from where it started.
      const begun = hasCursor ? '' : `id: ${cursor}\n: from here\n\n`;
      hasCursor = true;
      if (rows.length > 0 || begun !== '') write(shown.map(eventOf).join('') + (skipped || begun));
    };

    ends.add(end);
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          stream = controller;
          write(': connected\n\n');
          wanted.signal.addEventListener('abort', onAbort, { once: true });
          heartbeat = setInterval(() => {
            // Readers that lag get no heartbeat on top.
            if ((controller.desiredSize ?? 0) > 0) write(': still here\n\n');
          }, limits.heartbeatMs);
          // Jitter keeps clients from reconnecting at the same time.
          expiry = setTimeout(() => end(reconnect), limits.streamMs * (0.9 + Math.random() * 0.2));
          const reset = (cursor: string): void =>
            write(`event: reset\nid: ${cursor}\ndata: ${JSON.stringify({ cursor })}\n\n`);
          const listener = { take, reset, failed: () => end('retry: 2000\nevent: reconnect\ndata: {}\n\n') };
          leave = hub.join(project.id, wanted.after, listener, untilWritable);
        },
        pull() {
          wakeWriter?.();
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
  // JSON.stringify writes no line breaks.
  `id: ${cursor}\nevent: batch\ndata: {"run":${JSON.stringify(run)},"seq":${seq},"batch":${batch}}\n\n`;
