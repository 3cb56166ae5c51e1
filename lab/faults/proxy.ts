import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Behaviour {
  /** Delay of a chunk in milliseconds, in either direction. */
  delay(): number;
  /** Whether the connection drops instead of delivering a chunk; part of a response may have been sent. */
  cuts(): boolean;
}

const asIs: Behaviour = { delay: () => 0, cuts: () => false };

/** A loopback TCP load balancer: round robin, and the next port if one refuses the connection. */
export async function createProxy(ports: () => readonly number[], behaviour = asIs) {
  let turn = 0;
  let cut = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    hold(client);
    // Reads nothing until the upstream is connected.
    client.pause();
    turn += 1;
    reach(client, turn, ports().length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cuts: () => cut,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };

  function hold(socket: Socket): void {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  }

  function reach(client: Socket, first: number, tries: number): void {
    const targets = ports();
    const target = targets[first % targets.length];
    if (target === undefined || tries === 0 || client.destroyed) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: target, host: '127.0.0.1' });
    const refused = (): void => reach(client, first + 1, tries - 1);
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      hold(upstream);
      carry(client, upstream);
      carry(upstream, client);
      client.resume();
    });
  }

  function carry(from: Socket, to: Socket): void {
    let last = 0;
    const later = (action: () => void): void => {
      const delay = behaviour.delay();
      // Keeps the order despite random delays.
      last = Math.max(last, performance.now() + delay);
      if (delay === 0 && last <= performance.now()) action();
      else setTimeout(action, Math.max(0, last - performance.now()));
    };
    from.on('data', (piece) => {
      if (behaviour.cuts()) {
        cut += 1;
        to.write(piece.subarray(0, piece.length / 2));
        from.destroy();
        to.destroySoon();
        return;
      }
      later(() => {
        if (to.destroyed || to.write(piece)) return;
        from.pause();
        to.once('drain', () => from.resume());
      });
    });
    from.on('close', () => later(() => to.destroySoon()));
  }
}
