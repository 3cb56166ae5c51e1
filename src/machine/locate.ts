import type { Caller, Text } from '../schema/index.ts';
import type { Action } from './action.ts';
import { claimAction } from './actions.ts';
import type { Batch } from './batch.ts';
import { formatHandle, outputKey, parseHandle, suffixOf } from './handle.ts';
import { own } from './own-property.ts';
import { foreignTask, ownerOf, sharesWork } from './ownership.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Cursor, type State, sameText } from './state.ts';
import { readyTasks, stepOf, taskListOf, tasksIn } from './steps.ts';

const replayWindowMs = 60_000;

/** An open position, a handle with an accepted `advance` or `fail`, or a refusal. */
export type Located = { cursor: Cursor } | { replay: 'advance' | 'fail' } | { refusal: Refusal };

export const byAgent = ({ actor }: Caller): boolean => (actor?.kind ?? 'agent') === 'agent';

/** The position of a command: that of its handle, otherwise the caller's only open position. */
export function locate(batch: Batch, at: string | undefined): Located {
  return at === undefined ? locateOnly(batch) : locateHandle(batch, at);
}

/** Refuses an invalid handle and a handle of another run. */
export function foreignHandle(state: State, at: string, caller: Caller): Refusal | undefined {
  const parsed = parseHandle(at);
  if (!parsed) return refuse('bad_handle', { given: String(at).slice(0, 80) }, whereNow(state, caller));
  if (parsed.suffix === suffixOf(state.run)) return undefined;
  return refuse('wrong_run', { at, run: state.run }, whereNow(state, caller));
}

function locateHandle({ definition, state, caller }: Batch, at: string): Located {
  const parsed = parseHandle(at);
  const path = parsed?.path ?? '';
  for (const cursor of Object.values(state.cursors)) {
    if (cursor.path === path && cursor.visit === parsed?.visit) {
      const refusal = foreignTask(cursor, caller);
      return refusal ? { refusal } : { cursor };
    }
    if (cursor.failedAt === at) return { replay: 'fail' };
  }
  if (own(state.outputs, outputKey(path))?.at === at) return { replay: 'advance' };
  const step = definition.steps.find((candidate) => candidate.id === path.split('/', 1)[0]);
  const failed = step && tasksIn(taskListOf(state, step)).some((task) => task.endedAt === at);
  if (failed) return { replay: 'fail' };
  return { refusal: refuse('stale_handle', { at }, whereNow(state, caller)) };
}

function locateOnly({ definition, state, caller }: Batch): Located {
  const open = Object.values(state.cursors);
  const [only] = open;
  if (only && open.length === 1 && belongsToCaller(only, caller)) return { cursor: only };
  if (open.length > 1) {
    const handles = open
      .filter((cursor) => belongsToCaller(cursor, caller))
      .map((cursor) => handleOf(state, cursor));
    return { refusal: refuse('at_required', { open: open.length, waiting: false, handles }) };
  }
  const step = stepOf(definition, state.step);
  const claimable = readyTasks(state, step).length > 0;
  const { action } = claimable
    ? { action: claimAction(definition, state, caller.session) }
    : whereNow(state, caller);
  return { refusal: refuse('claim_required', { step: step.id }, { action }) };
}

/** Whether the caller may work on the position: it holds the lease, there is no lease, or the caller has no session id. */
export const belongsToCaller = ({ lease }: Cursor, caller: Caller): boolean =>
  lease === undefined ||
  ((caller.session === undefined || lease.holder === caller.session) &&
    sharesWork(lease.owner, ownerOf(caller)));

/** The positions where the caller can continue, never the handle of another session's task. */
function whereNow(state: State, { session }: Caller): { action: Action; at?: string } {
  const open = Object.values(state.cursors)
    .filter((cursor) => cursor.lease === undefined || cursor.lease.holder === session)
    .map((cursor) => handleOf(state, cursor));
  const [only] = open;
  if (only === undefined) return { action: { do: 'ask_status' } };
  const action: Action = { do: 'continue', at: open.slice(0, 5) };
  return open.length === 1 ? { action, at: only } : { action };
}

/** The open position with this handle. */
export const cursorAt = (state: State, at: string | undefined): Cursor | undefined =>
  Object.values(state.cursors).find((cursor) => handleOf(state, cursor) === at);

export const handleOf = (state: State, { path, visit }: Cursor): string =>
  formatHandle(state.run, path, visit);

export function onlyCursor(state: State): Cursor | undefined {
  const cursors = Object.values(state.cursors);
  return cursors.length === 1 ? cursors[0] : undefined;
}

/** Without a handle, the same words by the same session within a minute count as a repeat. */
export function repeatsAdvance(state: State, output: Text, caller: Caller): boolean {
  const { last } = state;
  if (output === '' || last?.kind !== 'advance' || !isRecent(last, caller)) return false;
  const text = own(state.outputs, last.key)?.text;
  return text !== undefined && sameText(text, output);
}

export const repeatsFail = ({ last }: State, reason: string, caller: Caller): boolean =>
  last?.kind === 'fail' && last.reason === reason && isRecent(last, caller);

function isRecent(last: { now: number; session?: string }, { now, session }: Caller): boolean {
  const same = last.session === undefined || session === undefined || last.session === session;
  return same && now - last.now <= replayWindowMs;
}
