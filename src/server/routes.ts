import * as z from 'zod';
import { definitionCheck } from '../definition/index.ts';
import { type Executed, noRun, type RunAnswer, type ViewAnswer, type WatchAnswer } from '../engine/index.ts';
import type { Definition } from '../machine/index.ts';
import { inTurns } from '../runtime/index.ts';
import {
  beginBodySchema,
  type CommandBody,
  commandBodySchema,
  etagOf,
  idsAnswerSchema,
  maxPage,
  maxWatchMs,
  type PublishAnswer,
  preferenceIn,
  preferHeader,
  publishAnswerSchema,
  publishBodySchema,
  runId,
} from '../schema/index.ts';
import type { Loaded } from '../store/index.ts';
import { ownTurn } from '../turn-for.ts';
import type { Audit } from './audit.ts';
import { asReader, isDecision, scopeOf, withProvenActor } from './command-actor.ts';
import { pageRoutes } from './page-routes.ts';
import { presented } from './present.ts';
import { may } from './principal.ts';
import { principalRoutes } from './principal-routes.ts';
import { missingScope, problem } from './problem.ts';
import { publish, requirePublished } from './publication.ts';
import { type Call, type Common, commonRoute, type Route, rawResponse, route } from './route.ts';

/** Longer than any file, with all that it extends. */
const maxDefinition = 512 * 1024;

const definition = z
  .looseObject({ name: z.string(), description: z.string(), steps: z.array(z.looseObject({})) })
  .meta({ description: 'A resolved workflow; see the workflow schema.' })
  // Validated by `checkDefinition`.
  .transform((value) => value as unknown as Definition);

async function checkDefinition(sent: Definition): Promise<void> {
  const isLong = JSON.stringify(sent).length > maxDefinition;
  const wrong = isLong
    ? `it has more than ${maxDefinition} characters`
    : await inTurns(definitionCheck(sent));
  if (wrong !== undefined)
    throw problem('not_understood', `definition: ${wrong}.`, { next: 'see /v1/openapi.json' });
}

const run = z.object({ run: runId });
const seq = z.coerce.number().pipe(z.int().min(0).max(1_000_000_000));
const version = z.object({ seq: z.int(), hash: z.string() });
const runInfo = z.looseObject({
  run: z.string(),
  state: z
    .looseObject({})
    .optional()
    .describe('Workflow, status, step, summary and times; absent if the run cannot be read.'),
  position: z.string().optional().describe('Where the run stands, in a few words.'),
  now: z.string().optional().describe('One sentence: what happens now, or how it ended.'),
  tone: z.string().optional(),
  needs: z.int().optional().describe('How many things wait for a person.'),
  tasks: z.object({ done: z.int(), total: z.int() }).optional(),
  problem: z.string().optional(),
});
const preferredView = z
  .object({ hash: z.string(), state: z.looseObject({}), version })
  .optional()
  .describe('The run as it is now, with the header Prefer: return=representation.');
const executed = z.object({
  run: z.string(),
  reply: z.looseObject({}).describe('The position of the run, or a refusal with code, message and next.'),
  effects: z.array(z.looseObject({ type: z.string() })),
  changed: z.boolean(),
  ignored: z
    .literal(true)
    .optional()
    .describe('Nothing that the command says was kept, because its position waits.'),
  repeated: z
    .literal(true)
    .optional()
    .describe("The call's key was used before: this is the reply to the first call."),
  interrupted: z.boolean(),
  due: z.array(z.looseObject({})),
  notifications: z
    .array(z.looseObject({ event: z.string(), kind: z.string() }))
    .optional()
    .describe('What `notify` of the workflow wants the user to be told of this change.'),
  view: preferredView,
});
const cursor = z.string().regex(/^\d{1,20}$/);

const runsQuery = z.union([
  z.strictObject({ name: z.string().min(1).max(128) }),
  z.strictObject({
    live: z.enum(['true', 'false']).optional(),
    after: z.string().min(1).max(300).optional(),
    limit: z.coerce.number().pipe(z.int().min(1).max(maxPage)).optional(),
  }),
]);

const commandsRoute = commonRoute({
  method: 'POST',
  path: '/v1/runs/:run/commands',
  // `status` needs only `read`; `execute` checks the scope of every other command.
  scope: 'read',
  summary: 'Execute a command on a run; every command except `status` requires the scope `write` or `gates`',
  params: run,
  body: commandBodySchema,
  answer: executed,
  handle: execute,
});

