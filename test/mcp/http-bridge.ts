import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { createMcpServer, type McpServerOptions } from '../../src/mcp/server.ts';

export interface Served {
  url: string;
  close(): void;
}

/** The server that `stepfast mcp` serves over stdio, on loopback, for test suites that speak HTTP alone. */
export async function serveOverHttp(options: McpServerOptions): Promise<Served> {
  const handler = createMcpHandler(() => createMcpServer(options));
  return await serveRequests((request) => handler.fetch(request));
}

/** What answers requests, on loopback, for its own names only. */
export async function serveRequests(answer: (request: Request) => Promise<Response>): Promise<Served> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const request = new Request(new URL(url, 'http://localhost'), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      ),
      ...(method === 'POST' ? { body: await text(incoming) } : {}),
    });
    const response =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins()) ??
      (await answer(request));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/mcp`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
