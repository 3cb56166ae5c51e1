/** Every operation of the OpenAPI document as every kind of principal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Arena, definitionOf } from '../../test/kit/server/attack.ts';
import type { Attack, Outcome } from './attack.ts';
import { type Principal, scopes, type Tokens } from './principals.ts';

interface Operation {
  description: string;
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: Record<string, object> }>;
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  items?: Schema;
}

const secret = 'ONLY-FOR-THE-ATTACKED-PROJECT';

/** Commands and what they need; a person's are refused to others in the answer. */
const commands: readonly { command: object; scope: string; decision?: true }[] = [
  { command: { type: 'status' }, scope: 'read' },
  { command: { type: 'note', kind: 'decision', text: 'x' }, scope: 'write' },
  {
    command: { type: 'review', verdict: 'approve', actor: { kind: 'person' } },
    scope: 'write',
    decision: true,
  },
  { command: { type: 'cancel', actor: { kind: 'person' } }, scope: 'write', decision: true },
  { command: { type: 'rewind', to: 'plan', actor: { kind: 'person' } }, scope: 'write', decision: true },
];

export async function routeAttacks(arena: Arena, tokens: Tokens): Promise<Attack[]> {
  const { body } = await arena.call('GET', '/v1/openapi.json', { token: arena.tokens.reader });
  const paths: Record<string, Record<string, Operation>> = body.paths;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      (Object.keys(scopes) as Principal[]).map((as) => ({
        what: `${method.toUpperCase()} ${path} as ${as}`,
        run: () => tryRoute(arena, tokens[as], as, method.toUpperCase(), path, operation),
      })),
    ),
  );
}

async function tryRoute(
  { url, call, begin, tokens: { reader } }: Arena,
  token: string | undefined,
  as: Principal,
  method: string,
  path: string,
  operation: Operation,
): Promise<Outcome> {
  const steps = ['plan', 'build'].map((id) => ({ id, type: 'action', instructions: `Do ${id}.` }));
  const { run } = (await begin(definitionOf(steps, { description: secret }))).body;
  // Only a runner makes tokens for its sessions.
  const needed = path === '/v1/tokens' ? 'runner' : /scope `(\w+)`/.exec(operation.description)?.[1];
  const target = fill(path, run) + (path.endsWith('/watch') ? '?ms=10' : '');
  const isStream =
    '200' in operation.responses && JSON.stringify(operation.responses).includes('event-stream');
  const schema = operation.requestBody?.content['application/json'].schema;
  const bodies: { body?: unknown; scope?: string; decision?: true }[] = path.endsWith('/commands')
    ? commands.map(({ command, ...about }) => ({ body: { command }, ...about }))
    : [schema ? { body: example(schema) } : {}];
  const own: readonly string[] = scopes[as];
  const got = new Set<string>();
  for (const { scope = needed, decision, ...sent } of bodies) {
    const { status, text } = isStream
      ? await opening(url + target, token)
      : await call(method, target, { ...sent, ...(token === undefined ? {} : { token }) });
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    got.add(`${status}${code ? ` ${code}` : ''}`);
    const isDone = status < 400 && !(decision && code !== undefined);
    const isGone = async (): Promise<boolean> =>
      (await call('GET', `/v1/runs/${run}`, { token: reader })).status !== 200;
    const leaks =
      as === 'stranger' &&
      (text.includes(secret) || (status === 200 && target.includes(run)) || (await isGone()));
    // If no scope is named, every valid token will do.
    const lacks =
      (scope === undefined ? own.length === 0 : !own.includes(scope)) ||
      (decision === true && !own.includes('decide'));
    if (leaks || (isDone && lacks) || status >= 500)
      return { got: `${status} ${code}: ${text.slice(0, 80)}`, succeeded: true };
  }
  return { got: [...got].join(', '), succeeded: false };
}

const fill = (path: string, run: string): string =>
  path
    .replace('{run}', run)
    .replace('{digest}', `sha256:${'0'.repeat(64)}`)
    .replaceAll(/\{\w+\}/g, 'x');

/** The first part of a stream. */
async function opening(url: string, token: string | undefined): Promise<{ status: number; text: string }> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const end = new AbortController();
  const response = await fetch(url, { headers, signal: end.signal });
  const first = response.body?.getReader().read();
  const piece = await Promise.race([first, sleep(300, undefined)]);
  end.abort();
  return { status: response.status, text: new TextDecoder().decode(piece?.value) };
}

/** The least that a schema asks for. */
function example(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return example(first);
  if (schema.type === 'object' || schema.properties)
    return Object.fromEntries(
      (schema.required ?? []).map((key) => [key, example(schema.properties?.[key] ?? {})]),
    );
  if (schema.type === 'array') return [];
  if (schema.type === 'number' || schema.type === 'integer') return 1;
  return schema.type === 'boolean' ? true : 'x';
}