const textRoute = commonRoute({
  method: 'GET',
  path: '/v1/runs/:run/texts/:digest',
  scope: 'read',
  summary: 'Get a long text by its digest',
  params: z.object({ run: runId, digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) }),
  answer: 'text',
  async handle({ params, engine }) {
    const missing = '…';
    const text = await engine.text(params.run, { digest: params.digest, opening: '', bytes: 0 });
    // A text this short is never stored separately, so this can only mean that it is missing.
    if (text === missing) throw problem('no_route', 'Text not found.', { next: 'reload the run' });
    const headers = {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'private, max-age=31536000, immutable',
    };
    return rawResponse(new Response(text, { headers }));
  },
});

/** Those that the dashboard needs besides its own. */
export const sharedRoutes: readonly Route<Common>[] = [commandsRoute, textRoute];

/** The whole API. */
export const routes: readonly Route[] = [
  ...pageRoutes,
  route({
    method: 'POST',
    path: '/v1/runs',
    scope: 'write',
    summary: 'Start a run',
    body: beginBodySchema(definition),
    answer: executed,
    handle: async ({ body, principal, engine, backend, now, request, audit }) => {
      await checkDefinition(body.definition);
      await requirePublished(body.definition, principal, backend);
      const command = withProvenActor(body.command, principal, now);
      const circumstances = { ...body.circumstances, principal: principal.id };
      const begun = await engine.begin(body.definition, command, circumstances, body.once);
      if (isDecision(command.type)) await auditDecision(command, begun, audit);
      return asPreferred(begun, request);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs',
    scope: 'read',
    heavy: true,
    summary: 'List run ids by name, or a page of summaries of runs, newest first',
    query: runsQuery,
    answer: z.union([idsAnswerSchema, z.object({ runs: z.array(runInfo), next: z.string().optional() })]),
    async handle({ query, principal, engine, backend }) {
      if ('name' in query) return { ids: await engine.ids(query.name) };
      const { live, after, limit = maxPage } = query;
      return await backend.list(principal.project.id, {
        limit,
        live: live === undefined ? undefined : live === 'true',
        after,
      });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/:run',
    scope: 'read',
    summary: 'Get a run with its workflow and state',
    params: run,
    answer: z.object({
      run: z.string(),
      definition: z.looseObject({}),
      hash: z.string(),
      state: z.looseObject({}),
      version,
    }),
    async handle({ params, engine, request }) {
      const loaded = await engine.view(params.run);
      if (!loaded) throw noRun(params.run);
      const headers = { ETag: etagOf(loaded.version), 'Cache-Control': 'private, no-cache' };
      if (request.headers.get('if-none-match') === headers.ETag)
        return rawResponse(new Response(null, { status: 304, headers }));
      const { repeated: _, ...answer } = loaded;
      // It may be large, and its size is not known before.
      await ownTurn();
      const body = JSON.stringify(answer satisfies RunAnswer);
      return rawResponse(new Response(body, { headers: { ...headers, 'Content-Type': 'application/json' } }));
    },
  }),
  commandsRoute,
  route({
    method: 'GET',
    path: '/v1/runs/:run/entries',
    scope: 'read',
    heavy: true,
    summary: 'List the history of a run, oldest first',
    params: run,
    query: z.strictObject({ after: seq.optional() }),
    answer: z.object({
      entries: z.array(
        z.looseObject({
          seq: z.int(),
          hash: z.string(),
          now: z.number(),
          events: z.array(z.looseObject({})),
        }),
      ),
    }),
    async handle({ params, query, engine }) {
      const entries = await engine.entries(params.run, query.after);
      if (entries.length === 0 && !(await engine.ids(params.run)).includes(params.run))
        throw noRun(params.run);
      return { entries };
    },
  }),
  textRoute,
  route({
    method: 'GET',
    path: '/v1/runs/:run/watch',
    scope: 'read',
    summary: 'Wait until a run changes',
    params: run,
    query: z.strictObject({
      after: seq.optional(),
      ms: z.coerce.number().pipe(z.int().min(0).max(3_600_000)).optional(),
    }),
    answer: z.object({ seq: z.int(), view: preferredView }),
    waits: true,
    async handle({ params, query, engine, request, signal }) {
      const { after = 0, ms = maxWatchMs } = query;
      const { view: preferred, check } = preferenceIn(request.headers.get(preferHeader));
      const until = { signal, ...(check === undefined ? {} : { check }) };
      const changed = engine.watch(params.run, after, Math.min(ms, maxWatchMs), until);
      const abort = onAbort(signal);
      const seen = await Promise.race([changed, abort.aborted]).finally(abort.forget);
      // After an abort, nothing else handles its rejection.
      changed.catch(() => undefined);
      const view = seen ?? (await engine.view(params.run));
      if (!view) throw noRun(params.run);
      const { seq } = view.version;
      return { seq, ...(preferred && seq > after ? { view: viewOf(view) } : {}) } satisfies WatchAnswer;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/runs/:run',
    scope: 'admin',
    summary: 'Delete a run',
    params: run,
    answer: 'nothing',
    async handle({ params, engine, audit }) {
      await engine.remove(params.run);
      await audit?.({ action: 'run.deleted', subject: params.run });
      return rawResponse(new Response(null, { status: 204 }));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/events',
    scope: 'read',
    summary: 'Server-sent events: the batches of all runs or of one run; resumes after Last-Event-ID',
    query: z.strictObject({ run: runId.optional(), after: cursor.optional() }),
    answer: 'events',
    waits: true,
    async handle({ query, principal, request, streams, signal }) {
      // Hono also routes HEAD here, and no client would read the stream.
      if (request.method !== 'GET')
        throw problem('bad_request', 'Streams support only GET.', { next: 'use GET' });
      const last = request.headers.get('last-event-id') ?? query.after;
      if (last !== undefined && !cursor.safeParse(last).success)
        throw problem('bad_request', 'Invalid Last-Event-ID.', { next: 'omit it' });
      return rawResponse(streams.open(principal, { signal, after: last, run: query.run }));
    },
  }),
  route({
    method: 'POST',
    path: '/v1/workflows',
    scope: 'decide',
    summary: 'Publish a workflow in this project',
    body: publishBodySchema(definition),
    answer: publishAnswerSchema,
    async handle({ body, principal, backend, audit }): Promise<PublishAnswer> {
      await checkDefinition(body.definition);
      const published = await publish(body.definition, principal, backend);
      const { name, hash, digest } = published;
      await audit?.({ action: 'workflow.published', subject: hash, details: { name, digest } });
      return published;
    },
  }),
  ...principalRoutes,
];

type CommandCall = Call<{ run: string }, unknown, CommandBody, Common>;

const viewOf = ({ hash, state, version: at }: Loaded): ViewAnswer => ({ hash, state, version: at });

function asPreferred({ view, ...answer }: Executed, request: Request): object {
  const preferred = view !== undefined && preferenceIn(request.headers.get(preferHeader)).view;
  return { ...presented(answer), ...(preferred ? { view: viewOf(view) } : {}) };
}

async function execute({
  params,
  body,
  principal,
  engine,
  now,
  request,
  audit,
}: CommandCall): Promise<object> {
  const { command, key: given, circumstances } = body;
  if (command.type === 'status' && !may(principal, 'write')) {
    const reader = asReader({ ...command, now }, principal, now);
    const around = reader.circumstances(circumstances);
    return asPreferred(await engine.execute(params.run, reader.command, undefined, around), request);
  }
  const proven = withProvenActor(command, principal, now);
  const needed = scopeOf(command.type);
  if (!may(principal, needed)) throw missingScope(needed);
  const around = { ...circumstances, principal: principal.id };
  const executed = await engine.execute(params.run, proven, given, around);
  if (isDecision(command.type)) await auditDecision(proven, executed, audit);
  return asPreferred(executed, request);
}

/** What changed nothing, because it was refused or repeated, is no decision. */
async function auditDecision(
  { type, actor, ...command }: { type: string; actor: { kind: string }; verdict?: string },
  { run, changed }: Executed,
  audit: Audit | undefined,
): Promise<void> {
  const { verdict } = command;
  const details = { as: actor.kind, ...(verdict === undefined ? {} : { verdict }) };
  if (changed) await audit?.({ action: `decision.${type}`, subject: run, details });
}

function onAbort(signal: AbortSignal): { aborted: Promise<void>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = (): void => resolve();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', listener, { once: true });
  return { aborted: promise, forget: () => signal.removeEventListener('abort', listener) };
}
