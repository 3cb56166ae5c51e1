import * as z from 'zod';
import { noRun } from '../engine/index.ts';
import { StepfastError } from '../errors.ts';
import type { PageSource, RowChange } from '../runtime/index.ts';
import { runId } from '../schema/index.ts';
import { createEventStream, encodeEvent } from './event-stream.ts';
import { localId, may, type Principal } from './principal.ts';
import { type PageServices, pageRoute, type Route, rawResponse } from './route.ts';

const run = z.object({ run: runId });
const named = z.object({ name: z.string().min(1).max(200) });
const count = (most: number) => z.coerce.number().pipe(z.int().min(0).max(most));
const tones = ['working', 'person', 'red', 'complete', 'failed', 'cancelled'] as const;
const page = z.looseObject({});
const dryRun = z.strictObject({ tasks: count(50).default(2), seed: count(1_000_000_000).optional() });
const maxRows = 200;
const maxNeeds = 100;
const maxEntries = 500;

/** What the dashboard reads. Its types are those of `runtime/pages/`. */
export const pageRoutes: readonly Route<PageServices>[] = [
  pageRoute({
    method: 'GET',
    path: '/v1/overview',
    scope: 'read',
    summary: 'Count the runs by what they do, and list those that need a person',
    answer: page,
    async handle({ pages, principal }) {
      const [counts, needs] = await Promise.all([pages.counts(), pages.needs(maxNeeds)]);
      return { project: principal.project.name, me: readerOf(principal), counts, needs };
    },
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/rows',
    scope: 'read',
    summary: 'List summaries of runs, newest first',
    query: z.strictObject({
      tone: z.enum(tones).optional(),
      text: z.string().max(200).optional(),
      offset: count(10_000_000).default(0),
      limit: count(maxRows).default(maxRows),
    }),
    answer: page,
    handle: ({ pages, query }) => pages.rows(query),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/rows/events',
    scope: 'read',
    summary: 'Server-sent events: every summary that is new or has changed',
    answer: 'events',
    waits: true,
    handle: async ({ pages, signal }) => rawResponse(rowStream(pages, signal)),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/page',
    scope: 'read',
    heavy: true,
    summary: 'Get what a page shows of a run: steps, tasks, sessions, evidence, notes, spending',
    params: run,
    answer: page,
    handle: async ({ pages, params }) => found(await pages.page(params.run), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/journal',
    scope: 'read',
    heavy: true,
    summary: 'List the history of a run in sentences, newest first, or oldest first after an entry',
    params: run,
    query: z.strictObject({
      after: count(1_000_000_000).optional(),
      before: count(1_000_000_000).optional(),
      limit: count(maxEntries).default(maxEntries),
    }),
    answer: page,
    handle: async ({ pages, params, query }) => found(await pages.journal(params.run, query), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/briefing',
    scope: 'read',
    heavy: true,
    summary: 'Get the briefing that an agent would get now, with its parts',
    params: run,
    answer: page,
    handle: async ({ pages, params }) => found(await pages.briefing(params.run), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/log',
    scope: 'read',
    heavy: true,
    summary: 'Get a range of what a gate has printed',
    params: run,
    query: z.strictObject({
      check: z.string().min(1).max(300),
      gate: count(20_000),
      from: count(1_000_000_000).default(0),
    }),
    answer: page,
    handle: async ({ pages, params, query }) => found(await pages.log(params.run, query), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/files',
    scope: 'read',
    heavy: true,
    summary: 'Get what has changed in the files of a run: since its gates, and since it began',
    params: run,
    answer: page,
    handle: async ({ pages, params }) => found(await pages.files(params.run), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/workflow',
    scope: 'read',
    heavy: true,
    summary: 'Get the workflow of a run, as it is drawn',
    params: run,
    answer: page,
    handle: async ({ pages, params }) => found(await pages.workflow(params), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/runs/:run/workflow/dry-run',
    scope: 'read',
    heavy: true,
    summary: 'Play the workflow of a run with made-up work',
    params: run,
    query: dryRun,
    answer: page,
    handle: async ({ pages, params, query }) => found(await pages.dryRun(params, query), params.run),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/workflows',
    scope: 'read',
    heavy: true,
    summary: 'List the workflows that can be started here',
    answer: page,
    handle: ({ pages }) => pages.workflows(),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/workflows/:name',
    scope: 'read',
    heavy: true,
    summary: 'Get a workflow, as it is drawn',
    params: named,
    answer: page,
    handle: async ({ pages, params }) => foundWorkflow(await pages.workflow(params), params.name),
  }),
  pageRoute({
    method: 'GET',
    path: '/v1/workflows/:name/dry-run',
    scope: 'read',
    heavy: true,
    summary: 'Play a workflow with made-up work',
    params: named,
    query: dryRun,
    answer: page,
    handle: async ({ pages, params, query }) => foundWorkflow(await pages.dryRun(params, query), params.name),
  }),
];

function found<T>(answer: T | undefined, id: string): T {
  if (answer === undefined) throw noRun(id);
  return answer;
}

function foundWorkflow<T>(answer: T | undefined, name: string): T {
  if (answer === undefined) throw new StepfastError('no_workflow', `There is no workflow '${name}'.`);
  return answer;
}

const readerOf = (principal: Principal) => ({
  name: principal.name,
  kind: principal.kind,
  // Who is signed in as a person is asked for the passphrase when deciding.
  mayDecide: may(principal, 'decide') || principal.kind === 'person',
  ...(principal.id !== localId && principal.kind === 'person' && { isSignedIn: true as const }),
});

const heartbeatMs = 15_000;
const maxQueued = 256 * 1024;

/** A reader that comes back has missed something, so it is told to load everything anew. */
function rowStream(pages: PageSource, signal: AbortSignal): Response {
  let leave = (): void => {};
  const stream = createEventStream({ signal, maxQueued, heartbeatMs, onEnd: () => leave() });
  const write = (text: string): void => stream.write(encodeEvent(text));
  write('retry: 1000\nevent: reset\ndata: {}\n\n');
  leave = pages.subscribe((change) => write(eventOf(change)));
  if (signal.aborted) stream.end();
  return stream.response;
}

const eventOf = (change: RowChange): string =>
  'row' in change
    ? `event: row\ndata: ${JSON.stringify(change.row)}\n\n`
    : `event: gone\ndata: ${JSON.stringify({ run: change.gone })}\n\n`;
