import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Context, Hono } from 'hono';
import type * as z from 'zod';
import { StepfastError } from '../errors.ts';
import { scopes as allScopes, apiHeader, apiVersion, versionHeader } from '../schema/index.ts';
import { addressOf } from './address.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import type { Backend } from './backend.ts';
import { parseJson, readJsonText } from './body.ts';
import { checkHost, type HostRules } from './hosts.ts';
import type { Limits } from './limits.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { openApi } from './openapi.ts';
import { may, type Principal } from './principal.ts';
import { lacksScope, problem, problemOf } from './problem.ts';
import { createRate } from './rate.ts';
import type { Call, Route, Special } from './route.ts';
import { routes } from './routes.ts';
import { createStreams } from './streams.ts';
import { type Span, traced } from './tracing.ts';

/** Streamable HTTP MCP, stateless: one request, one answer. */
export type McpHandler = (request: Request, caller: Principal) => Promise<Response>;

export interface AppOptions {
  backend: Backend;
  mcp?: McpHandler;
  auth: AuthOptions;
  hosts: HostRules;
  limits: Limits;
  log: Log;
  metrics: Metrics;
  version: string;
  clock(): number;
  /** Proxies of our own in front, whose word on addresses counts. */
  proxies?: number;
}

/** What the node server hands over beside the request. */
export interface Surroundings {
  incoming?: IncomingMessage;
}

export interface App {
  fetch(request: Request, env?: Surroundings): Promise<Response>;
  /** From now on not ready: streams and long polls end, the rest is finished. Resolves when nothing runs, or after `ms`. */
  drain(ms: number): Promise<void>;
}

/** What is noted of a request while it is worked on. */
interface Note {
  id: string;
  route: string;
  principal?: Principal;
  span: Span;
}

interface Env {
  Bindings: Surroundings;
  Variables: { note: Note };
}

