import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { App } from './app.ts';
import { dropStalledReaders } from './connections.ts';
import type { Limits } from './limits.ts';

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Fails readiness, stops accepting, waits for in-flight requests within the limit, then closes all connections. Idempotent. */
  close(): Promise<void>;
}

const hour = 3_600_000;

/** Throws socket errors such as EADDRINUSE. */
export async function listen(
  app: App,
  { host, port, limits, onStalled }: { host: string; port: number; limits: Limits; onStalled?: () => void },
): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.max(50, Math.min(limits.headersMs, limits.requestMs) / 4),
      // Longer than the idle timeout of load balancers, which would otherwise reuse a closed connection.
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 * 1024,
      noDelay: true,
    },
    // Only HTTP/1 is served.
    getRequestListener((request, { incoming, outgoing }) =>
      app.fetch(
        request,
        incoming instanceof IncomingMessage && outgoing instanceof ServerResponse
          ? { incoming, outgoing }
          : {},
      ),
    ),
  );
  server.maxConnections = limits.connections;
  const idle = trackIdle(server);
  dropStalledReaders(server, { ...limits, onStalled });
  // Event streams stay open.
  server.timeout = 24 * hour;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  // A server that listens on a port has an AddressInfo.
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    host: address.address,
    port: address.port,
    close: () => {
      closing ??= stop(server, idle, app, limits);
      return closing;
    },
  };
}

async function stop(
  server: Server,
  idle: ReadonlySet<Socket>,
  app: App,
  { drainMs, lingerMs }: Limits,
): Promise<void> {
  const until = Date.now() + drainMs;
  // Keep answering for a while, so that load balancers see /readyz fail.
  await Promise.all([app.drain(drainMs), sleep(lingerMs)]);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const hangUp = (): void => {
    for (const socket of idle) socket.destroy();
    if (Date.now() > until) server.closeAllConnections();
  };
  hangUp();
  const timer = setInterval(hangUp, 50);
  await closed;
  clearInterval(timer);
}

/** Connections without a request in flight. */
function trackIdle(server: Server): ReadonlySet<Socket> {
  const idle = new Set<Socket>();
  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
  return idle;
}
