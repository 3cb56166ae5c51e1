import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine, Executed } from '../../src/engine/engine.ts';
import { StepfastError } from '../../src/errors.ts';
import {
  apiHeader,
  apiVersion,
  type BeginBody,
  type CommandBody,
  engineStatus,
  etagOf,
  preferenceIn,
  preferHeader,
} from '../../src/schema/index.ts';

/** What becomes of a request: handled, handled but not answered, never answered, or answered with something else. */
export type Fault =
  | 'none'
  | 'cut'
  | 'hang'
  | { status: number; body?: string; headers?: Record<string, string> };

export interface FakeServer {
  url: string;
  token: string;
  /** Asked with every request. */
  fault: (request: { method: string; path: string; count: number }) => Fault;
  /** `METHOD /path` of every request, in order. */
  requests: string[];
  close(): Promise<void>;
}

/** For tests: the wire over any engine, with the faults of a network. It allows everything to everybody. */
export async function startFakeServer(engine: Engine): Promise<FakeServer> {
  const http = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const { port } = http.address() as AddressInfo;
  const server: FakeServer = {
    url: `http://127.0.0.1:${port}`,
    token: 'sf_test_token',
    fault: () => 'none',
    requests: [],
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    server.requests.push(`${method} ${pathname}`);
    const fault = server.fault({ method, path: pathname, count: server.requests.length });
    if (fault === 'hang') return;
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers);
      return void response.end(fault.body ?? '');
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const answered = await answer(method, pathname, searchParams, text, request.headers);
    if (fault === 'cut') return void request.socket.destroy();
    const { status, body, headers } = answered;
    response.writeHead(status, { [apiHeader]: String(apiVersion), ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  async function answer(
    method: string,
    path: string,
    query: URLSearchParams,
    text: string,
    headers: IncomingHttpHeaders,
  ): Promise<{ status: number; body: unknown; headers?: Record<string, string> }> {
    try {
      return await handle(method, path, query, text, headers);
    } catch (error) {
      if (!(error instanceof StepfastError))
        return { status: 500, body: { code: 'bug', message: String(error) } };
      const { code, message } = error;
      return { status: engineStatus[code] ?? 400, body: { code, message } };
    }
  }

  async function handle(
    method: string,
    path: string,
    query: URLSearchParams,
    text: string,
    headers: IncomingHttpHeaders,
  ) {
    const [, , first, run = '', what, digest = ''] = path.split('/').map(decodeURIComponent);
    const ok = (body: unknown, more = {}) => ({ status: 200, body, headers: more });
    const { view: preferred, check } = preferenceIn(String(headers[preferHeader] ?? ''));
    const executed = ({ view, ...rest }: Executed) => ok(preferred ? { ...rest, view: viewOf(view) } : rest);
    const after = Number(query.get('after') ?? 0);
    if (first === 'whoami')
      return ok({ project: 'test', kind: 'person', name: 'ann', scopes: ['read', 'write'] });
    if (run === '' && method === 'POST') {
      // The client's own shapes: a fake believes them.
      const { definition, command, circumstances, once } = JSON.parse(text) as BeginBody;
      return executed(await engine.begin(definition, { ...command, now: Date.now() }, circumstances, once));
    }
    const name = query.get('name');
    if (run === '')
      return ok(name === null ? { runs: await engine.runs() } : { ids: await engine.ids(name) });
    if (what === 'commands') {
      const { command, key, circumstances } = JSON.parse(text) as CommandBody;
      return executed(await engine.execute(run, { ...command, now: Date.now() }, key, circumstances));
    }
    if (what === 'entries') return ok({ entries: await engine.entries(run, after) });
    if (what === 'texts') return ok(await engine.text(run, { digest, opening: '', bytes: 0 }));
    if (what === 'watch') {
      const view = await engine.watch(
        run,
        after,
        Number(query.get('ms')),
        check === undefined ? {} : { check },
      );
      const seq = view?.version.seq ?? 0;
      return ok({ seq, ...(preferred && seq > after ? { view: viewOf(view) } : {}) });
    }
    if (method === 'DELETE') return ok((await engine.remove(run)) ?? {});
    const view = await engine.view(run);
    if (!view) throw new StepfastError('no_run', `There is no run '${run}'.`);
    const tag = etagOf(view.version);
    return tag === headers['if-none-match']
      ? { status: 304, body: '', headers: { etag: tag } }
      : ok(view, { etag: tag });
  }
}

const viewOf = (view: Executed['view']) =>
  view && { hash: view.hash, state: view.state, version: view.version };
