/** A response of server-sent events, written in pieces as its reader takes them. */
export interface EventStream {
  readonly response: Response;
  /** Bytes that wait for the reader. */
  readonly queued: number;
  write(event: Uint8Array): void;
  /** Drops what waits; `last` is still sent, unless an event is sent in part. */
  end(last?: string): void;
}

interface EventStreamOptions {
  /** Aborted when the client disconnects or the server stops. */
  signal: AbortSignal;
  /** Bytes that may wait for a reader before it is disconnected; one event may be larger. */
  maxQueued?: number;
  heartbeatMs: number;
  onQueued?(change: number): void;
  onEnd(): void;
}

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // A reader that comes back does so on another connection.
  Connection: 'close',
  // Otherwise nginx buffers the stream.
  'X-Accel-Buffering': 'no',
};
/** As much as a socket takes in at once. */
const pieceBytes = 64 * 1024;

const encoder = new TextEncoder();
export const encodeEvent = (text: string): Uint8Array => encoder.encode(text);

const heartbeatEvent = encodeEvent(': still here\n\n');

export function createEventStream(options: EventStreamOptions): EventStream {
  const { signal, maxQueued = Number.POSITIVE_INFINITY, heartbeatMs, onQueued, onEnd } = options;
  const queue: Uint8Array[] = [];
  /** Bytes of the first event that were taken. */
  let taken = 0;
  let queued = 0;
  let over = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const count = (change: number): void => {
    queued += change;
    onQueued?.(change);
  };

  function flush(): void {
    for (let [event] = queue; event && !over && (controller?.desiredSize ?? 0) > 0; [event] = queue) {
      const piece = event.subarray(taken, taken + pieceBytes);
      taken += piece.byteLength;
      if (taken === event.byteLength) {
        queue.shift();
        taken = 0;
        count(-event.byteLength);
      }
      // Calls `flush` again, so it comes last.
      controller?.enqueue(piece);
    }
  }

  function write(event: Uint8Array): void {
    if (over) return;
    if (queued > 0 && queued + event.byteLength > maxQueued) return end();
    queue.push(event);
    count(event.byteLength);
    flush();
  }

  function end(last?: string): void {
    if (over) return;
    over = true;
    queue.length = 0;
    count(-queued);
    clearInterval(heartbeat);
    signal.removeEventListener('abort', onAbort);
    try {
      // A reader discards an event without its end.
      if (last !== undefined && taken === 0) controller?.enqueue(encodeEvent(last));
      controller?.close();
    } catch {
      // The reader has closed it.
    }
    onEnd();
  }

  const onAbort = (): void => end();
  const heartbeat = setInterval(() => {
    // Readers that lag get no heartbeat on top.
    if (queued === 0 && (controller?.desiredSize ?? 0) > 0) write(heartbeatEvent);
  }, heartbeatMs);
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: flush,
      cancel: () => end(),
    },
    { highWaterMark: pieceBytes, size: (piece) => piece?.byteLength ?? 0 },
  );
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    response: new Response(body, { headers }),
    get queued() {
      return queued;
    },
    write,
    end,
  };
}
