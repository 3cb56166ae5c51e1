import type { Caller, Text } from '../schema/index.ts';
import type { Batch } from './batch.ts';
import { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
import { own } from './own-property.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Cursor, type State, sameText } from './state.ts';
import { readyTasks, stepOf, taskListOf, tasksIn } from './steps.ts';

const replayWindowMs = 60_000;

/** An open position, a handle whose `advance` or `fail` was accepted before, or a refusal. */
export type Located = { cursor: Cursor } | { replay: 'advance' | 'fail' } | { refusal: Refusal };

export const byAgent = ({ actor }: Caller): boolean => (actor?.kind ?? 'agent') === 'agent';

/** Where a command acts: at its handle, else at the only open position that is the caller's. */
export function locate(batch: Batch, at: string | undefined): Located {
  return at === undefined ? locateOnly(batch) : locateHandle(batch, at);
}

/** A handle that is none, or another run's. */
export function foreignHandle(state: State, at: string, caller: Caller): Refusal | undefined {
  const parsed = parseHandle(at);
  const { next, only } = whereNow(state, caller);
  if (!parsed) return refuse('bad_handle', `'${String(at).slice(0, 80)}' is not a handle`, next, only);
  if (parsed.suffix === suffixOf(state.run)) return undefined;
  return refuse('wrong_run', `${at} belongs to another run, not to ${state.run}`, next, only);
}

function locateHandle({ definition, state, caller }: Batch, at: string): Located {
  const parsed = parseHandle(at);
  const path = parsed?.path ?? '';
  for (const cursor of Object.values(state.cursors)) {
    if (cursor.path === path && cursor.visit === parsed?.visit) return { cursor };
    if (cursor.failedAt === at) return { replay: 'fail' };
  }
  if (own(state.outputs, outputKey(path))?.at === at) return { replay: 'advance' };
  const step = definition.steps.find((candidate) => candidate.id === path.split('/', 1)[0]);
  const failed = step && tasksIn(taskListOf(state, step)).some((task) => task.endedAt === at);
  if (failed) return { replay: 'fail' };
  const { next, only } = whereNow(state, caller);
  return { refusal: refuse('stale_handle', `${at} is not open`, next, only) };
}

function locateOnly({ definition, state, caller }: Batch): Located {
  const open = Object.values(state.cursors);
  const [only] = open;
  if (only && open.length === 1 && isCallers(only, caller)) return { cursor: only };
  if (open.length > 1) {
    const handles = open
      .filter((cursor) => isCallers(cursor, caller))
      .map((cursor) => handleOf(state, cursor));
    const next =
      handles.length > 0 ? `one of ${handles.join(', ')}` : 'claim a task, and use the handle you get';
    return {
      refusal: refuse('at_required', `${open.length} positions are open: say which with \`at\``, next),
    };
  }
  const step = stepOf(definition, state.step);
  const ready = readyTasks(state, step).map((task) => task.id);
  const next =
    ready.length > 0 ? `claim one of ${ready.slice(0, 5).join(', ')}` : whereNow(state, caller).next;
  return { refusal: refuse('claim_required', `you hold no task of '${step.id}'`, next) };
}

/** A leased position is its holder's; without a session nobody can tell. */
export const isCallers = (cursor: Cursor, { session }: Caller): boolean =>
  cursor.lease === undefined || session === undefined || cursor.lease.holder === session;

/** What a refusal may tell: nobody learns the handle of somebody else's task. */
function whereNow(state: State, { session }: Caller): { next: string; only?: string } {
  const open = Object.values(state.cursors)
    .filter((cursor) => cursor.lease === undefined || cursor.lease.holder === session)
    .map((cursor) => handleOf(state, cursor));
  const [only] = open;
  if (only === undefined) return { next: 'ask for the status' };
  const next = `go on at ${open.slice(0, 5).join(', ')}`;
  return open.length === 1 ? { next, only } : { next };
}

export const handleOf = (state: State, { path, visit }: Cursor): string =>
  formatHandle(state.run, path, visit);

export function onlyCursor(state: State): Cursor | undefined {
  const cursors = Object.values(state.cursors);
  return cursors.length === 1 ? cursors[0] : undefined;
}

/** Without a handle, the same call by the same session within a minute is the same call again. */
export function repeatsAdvance(state: State, output: Text, caller: Caller): boolean {
  const { last } = state;
  if (last?.kind !== 'advance' || !isRecent(last, caller)) return false;
  const text = own(state.outputs, last.key)?.text;
  return text !== undefined && sameText(text, output);
}

export const repeatsFail = ({ last }: State, reason: string, caller: Caller): boolean =>
  last?.kind === 'fail' && last.reason === reason && isRecent(last, caller);

function isRecent(last: { now: number; session?: string }, { now, session }: Caller): boolean {
  const same = last.session === undefined || session === undefined || last.session === session;
  return same && now - last.now <= replayWindowMs;
}