export function createApp(options: AppOptions): App {
  const { backend, mcp, hosts, limits, log, metrics, version, clock, proxies = 0 } = options;
  const { publicUrl, issuer } = options.auth;
  const auth = createAuth(options.auth, { backend, limits, clock });
  const streams = createStreams({ backend, limits });
  const rate = createRate({ perSecond: limits.perSecond, burst: limits.burst, clock });
  const stopping = new AbortController();
  const stopWake = backend.onWake(() => metrics.wake());
  let working = 0;
  let waiting = 0;
  let onIdle: (() => void) | undefined;

  const app = new Hono<Env>({ strict: false });
  app.use(observe);
  app.get(
    '/healthz',
    named((c) => c.json({ status: 'ok', version })),
  );
  app.get('/readyz', named(ready));
  app.get(
    '/metrics',
    named(async (c) => {
      metrics.streams(streams.size);
      return c.body(await metrics.text(), 200, { 'Content-Type': metrics.contentType });
    }),
  );
  app.use(async (c, next) => {
    try {
      checkHost(c.req.raw, hosts);
    } catch (error) {
      metrics.refused('host');
      throw error;
    }
    await next();
  });
  const described = openApi(routes, { version, url: publicUrl.origin });
  app.get(
    '/v1/openapi.json',
    named((c) => c.json(described)),
  );
  for (const resource of ['', '/mcp'])
    app.get(
      `/.well-known/oauth-protected-resource${resource}`,
      named((c) => c.json(metadata(resource))),
    );
  for (const route of routes)
    app.on(
      route.method,
      route.path,
      named((c) => serve(c, route)),
    );
  if (mcp) {
    app.post(
      '/mcp',
      named((c) => serveMcp(c, mcp)),
    );
    app.all(
      '/mcp',
      named((c) =>
        c.json({ code: 'bad_request', message: 'Only POST is served here.' }, 405, { Allow: 'POST' }),
      ),
    );
  }
  app.notFound(() => {
    throw problem('no_route', 'There is nothing here.', { next: `see ${publicUrl.origin}/v1/openapi.json` });
  });
  app.onError(answerError);

  return {
    fetch: async (request, env = {}) => await app.fetch(request, env),
    async drain(ms) {
      // Before those that wait are told: a stream has a last word.
      streams.close();
      stopping.abort();
      auth.close();
      stopWake();
      if (working + waiting === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };

  /** A request's route is its pattern: what clients put into a path is in no log and no metric. */
  function named(handle: (c: Context<Env>) => Response | Promise<Response>) {
    return (c: Context<Env>): Response | Promise<Response> => {
      c.get('note').route = c.req.routePath;
      return handle(c);
    };
  }

  async function observe(c: Context<Env>, next: () => Promise<void>): Promise<void> {
    const { method } = c.req;
    const began = performance.now();
    metrics.begin();
    await traced(c.req.raw, method, async (span) => {
      const note: Note = { id: randomUUID(), route: 'none', span };
      c.set('note', note);
      // Before there is an answer: Hono writes them with it, and a finished one would be taken apart again.
      for (const [name, value] of headersFor(note)) c.header(name, value);
      if (c.req.raw.url.length > limits.urlLength)
        c.res = await answerError(problem('bad_request', 'The URL is too long.', { next: 'shorten it' }), c);
      else await next();
      const { status } = c.res;
      const ms = performance.now() - began;
      const { route, principal } = note;
      span.end({ route, status });
      metrics.end({ method: knownMethod(method), route, status, seconds: ms / 1000 });
      log.info({
        request: note.id,
        method: knownMethod(method),
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(principal ? { project: principal.project.name, token: principal.id } : {}),
      });
    });
  }

  function headersFor({ id }: Note): [string, string][] {
    const headers: [string, string][] = [
      [apiHeader, String(apiVersion)],
      [versionHeader, version],
      ['X-Request-Id', id],
      ['X-Content-Type-Options', 'nosniff'],
    ];
    return stopping.signal.aborted ? [...headers, ['Connection', 'close']] : headers;
  }

  /** An answer that was not made by Hono. */
  function withHeaders(c: Context<Env>, response: Response): Response {
    for (const [name, value] of headersFor(c.get('note'))) response.headers.set(name, value);
    return response;
  }

  async function ready(c: Context<Env>): Promise<Response> {
    if (stopping.signal.aborted)
      throw problem('unavailable', 'The server is stopping.', { next: 'ask another' });
    try {
      await backend.ready();
    } catch (error) {
      log.error({ err: error }, 'not ready');
      const why = problemOf(error)?.body.message ?? schemaProblem(error) ?? 'The database does not answer.';
      throw problem('unavailable', why, { next: 'look at the log of the server' });
    }
    return c.json({ status: 'ready' });
  }

  async function enter(c: Context<Env>): Promise<Principal> {
    const address = addressOf(c.req.raw, c.env.incoming?.socket?.remoteAddress, proxies);
    const principal = await auth.authenticate(c.req.raw, address).catch((error: unknown) => {
      metrics.refused('auth');
      throw error;
    });
    c.get('note').principal = principal;
    if (!rate.take(principal.id)) {
      metrics.refused('rate');
      throw problem('too_many_requests', 'This token is used too often.', { next: 'wait a second' });
    }
    return principal;
  }

  async function serve(c: Context<Env>, route: Route): Promise<Response> {
    const principal = await enter(c);
    if (route.scope !== 'any' && !may(principal, route.scope)) throw lacksScope(route.scope);
    return await counted(route.waits === true, async () => {
      const { raw: request } = c.req;
      const call = {
        params: checked(route.params, c.req.param(), 'bad_request'),
        query: checked(route.query, queryOf(c.req.url), 'bad_request'),
        body: route.body && checked(route.body, await bodyOf(c), 'not_understood'),
        principal,
        engine: backend.engine(principal.project.id),
        backend,
        streams,
        request,
        // Made only where somebody waits for it.
        signal: route.waits ? AbortSignal.any([request.signal, stopping.signal]) : stopping.signal,
        now: clock(),
        url: publicUrl.origin,
      };
      // Each row was made with the types of its own schemas.
      const answer = await route.handle(call as Call<never, never, never>);
      return isSpecial(answer) ? withHeaders(c, answer.special) : c.json(answer as object);
    });
  }

  async function bodyOf(c: Context<Env>): Promise<unknown> {
    return parseJson(await readJsonText(c.req.raw, limits, c.env.incoming));
  }

  async function serveMcp(c: Context<Env>, handler: McpHandler): Promise<Response> {
    const principal = await enter(c);
    if (!may(principal, 'write')) throw lacksScope('write');
    return withHeaders(c, await counted(false, () => handler(c.req.raw, principal)));
  }

  /** What is too much at once is sent away at once, before it waits for a connection. */
  async function counted<T>(waits: boolean, work: () => Promise<T>): Promise<T> {
    if (!waits && working >= limits.inFlight) {
      metrics.refused('overload');
      throw problem('unavailable', 'The server has too much to do.', { next: 'send it again in a second' });
    }
    if (waits) waiting += 1;
    else working += 1;
    try {
      return await work();
    } finally {
      if (waits) waiting -= 1;
      else working -= 1;
      if (working + waiting === 0) onIdle?.();
    }
  }

  function metadata(resource: string): object {
    return {
      resource: `${publicUrl.origin}${resource}`,
      ...(issuer ? { authorization_servers: [issuer.issuer] } : {}),
      scopes_supported: allScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Stepfast',
    };
  }

  function answerError(error: unknown, c: Context<Env>): Response {
    const known = problemOf(error);
    const note = c.get('note');
    if (!known || known.status >= 500)
      log.error({ request: note.id, route: note.route, err: shown(error) }, 'failed');
    if (known)
      // Every status of the table is one that has a body.
      return c.json(known.body, known.status as 400, { ...known.headers });
    return c.json(
      { code: 'internal', message: `Something is wrong in the server: see request ${note.id} in its log.` },
      500,
    );
  }
}

const shown = (error: unknown): object =>
  error instanceof Error
    ? {
        message: error.message,
        stack: error.stack,
        cause: error.cause instanceof Error ? error.cause.message : undefined,
      }
    : { message: String(error) };

/** No answer of an engine has such a key. */
const isSpecial = (answer: unknown): answer is Special =>
  typeof answer === 'object' && answer !== null && 'special' in answer;

/** What is wrong with a schema names no secret, and says what to do. */
const schemaProblem = (error: unknown): string | undefined =>
  error instanceof StepfastError && error.code.startsWith('schema_') ? error.message : undefined;

const knownMethod = (method: string): string =>
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other';

/** A name that is given twice is an error, not the last of them. */
function queryOf(url: string): Record<string, string> {
  if (!url.includes('?')) return {};
  const { searchParams } = new URL(url);
  const twice = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1);
  if (twice !== undefined)
    throw problem('bad_request', 'A parameter is given twice.', { next: 'give it once' });
  return Object.fromEntries(searchParams);
}

function checked(
  schema: z.ZodType | undefined,
  value: unknown,
  code: 'bad_request' | 'not_understood',
): unknown {
  const parsed = schema?.safeParse(value);
  if (!parsed) return undefined;
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.').slice(0, 200) ?? '';
  const what = issue?.message.slice(0, 300) ?? 'it is not what was expected';
  throw problem(code, place === '' ? `${what}.` : `${place}: ${what}.`, {
    next: 'mend it; see /v1/openapi.json',
  });
}
