import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Engine } from '../../src/engine/engine.ts';
import { scopes } from '../../src/schema/index.ts';
import { hashToken } from '../../src/server/index.ts';
import { newToken } from '../../src/token-format.ts';
import { startHttp } from './server/http.ts';
import { createMemoryBackend } from './server/memory-backend.ts';

/** What becomes of a request: handled, handled but not answered, never answered, or answered with something else. */
export type Fault =
  | 'none'
  | 'cut'
  | 'hang'
  | { status: number; body?: string; headers?: Record<string, string> };

export interface FakeServer {
  url: string;
  /** A person's, for everything. */
  token: string;
  /** Asked with every request. */
  fault: (request: { method: string; path: string; count: number }) => Fault;
  /** `METHOD /path` of every request, in order. */
  requests: string[];
  close(): Promise<void>;
}

/** For tests: the real server over any engine, behind a network with faults. */
export async function startFakeServer(engine: Engine): Promise<FakeServer> {
  const backend = createMemoryBackend({ test: 1 });
  const { id, token } = newToken();
  const project = { id: 1, name: 'test' };
  backend.addToken(hashToken(token), { id, project, kind: 'person', name: 'ann', scopes });
  const limits = { perSecond: 10_000, burst: 10_000 };
  const list = async () => ({ runs: await engine.runs() });
  const real = await startHttp({ ...backend, engine: () => engine, list }, { limits });
  const front = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const { port } = front.address() as AddressInfo;
  const server: FakeServer = {
    url: `http://127.0.0.1:${port}`,
    token,
    fault: () => 'none',
    requests: [],
    close: async () => {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await real.listening.close();
    },
  };
  return server;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const { pathname: path } = new URL(url, 'http://localhost');
    server.requests.push(`${method} ${path}`);
    const fault = server.fault({ method, path, count: server.requests.length });
    if (fault === 'hang') return;
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers);
      return void response.end(fault.body ?? '');
    }
    try {
      const answer = await forwarded(request, response, `${real.url}${url}`);
      const body = Buffer.from(await answer.arrayBuffer());
      if (fault === 'cut') return void request.socket.destroy();
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
    } catch {
      request.socket.destroy();
    }
  }
}

/** What the server answers, unless the client leaves first. */
async function forwarded(request: IncomingMessage, response: ServerResponse, url: string): Promise<Response> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const { host: _, connection: __, ...headers } = request.headers;
  const sent = await buffer(request);
  return await fetch(url, {
    method: request.method ?? 'GET',
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(sent.length > 0 ? { body: new Uint8Array(sent) } : {}),
    signal: left.signal,
  });
}
