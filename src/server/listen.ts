import { createServer, IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { App } from './app.ts';
import type { Limits } from './limits.ts';

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Is not ready any more, then stops accepting, finishes what runs within the limit, cuts off the rest. Idempotent. */
  close(): Promise<void>;
}

const hour = 3_600_000;

/** Throws what the socket throws, such as EADDRINUSE. */
export async function listen(
  app: App,
  { host, port, limits }: { host: string; port: number; limits: Limits },
): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 4),
      // Longer than what balancers in front keep open, or they would send into a closed connection.
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 * 1024,
      noDelay: true,
    },
    // HTTP/1 alone is served here.
    getRequestListener((request, { incoming }) =>
      app.fetch(request, incoming instanceof IncomingMessage ? { incoming } : {}),
    ),
  );
  server.maxConnections = limits.connections;
  const quiet = trackQuiet(server);
  // A stream has no end of its own.
  server.timeout = 24 * hour;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  // A server that listens on a port has one.
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    host: address.address,
    port: address.port,
    close: () => {
      closing ??= stop(server, quiet, app, limits);
      return closing;
    },
  };
}

async function stop(
  server: Server,
  quiet: ReadonlySet<Socket>,
  app: App,
  { drainMs, lingerMs }: Limits,
): Promise<void> {
  const until = Date.now() + drainMs;
  // What is on its way is still answered, and whoever sends requests here learns that it should not.
  await Promise.all([app.drain(drainMs), sleep(lingerMs)]);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const hangUp = (): void => {
    for (const socket of quiet) socket.destroy();
    if (Date.now() > until) server.closeAllConnections();
  };
  hangUp();
  const timer = setInterval(hangUp, 50);
  await closed;
  clearInterval(timer);
}

/** Connections on which nothing is answered just now, also those that never asked. */
function trackQuiet(server: Server): ReadonlySet<Socket> {
  const quiet = new Set<Socket>();
  server.on('connection', (socket) => {
    quiet.add(socket);
    socket.once('close', () => quiet.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    quiet.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) quiet.add(socket);
    });
  });
  return quiet;
}
