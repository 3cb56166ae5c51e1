import type { IncomingMessage, OutgoingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Calls back once when the answer is sent or its connection is gone. An answer that waits behind another on its connection
 * is not told when the connection closes.
 */
export function onAnswered(incoming: IncomingMessage, answer: OutgoingMessage, listener: () => void): void {
  const { socket } = incoming;
  if (socket.destroyed) return listener();
  const waiting = answersOf(socket);
  const done = (): void => {
    waiting.delete(done);
    answer.off('close', done);
    listener();
  };
  waiting.add(done);
  answer.once('close', done);
}

const unanswered = new WeakMap<Socket, Set<() => void>>();

function answersOf(socket: Socket): Set<() => void> {
  const known = unanswered.get(socket);
  if (known) return known;
  const waiting = new Set<() => void>();
  unanswered.set(socket, waiting);
  socket.once('close', () => {
    for (const done of [...waiting]) done();
  });
  return waiting;
}

interface StallOptions {
  /** Time without progress. */
  stallMs: number;
  /** Bytes per second: an answer of that size gets a second more. */
  slowestReader: number;
  onStalled?: (() => void) | undefined;
}

interface Pending {
  taken: number;
  until: number;
}

/** Destroys connections whose clients do not read what is written to them. */
export function dropStalledReaders(
  server: Server,
  { stallMs, slowestReader, onStalled }: StallOptions,
): void {
  const open = new Map<Socket, Pending | undefined>();
  server.on('connection', (socket) => {
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, before] of open) {
      const { writableLength, bytesWritten } = socket;
      const taken = bytesWritten - writableLength;
      if (writableLength === 0) open.set(socket, undefined);
      else if (before?.taken !== taken)
        open.set(socket, { taken, until: now + stallMs + (1000 * writableLength) / slowestReader });
      else if (now > before.until) {
        onStalled?.();
        // Without what is still in its buffers.
        socket.resetAndDestroy();
      }
    }
  }, stallMs / 4);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}
