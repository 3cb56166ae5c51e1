import { createMcpHandler, isJsonContentType, readRequestBody } from '@modelcontextprotocol/server';
import type { Runtime } from '../runtime/index.ts';
import { type McpCaller, newSessionId, protocolHeader, sessionOf } from './http-session.ts';
import { createMcpServer } from './server.ts';

export interface McpHttpOptions {
  /** The runtime of the caller's project; called for every request that needs it. */
  runtimeFor(caller: McpCaller, session: string): Runtime;
  version: string;
  /** How long a call may wait for gates that run elsewhere; 0 by default. */
  waitMs?: number;
  maxBytes?: number;
  /** Maximum nesting of arrays and objects. */
  maxNesting?: number;
  /** Receives errors that are not refusals. */
  onError?(error: unknown): void;
}

export type McpHttp = (request: Request, caller: McpCaller) => Promise<Response>;

/** Messages in one request of the oldest era; later eras allow one. */
const mostMessages = 10;

/**
 * MCP over Streamable HTTP in both protocol eras. Stateless: any server can answer the next
 * request. Never rejects. The caller, Host and Origin were checked before.
 */
export function createMcpHttp(options: McpHttpOptions): McpHttp {
  const { version, runtimeFor, onError = () => {}, maxBytes = 2 * 1024 * 1024, maxNesting = 64 } = options;
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { caller, session, host } = detailsIn(authInfo?.extra);
      return createMcpServer({
        runtime: () => runtimeFor(caller, session),
        version,
        session,
        discreet: true,
        onError,
        ...(host === undefined ? {} : { host }),
        ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
      });
    },
    { maxRequestBodySize: maxBytes },
  );
  return async (request, caller) => {
    try {
      return await answer(request, caller);
    } catch (error) {
      onError(error);
      return rejection(500, -32603, 'Internal error');
    }
  };

  async function answer(request: Request, caller: McpCaller): Promise<Response> {
    if (request.method !== 'POST')
      return rejection(405, -32000, 'Only POST is supported: this server is stateless.');
    const { headers } = request;
    if (!isJsonContentType(headers.get('content-type')))
      return rejection(415, -32000, 'The body must be application/json.');
    const read = await readRequestBody(request, maxBytes).catch(() => undefined);
    if (!read) return rejection(400, -32700, 'The body is incomplete or not valid JSON.');
    if (read.tooLarge) return rejection(413, -32000, `The body has more than ${maxBytes} bytes.`);
    const body = parsed(read.text);
    if (body === undefined) return rejection(400, -32700, 'The body is no JSON.');
    if (isDeeperThan(body, maxNesting))
      return rejection(400, -32600, `The body is nested more than ${maxNesting} deep.`);
    if (Array.isArray(body) && body.length > mostMessages)
      return rejection(400, -32600, `A request can have at most ${mostMessages} messages.`);
    const params = objectIn(objectIn(body).params);
    const session = sessionOf(caller, headers, objectIn(params._meta));
    const details: Details = {
      caller,
      session: session.name,
      ...(session.host ? { host: session.host } : {}),
    };
    const response = await handler.fetch(bodiless(request), {
      parsedBody: body,
      authInfo: { token: '', clientId: caller.id, scopes: [...caller.scopes], extra: { ...details } },
    });
    const opens = objectIn(body).method === 'initialize' && response.ok;
    return opens ? withSession(response, objectIn(params.clientInfo).name) : response;
  }
}

interface Details {
  caller: McpCaller;
  session: string;
  host?: string;
}

/** Only `answer` sets it. */
const detailsIn = (extra: unknown): Details => extra as Details;

/** The same request with the body that was read. */
function bodiless({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal });
}

function withSession(response: Response, client: unknown): Response {
  const headers = new Headers(response.headers);
  headers.set(protocolHeader, newSessionId(client));
  return new Response(response.body, { status: response.status, headers });
}

const rejection = (status: number, code: number, message: string): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: status === 405 ? { Allow: 'POST' } : {} },
  );

/** Iterative, so that deep input cannot overflow the stack. */
function isDeeperThan(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  // An object that is not an array.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
