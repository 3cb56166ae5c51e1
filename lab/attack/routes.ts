/** Every operation of the OpenAPI document as every kind of principal. */
import type { Attack, Outcome } from './attack.ts';
import { type Answer, type Ground, type Principal, plain, principals } from './ground.ts';

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

const scopes: Readonly<Partial<Record<Principal, readonly string[]>>> = {
  invitation: ['join'],
  reader: ['read'],
  agent: ['read', 'write', 'gates'],
  rival: ['read', 'write', 'gates'],
  runner: ['read', 'write', 'gates', 'runner'],
  login: ['read', 'write', 'gates'],
  person: ['read', 'write', 'gates', 'decide'],
  admin: ['read', 'admin'],
  stranger: ['read', 'write', 'gates', 'decide'],
};
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

export async function routeAttacks(ground: Ground): Promise<Attack[]> {
  const { text } = await ground.call('reader', 'GET', '/v1/openapi.json');
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
  const attacks: Attack[] = [];
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations))
      for (const as of principals)
        attacks.push({
          id: 'routes',
          what: `${method.toUpperCase()} ${path} as ${as}`,
          run: async () => await tryRoute(ground, as, method.toUpperCase(), path, operation),
        });
  return attacks;
}

async function tryRoute(
  ground: Ground,
  as: Principal,
  method: string,
  path: string,
  operation: Operation,
): Promise<Outcome> {
  const run = await ground.begin('agent', { ...plain, description: secret }, { summary: secret });
  // Only a runner makes tokens for its sessions.
  const needed = path === '/v1/tokens' ? 'runner' : /scope `(\w+)`/.exec(operation.description)?.[1];
  const target = fill(path, run);
  const bodies = path.endsWith('/commands')
    ? commands.map(({ command, scope, decision }) => ({ body: { command }, scope, decision }))
    : [{ body: operation.requestBody && example(operation.requestBody.content['application/json'].schema) }];
  const got: string[] = [];
  for (const { body, scope, decision } of bodies as { body?: object; scope?: string; decision?: true }[]) {
    const isStream =
      '200' in operation.responses && JSON.stringify(operation.responses).includes('event-stream');
    const answer = isStream
      ? await opening(ground, as, target)
      : await ground.call(
          as,
          method,
          method === 'GET' && path.endsWith('/watch') ? `${target}?ms=10` : target,
          body,
        );
    const isDone = answer.status < 400 && !(decision && /"code":/.test(answer.text));
    got.push(`${answer.status}${answer.code ? ` ${answer.code}` : ''}`);
    const isGone =
      as === 'stranger' && (await ground.call('reader', 'GET', `/v1/runs/${run}`)).status !== 200;
    const leaks =
      as === 'stranger' &&
      (answer.text.includes(secret) || isGone || (answer.status === 200 && target.includes(run)));
    const own = scopes[as] ?? [];
    const asked = scope ?? needed;
    // Where no scope is named, every valid token will do.
    const lacks =
      (asked === undefined ? own.length === 0 : !own.includes(asked)) ||
      (decision === true && !own.includes('decide'));
    const isMissing = path.includes('{') && answer.status === 404;
    if (leaks || (isDone && lacks && !isMissing) || answer.status >= 500)
      return { got: `${got.at(-1)}: ${answer.text.slice(0, 80)}`, succeeded: true };
  }
  return { got: [...new Set(got)].join(', '), succeeded: false };
}

const fill = (path: string, run: string): string =>
  path
    .replace('{run}', run)
    .replace('{digest}', `sha256:${'0'.repeat(64)}`)
    .replaceAll(/\{\w+\}/g, 'x');

/** The first part of a stream. */
async function opening(ground: Ground, as: Principal, path: string): Promise<Answer> {
  const token = ground.tokens[as];
  const end = new AbortController();
  const response = await fetch(ground.url + path, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    signal: AbortSignal.any([end.signal, AbortSignal.timeout(30_000)]),
  });
  const chunk = response.ok ? await firstChunk(response) : await response.text();
  end.abort();
  return { status: response.status, text: chunk, code: /"code":"(\w+)"/.exec(chunk)?.[1] };
}

async function firstChunk({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const read = reader?.read().then(({ value }) => new TextDecoder().decode(value));
  const nothing = new Promise<string>((resolve) => void setTimeout(resolve, 300, ''));
  return (await Promise.race([read, nothing])) ?? '';
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
