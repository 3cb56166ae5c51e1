import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { turnFor } from '../turn-for.ts';
import { parseJson, readJsonText } from './body.ts';
import type { Limits } from './limits.ts';
import { may } from './principal.ts';
import { credentialRequired, missingScope, problem } from './problem.ts';
import type { Call, Common, RawResponse, Route } from './route.ts';

interface Sent {
  params: Record<string, string>;
  limits: Limits;
  incoming?: IncomingMessage | undefined;
}

/** Checks what was sent against the schemas of a route, and returns the answer of its handler. Throws a problem. */
export async function serveRoute<S extends Common>(
  route: Route<S>,
  services: S,
  { params, limits, incoming }: Sent,
): Promise<unknown> {
  const { principal, request } = services;
  if (route.scope !== 'any' && !may(principal, route.scope))
    throw route.scope === 'decide' ? credentialRequired(principal) : missingScope(route.scope);
  const call = {
    ...services,
    params: checked(route.params, params, 'bad_request'),
    query: checked(route.query, queryOf(request.url), 'bad_request'),
    body: route.body && (await readBody(route.body, { request, limits, incoming })),
  };
  // The schemas of the route have validated it.
  return await route.handle(call as Call<never, never, never, S>);
}

/** Reading, checking and handling a large body are turns of their own. */
async function readBody(
  schema: z.ZodType,
  { request, limits, incoming }: Pick<Common, 'request'> & Omit<Sent, 'params'>,
): Promise<unknown> {
  const text = await readJsonText(request, limits, incoming);
  await turnFor(text.length);
  const sent = parseJson(text);
  await turnFor(text.length);
  const body = checked(schema, sent, 'not_understood');
  await turnFor(text.length);
  return body;
}

/** Engine responses never have this key. */
export const isRawResponse = (answer: unknown): answer is RawResponse =>
  typeof answer === 'object' && answer !== null && 'response' in answer;

/** A repeated parameter is an error. */
function queryOf(url: string): Record<string, string> {
  if (!url.includes('?')) return {};
  const { searchParams } = new URL(url);
  const repeated = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1);
  if (repeated !== undefined)
    throw problem('bad_request', 'A query parameter is repeated.', { next: 'send it once' });
  return Object.fromEntries(searchParams);
}

/** Throws a problem that says what is wrong. */
export function checked(
  schema: z.ZodType | undefined,
  value: unknown,
  code: 'bad_request' | 'not_understood',
): unknown {
  const parsed = schema?.safeParse(value);
  if (!parsed) return undefined;
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.').slice(0, 200) ?? '';
  const what = issue?.message.slice(0, 300) ?? 'invalid value';
  throw problem(code, path === '' ? `${what}.` : `${path}: ${what}.`, {
    next: 'see /v1/openapi.json',
  });
}
