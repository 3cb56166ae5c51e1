import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { StepfastError } from '../errors.ts';
import { apiHeader, apiVersion, paths, type Scope, versionHeader } from '../schema/index.ts';
import { createAdmission } from './admission.ts';
import { checkHost, type HostRules } from './allowed-hosts.ts';
import { createAuditor } from './audit.ts';
import { type AuthOptions, createAuth } from './auth.ts';
import type { Backend } from './backend.ts';
import { signInBy } from './browser-session.ts';
import { clientAddress, proxiedRequestId } from './client-address.ts';
import { onAnswered } from './connections.ts';
import { type Asset, assetResponse } from './dashboard-asset.ts';
import { createLanes } from './lanes.ts';
import type { Limits, Share } from './limits.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { openApi } from './openapi.ts';
import { createPeople } from './people.ts';
import { may, type Principal } from './principal.ts';
import { missingScope, problem, toProblem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';
import type { Env, NodeBindings, RequestInfo } from './request-info.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';
import { isRawResponse, serveRoute } from './serve-route.ts';
import { createShares } from './shares.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { createStreams } from './streams.ts';
import { createTailLag } from './tail-lag.ts';
import { traced } from './tracing.ts';

/** What clients that find this server should ask an issuer for: they keep their tokens on disks. */
const agentScopes: readonly Scope[] = ['read', 'write', 'gates'];

/** Stateless streamable HTTP for MCP: one request, one response. */
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
  /** The file of the dashboard for a path, if it is served. */
  asset?: ((path: string) => Asset | undefined) | undefined;
  /** Number of trusted reverse proxies in front of the server. */
  proxies?: number;
}

export interface App {
  fetch(request: Request, env?: NodeBindings): Promise<Response>;
  /** Fails readiness, ends streams and long polls, and resolves when no request is in flight or after `ms`. */
  drain(ms: number): Promise<void>;
}

export interface TeamApp extends App {
  /** All that it answers, as `METHOD /path`, but for the files of the dashboard. */
  readonly routes: readonly string[];
}

