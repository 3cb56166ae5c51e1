import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';

const received = new WeakMap<Socket, string>();
const keptBytes = 100_000;

/** A client that writes what it likes, and reads only if it wants to. */
export function connectRaw({ url }: Ground, text: string, { reads = true } = {}): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  if (reads)
    socket.on('data', (data) =>
      received.set(socket, `${received.get(socket) ?? ''}${data}`.slice(0, keptBytes)),
    );
  else socket.pause();
  socket.write(text);
  return socket;
}

export const heard = (socket: Socket): string => received.get(socket) ?? '';

/** How many of them have got this, when all have or the time is over. */
export async function countAnswers(sockets: readonly Socket[], what: RegExp, ms: number): Promise<number> {
  const until = Date.now() + ms;
  const count = (): number => sockets.filter((socket) => what.test(heard(socket))).length;
  while (count() < sockets.length && Date.now() < until) await sleep(100);
  return count();
}
