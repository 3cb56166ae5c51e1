import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Engine } from '../engine/index.ts';
import type { PageSource } from '../runtime/index.ts';
import { checkHost, type HostRules } from './allowed-hosts.ts';
import type { App } from './app.ts';
import { type Asset, assetResponse, pageHeaders } from './dashboard-asset.ts';
import { defaultLimits } from './limits.ts';
import type { OneTimeLinks } from './one-time-links.ts';
import { pageRoutes } from './page-routes.ts';
import type { Principal } from './principal.ts';
import { problem, toProblem } from './problem.ts';
import type { NodeBindings } from './request-info.ts';
import type { PageServices, Route } from './route.ts';
import { sharedRoutes } from './routes.ts';
import { isRawResponse, serveRoute } from './serve-route.ts';

export interface UiOptions {
  pages: PageSource;
  engine: Engine;
  /** The person at this machine, or a reader. */
  principal: Principal;
  links: OneTimeLinks;
  hosts: HostRules;
  /** Of a path; that of a page for paths without a file. */
  asset(path: string): Asset | undefined;
  origin(): string;
  clock(): number;
  onError(error: unknown): void;
}

const limits = defaultLimits;

/** The dashboard of one project for the browsers of one person. */
export function createUiApp(options: UiOptions): App {
  const { pages, engine, principal, links, hosts, origin, clock } = options;
  const stopping = new AbortController();
  const app = new Hono<{ Bindings: NodeBindings }>();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(pageHeaders)) c.header(name, value);
    checkHost(c.req.raw, hosts);
    // A page of another site can send forms without reading the answer.
    if (c.req.method !== 'GET' && c.req.header('origin') === undefined)
      throw problem('forbidden', 'Missing Origin.', { next: 'use the dashboard' });
    await next();
  });
  app.get('/open', (c) => {
    const cookie = links.use(c.req.query('token') ?? '');
    if (cookie === undefined) return c.text(usedText, 401);
    setCookie(c, cookieName(), cookie, { httpOnly: true, sameSite: 'Strict', path: '/' });
    return c.redirect('/', 303);
  });
  app.use(async (c, next) => {
    if (!links.hasCookie(getCookie(c, cookieName()))) {
      if (!c.req.path.startsWith('/v1/')) return c.text(closedText, 401);
      throw problem('unauthorized', 'This browser is not signed in.', {
        next: 'open the link that stepfast ui prints',
      });
    }
    return await next();
  });
  for (const route of [...pageRoutes, ...sharedRoutes] as Route<PageServices>[])
    app.on(route.method, route.path, async (c) => {
      const { raw: request } = c.req;
      const signal = route.waits ? AbortSignal.any([request.signal, stopping.signal]) : stopping.signal;
      const services = { principal, engine, pages, request, signal, now: clock(), url: origin() };
      const sent = { params: c.req.param(), limits, incoming: c.env.incoming };
      const answer = await serveRoute(route, services, sent);
      if (!isRawResponse(answer)) return c.json(answer as object, 200, { 'Cache-Control': 'no-store' });
      for (const [name, value] of Object.entries(pageHeaders)) answer.response.headers.set(name, value);
      return answer.response;
    });
  app.get('*', (c) => {
    const asset = c.req.path.startsWith('/v1/') ? undefined : options.asset(c.req.path);
    if (!asset) throw problem('no_route', 'Not found.');
    return assetResponse(asset);
  });
  app.onError((error, c) => {
    const known = toProblem(error);
    if (known) return c.json(known.body, known.status as 400, { ...pageHeaders, ...known.headers });
    options.onError(error);
    return c.json({ code: 'internal', message: 'Stepfast failed; see its terminal.' }, 500, pageHeaders);
  });
  return {
    fetch: async (request, env = {}) => await app.fetch(request, env),
    async drain() {
      stopping.abort();
    },
  };

  /** Cookies do not tell ports apart. */
  function cookieName(): string {
    return `stepfast_${new URL(origin()).port}`;
  }
}

const usedText =
  'This link was used before or is not known. Press Enter where stepfast ui runs to get another.\n';
const closedText = 'This browser is not signed in. Open the link that stepfast ui prints.\n';