export function createApp(options: AppOptions): TeamApp {
  const { backend, mcp, hosts, limits, log, metrics, version, clock, proxies = 0 } = options;
  const { publicUrl, issuer } = options.auth;
  const auth = createAuth(options.auth, { backend, limits, clock });
  const people = createPeople({ backend, issuer, clock });
  const streams = createStreams({ backend, limits });
  const rate = createRateLimit({ perSecond: limits.perSecond, burst: limits.burst, clock });
  const auditor = createAuditor({ backend, log });
  const shares = createShares({ limits, onRefused: metrics.limited });
  const lanes = createLanes<number>(limits.atOncePerProject);
  const heavyLanes = createLanes<number>(limits.heavyPerProject);
  const admit = createAdmission(limits.perTurn);
  const stopping = new AbortController();
  metrics.countStreams(() => streams.size);
  const stopWake = backend.onWake(() => metrics.wake());
  const lag = backend.tailEnd && createTailLag(backend.tailEnd, clock);
  metrics.watchTailLag(() => seconds(lag?.last()));
  let inFlight = 0;
  let waitingCount = 0;
  let onIdle: (() => void) | undefined;

  const app = new Hono<Env>({ strict: false });
  app.use(observe);
  app.get(
    '/healthz',
    withRoute((c) => c.json({ status: 'ok', version })),
  );
  app.get('/readyz', withRoute(ready));
  app.use(async (c, next) => {
    checkHost(c.req.raw, hosts);
    await next();
  });
  const description = openApi(routes, { version, url: publicUrl.origin });
  app.get(
    '/v1/openapi.json',
    withRoute((c) => c.json(description)),
  );
  app.get(
    paths.signIn,
    withRoute((c) => c.json(signInBy(issuer))),
  );
  for (const resource of ['', '/mcp'])
    app.get(
      `/.well-known/oauth-protected-resource${resource}`,
      withRoute((c) => c.json(metadata(resource))),
    );
  for (const route of routes)
    app.on(
      route.method,
      route.path,
      withRoute((c) => serve(c, route)),
    );
  if (mcp) {
    app.post(
      '/mcp',
      withRoute((c) => serveMcp(c, mcp)),
    );
    app.all(
      '/mcp',
      withRoute((c) =>
        c.json({ code: 'bad_request', message: 'Method not allowed: use POST.' }, 405, { Allow: 'POST' }),
      ),
    );
  }
  for (const [path, handle] of Object.entries(
    signInRoutes({ auth, people, issuer, publicUrl, limits, auditor, clock }),
  ))
    app.post(path, withRoute(handle));
  app.notFound((c) => {
    const { path, method } = c.req;
    const isPage = method === 'GET' && !/^\/(v1|mcp|metrics|\.well-known)(\/|$)/.test(path);
    const asset = isPage ? options.asset?.(path) : undefined;
    if (asset) return withHeaders(c, assetResponse(asset));
    throw problem('no_route', 'Not found.', { next: `see ${publicUrl.origin}/v1/openapi.json` });
  });
  app.onError(answerError);

  return {
    routes: app.routes.filter(({ path }) => path !== '/*').map(({ method, path }) => `${method} ${path}`),
    async fetch(request, env = {}) {
      await admit();
      return await app.fetch(request, env);
    },
    async drain(ms) {
      // Streams close before the abort so that they can still send `reconnect`.
      streams.close();
      stopping.abort();
      auth.close();
      stopWake();
      lag?.close();
      if (inFlight + waitingCount === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };

  /** Logs and metrics get the route pattern, never the path that the client sent. */
  function withRoute(handle: (c: Context<Env>) => Response | Promise<Response>) {
    return (c: Context<Env>): Response | Promise<Response> => {
      c.get('info').route = c.req.routePath;
      return handle(c);
    };
  }

  async function observe(c: Context<Env>, next: () => Promise<void>): Promise<void> {
    const { method } = c.req;
    const began = performance.now();
    metrics.begin();
    await traced(c.req.raw, method, async (span) => {
      const { raw } = c.req;
      const info: RequestInfo = {
        id: proxiedRequestId(raw, proxies) ?? randomUUID(),
        address: clientAddress(raw, c.env.incoming?.socket?.remoteAddress, proxies),
        route: 'none',
        span,
      };
      c.set('info', info);
      // Set before the response exists: changing a finished response makes Hono copy it.
      for (const [name, value] of headersFor(info)) c.header(name, value);
      if (c.req.raw.url.length > limits.urlLength)
        c.res = await answerError(
          problem('bad_request', 'The URL is too long.', { next: 'send a shorter URL' }),
          c,
        );
      else await next();
      const { status } = c.res;
      const ms = performance.now() - began;
      const { route, principal } = info;
      span.end({ route, status });
      metrics.end({ method: knownMethod(method), route, status, seconds: ms / 1000 });
      log.info({
        request: info.id,
        address: info.address,
        method: knownMethod(method),
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(principal ? { project: principal.project.name, token: principal.id } : {}),
      });
    });
  }

  function headersFor({ id }: RequestInfo): [string, string][] {
    const headers: [string, string][] = [
      [apiHeader, String(apiVersion)],
      [versionHeader, version],
      ['X-Request-Id', id],
      ['X-Content-Type-Options', 'nosniff'],
    ];
    return stopping.signal.aborted ? [...headers, ['Connection', 'close']] : headers;
  }

  /** For a response that Hono did not create. */
  function withHeaders(c: Context<Env>, response: Response): Response {
    for (const [name, value] of headersFor(c.get('info'))) response.headers.set(name, value);
    return response;
  }

  async function ready(c: Context<Env>): Promise<Response> {
    if (stopping.signal.aborted)
      throw problem('unavailable', 'The server is shutting down.', { next: 'retry' });
    try {
      await backend.ready();
      await lag?.measure();
    } catch (error) {
      log.error({ err: error }, 'not ready');
      const why = toProblem(error)?.body.message ?? schemaProblem(error) ?? 'The database is not reachable.';
      throw problem('unavailable', why, { next: 'see the server log' });
    }
    // No reason to be unready: without servers there would be no streams at all.
    return c.json({ status: 'ready', tailLagSeconds: seconds(lag?.last()) });
  }

  async function enter(c: Context<Env>): Promise<Principal> {
    const principal = await auth.authenticate(c.req.raw);
    c.get('info').principal = principal;
    if (!rate.take(principal.id))
      throw problem('too_many_requests', 'Rate limit exceeded for this token.', {
        next: 'retry after one second',
      });
    return principal;
  }

  async function serve(c: Context<Env>, route: Route): Promise<Response> {
    const principal = await enter(c);
    const { raw: request } = c.req;
    const { id, address } = c.get('info');
    const share = route.answer === 'events' ? 'streams' : route.waits ? 'waits' : 'requests';
    return await counted(c, share, principal, async () => {
      const services = {
        principal,
        engine: backend.engine(principal.project.id),
        backend,
        people,
        pages: backend.pages(principal.project.id),
        streams,
        request,
        // Combining signals is expensive, so only long requests get their own.
        signal: route.waits ? AbortSignal.any([request.signal, stopping.signal]) : stopping.signal,
        now: clock(),
        url: publicUrl.origin,
        audit: auditor({ principal, address, request: id }),
      };
      const sent = { params: c.req.param(), limits, incoming: c.env.incoming };
      const work = () => serveRoute(route, services, sent);
      const inLane = route.heavy ? heavyLanes : lanes;
      const answer = await (route.waits ? work() : inLane(principal.project.id, work));
      const refusal = refusalIn(answer);
      if (refusal !== undefined) metrics.refused(refusal);
      shares.checkUnread(principal);
      return isRawResponse(answer) ? withHeaders(c, answer.response) : c.json(answer as object);
    });
  }

  async function serveMcp(c: Context<Env>, handler: McpHandler): Promise<Response> {
    const principal = await enter(c);
    if (!may(principal, 'write')) throw missingScope('write');
    return withHeaders(c, await counted(c, 'requests', principal, () => handler(c.req.raw, principal)));
  }

  /** Rejects excess requests before they queue for a database connection. */
  async function counted<T>(
    c: Context<Env>,
    share: Share,
    principal: Principal,
    work: () => Promise<T>,
  ): Promise<T> {
    const { incoming, outgoing } = c.env;
    shares.checkUnread(principal);
    const giveBack = shares.take(share, principal, outgoing);
    // An answer takes memory until it is read.
    if (incoming && outgoing) onAnswered(incoming, outgoing, giveBack);
    const waits = share !== 'requests';
    if (!waits && inFlight >= limits.inFlight)
      throw problem('unavailable', 'The server is overloaded.', { next: 'retry after one second' });
    if (waits) waitingCount += 1;
    else inFlight += 1;
    try {
      return await work();
    } finally {
      if (waits) waitingCount -= 1;
      else inFlight -= 1;
      if (inFlight + waitingCount === 0) onIdle?.();
      if (!outgoing) giveBack();
    }
  }

  function metadata(resource: string): object {
    return {
      resource: `${publicUrl.origin}${resource}`,
      ...(issuer ? { authorization_servers: [issuer.issuer] } : {}),
      scopes_supported: agentScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Stepfast',
    };
  }

  function answerError(error: unknown, c: Context<Env>): Response {
    const known = toProblem(error);
    const info = c.get('info');
    metrics.refused(known?.body.code ?? 'internal');
    if (!known || known.status >= 500)
      log.error(
        { request: info.id, address: info.address, route: info.route, err: loggable(error) },
        'failed',
      );
    if (known)
      // Every status in the table allows a body.
      return c.json(known.body, known.status as 400, { ...known.headers });
    return c.json({ code: 'internal', message: `Internal server error. Request id: ${info.id}.` }, 500);
  }
}

/** The code of a refusal that the engine answers instead of a new position. */
function refusalIn(answer: unknown): string | undefined {
  const reply = (answer as { reply?: { code?: unknown } } | undefined)?.reply;
  return typeof reply?.code === 'string' ? reply.code : undefined;
}

const seconds = (ms = 0): number => Math.round(ms / 100) / 10;

const loggable = (error: unknown): object =>
  error instanceof Error
    ? {
        message: error.message,
        stack: error.stack,
        cause: error.cause instanceof Error ? error.cause.message : undefined,
      }
    : { message: String(error) };

/** Schema errors contain no secrets, so clients may see them. */
const schemaProblem = (error: unknown): string | undefined =>
  error instanceof StepfastError && error.code.startsWith('schema_') ? error.message : undefined;

const knownMethod = (method: string): string =>
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other';
