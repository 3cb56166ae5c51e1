import { type Scope, scopes } from '../../../src/schema/index.ts';
import {
  type AppOptions,
  type Backend,
  createApp,
  createLog,
  createMetrics,
  defaultLimits,
  hashToken,
  hostRules,
  type Limits,
  type Listening,
  listen,
} from '../../../src/server/index.ts';
import { newToken } from '../../../src/token-format.ts';
import { createMemoryBackend, type MemoryBackend } from './memory-backend.ts';

export const projects = { north: 1, south: 2 } as const;
export type ProjectName = keyof typeof projects;

export interface Http extends AsyncDisposable {
  url: string;
  listening: Listening;
  /** Lines of the log so far. */
  logged: string[];
  /** What Prometheus would read. */
  metrics(): Promise<string>;
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
}

export interface HttpServer extends Http {
  backend: MemoryBackend;
  token(project: ProjectName, options?: TokenOptions): string;
}

export interface TokenOptions {
  kind?: 'agent' | 'person';
  name?: string;
  scopes?: readonly Scope[];
  expiresAt?: number;
}

export interface CallOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

type ServerOptions = Partial<Pick<AppOptions, 'mcp' | 'clock' | 'proxies'>> & {
  limits?: Partial<Limits>;
  issuer?: NonNullable<AppOptions['auth']['issuer']>;
};

/** A real server on loopback, with everything but the database. */
export async function startServer(options: ServerOptions = {}): Promise<HttpServer> {
  const backend = createMemoryBackend(projects);
  return {
    ...(await startHttp(backend, options)),
    backend,
    token(project, { kind = 'agent', name = 'robot', scopes: given, expiresAt } = {}) {
      const { id, token } = newToken();
      const agents = scopes.filter((scope) => kind === 'person' || scope !== 'decide');
      backend.addToken(hashToken(token), {
        id,
        project: { id: projects[project], name: project },
        kind,
        name,
        scopes: given ?? agents,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
      return token;
    },
  };
}

export async function startHttp(backend: Backend, options: ServerOptions = {}): Promise<Http> {
  const { limits: own = {}, issuer, clock = Date.now, mcp, proxies } = options;
  const limits = { ...defaultLimits, lingerMs: 10, ...own };
  const logged: string[] = [];
  const publicUrl = new URL('https://stepfast.example');
  // The port is known only when it listens.
  const hosts = { hosts: new Set<string>(), origins: new Set<string>() };
  const metrics = createMetrics({ backend });
  const app = createApp({
    backend,
    auth: { publicUrl, ...(issuer ? { issuer } : {}) },
    hosts,
    limits,
    log: createLog({ write: (line) => logged.push(line) }),
    metrics,
    version: '0.0.0-test',
    clock,
    ...(mcp ? { mcp } : {}),
    ...(proxies === undefined ? {} : { proxies }),
  });
  const listening = await listen(app, { host: '127.0.0.1', port: 0, limits });
  const rules = hostRules({ publicUrl, host: '127.0.0.1', port: listening.port });
  for (const host of rules.hosts) hosts.hosts.add(host);
  for (const origin of rules.origins) hosts.origins.add(origin);
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    listening,
    logged,
    metrics: metrics.text,
    call: (method, path, callOptions) => call(url, method, path, callOptions),
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

export async function call(
  url: string,
  method: string,
  path: string,
  { token, body, headers = {} }: CallOptions = {},
): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const definition = {
  name: 'plain',
  description: 'Two steps',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan it', gate: [{ run: 'true' }] },
    { id: 'build', type: 'action', instructions: 'Build it', review: { by: 'human' } },
  ],
};

/** Begins a run and answers its id. */
export async function begin(server: Pick<HttpServer, 'call'>, token: string, own = {}): Promise<string> {
  const answer = await server.call('POST', '/v1/runs', {
    token,
    body: { definition, command: { type: 'start', summary: 'a secret plan', ...own } },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.run;
}

export interface SseEvent {
  id?: string;
  event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data?: any;
}

/** Reads events until `enough`; closes the stream then. Fails after five minutes. */
export async function readEvents(
  url: string,
  token: string,
  enough: (events: SseEvent[]) => boolean,
  {
    path = '/v1/events',
    headers = {},
    onOpen,
  }: { path?: string; headers?: Record<string, string>; onOpen?(): unknown } = {},
): Promise<SseEvent[]> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error('no events in five minutes')), 300_000);
  const response = await fetch(url + path, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
    signal: stop.signal,
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const events: SseEvent[] = [];
  let rest = '';
  let opening: Promise<unknown> | undefined;
  const beginsAt = path.startsWith('/v1/rows') || path.includes('after=') || 'Last-Event-ID' in headers;
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) events.push(eventIn(block));
    // A stream that begins now misses what happens before the server has said where it begins.
    if (beginsAt || events.some(({ id }) => id !== undefined)) opening ??= Promise.resolve(onOpen?.());
    if (enough(events)) break;
  }
  clearTimeout(timer);
  stop.abort();
  // An event may arrive before the answer of the call that made it; the next test must not see that call.
  await opening;
  return events;
}

function eventIn(block: string): SseEvent {
  const event: SseEvent = {};
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'id') event.id = value;
    if (name === 'event') event.event = value;
    if (name === 'data') event.data = JSON.parse(value);
  }
  return event;
}
