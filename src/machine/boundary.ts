import { type Batch, given } from './batch.ts';
import type { CommandOf } from './command.ts';
import { isCallers, locate } from './locate.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Boundary, Cursor, Saw, State } from './state.ts';

/** A clear or a new session satisfies `compact`; a compaction does not satisfy `clear`. */
const satisfies = (saw: Saw, action: Boundary['action']): boolean =>
  saw !== 'compact' || action === 'compact';

/**
 * An agent asked for the status: a pending boundary gets its request, a requested one passes under `prefer`. What a
 * person or the engine reads changes nothing, because they are not the ones to be briefed.
 */
export function offerBoundary(batch: Batch, cursor: Cursor, byHandle: boolean): void {
  const { boundary } = cursor;
  if (!fromAgent(batch)) return;
  if (boundary?.state === 'pending') return request(batch, cursor);
  if (boundary?.state !== 'requested') return;
  const at = batch.at(cursor);
  if (byHandle && isFresh(batch, cursor)) return releaseReset(batch, at, 'new_session', 'new');
  if (boundary.policy === 'prefer') batch.emit('boundary.released', { at, how: 'skipped' });
}

const fromAgent = ({ caller }: Batch): boolean => (caller.actor?.kind ?? 'agent') === 'agent';

function request(batch: Batch, cursor: Cursor): void {
  const at = batch.at(cursor);
  const { session } = batch.caller;
  const { boundaries } = batch.state;
  if (boundaries === 'off') return batch.emit('boundary.released', { at, how: 'skipped' });
  const downgraded = boundaries === 'require' && !hasWitness(batch.state, session);
  batch.emit('boundary.requested', {
    at,
    policy: downgraded ? 'prefer' : boundaries,
    ...given({ session }),
    ...(downgraded ? { downgraded: true as const } : {}),
  });
}

const hasWitness = (state: State, session: string | undefined): boolean =>
  session !== undefined && own(state.sessions, session)?.witness !== undefined;

/** The caller is another session than the one that was asked, and began or was cleared since. */
function isFresh({ state, caller }: Batch, cursor: Cursor): boolean {
  const { session } = caller;
  const asked = cursor.boundary?.session;
  if (session === undefined || asked === undefined || session === asked) return false;
  const known = own(state.sessions, session);
  return known === undefined || Math.max(known.startedAt, known.clearedAt ?? 0) >= cursor.enteredAt;
}

function releaseReset(batch: Batch, at: string, by: NonNullable<Boundary['by']>, saw: Saw): void {
  const session = by === 'new_session' ? batch.caller.session : undefined;
  batch.emit('boundary.reset', { at, by, saw, ...given({ session }) });
  batch.emit('boundary.released', { at, how: 'reset' });
}

/** Before work is taken: a refusal if its agent cannot have seen the instructions. */
export function passBoundary(batch: Batch, cursor: Cursor, byHandle: boolean): Refusal | undefined {
  const at = batch.at(cursor);
  const { boundary } = cursor;
  if (!boundary || isPassed(batch, boundary)) return undefined;
  if (!fromAgent(batch)) {
    batch.emit('boundary.released', { at, how: 'proceeded' });
    return undefined;
  }
  if (boundary.state === 'pending') {
    request(batch, cursor);
    if (batch.state.boundaries === 'off') return undefined;
    const message = `${at} opens with /${boundary.action}: nobody has begun it`;
    return refuse('not_briefed', message, 'ask for the status first', at);
  }
  if (boundary.state === 'requested' && byHandle && isFresh(batch, cursor)) {
    releaseReset(batch, at, 'new_session', 'new');
  } else if (boundary.state === 'requested' && boundary.policy === 'prefer') {
    batch.emit('boundary.released', { at, how: 'skipped' });
  } else {
    const message = `${at} opens with /${boundary.action}, which has not been seen here`;
    const next = `the user types /${boundary.action}, or hand ${at} to a subagent; a person can let it pass with \`stepfast proceed\``;
    return refuse('boundary_open', message, next, at);
  }
  const message = `${at} was not begun: its instructions were not asked for`;
  return refuse('not_briefed', message, `do what the instructions say, then report at ${at}`, at);
}

/** Released; if another session took a required one over, only that session goes on. */
function isPassed({ caller }: Batch, { state, policy, by, session }: Boundary): boolean {
  if (state !== 'released') return false;
  const takenOver = policy === 'require' && by === 'new_session';
  return !takenOver || caller.session === undefined || caller.session === session;
}

/** A reset was seen. Recorded for its session; it opens the boundaries that wait for it there. */
export function seeReset(batch: Batch, command: CommandOf<'boundary'>): Refusal | undefined {
  const { by, saw, session } = command;
  let targets = Object.values(batch.state.cursors).filter((cursor) => isHere(batch, cursor));
  if (command.at !== undefined) {
    const found = locate(batch, command.at);
    if ('refusal' in found) return found.refusal;
    targets = 'cursor' in found ? [found.cursor] : [];
  }
  if (session !== undefined) batch.emit('session.reset', { session, saw, by });
  for (const cursor of targets) {
    const { boundary } = cursor;
    if (!boundary || !satisfies(saw, boundary.action)) continue;
    const late = boundary.how === 'skipped' && boundary.policy === 'prefer';
    if (boundary.state !== 'released' || late) releaseReset(batch, batch.at(cursor), by, saw);
  }
  return undefined;
}

/** The session is the one that was asked; before that, one that is bound and may work on the position. */
function isHere({ state, caller }: Batch, cursor: Cursor): boolean {
  const { session } = caller;
  const asked = cursor.boundary?.session;
  if (asked !== undefined || session === undefined) return asked === session || asked === undefined;
  return own(state.sessions, session) !== undefined && isCallers(cursor, caller);
}

/** A person lets a boundary pass. */
export function proceed(batch: Batch, command: CommandOf<'proceed'>): Refusal | undefined {
  const found = locate(batch, command.at);
  if ('refusal' in found) return found.refusal;
  const open = 'cursor' in found && found.cursor.boundary?.state;
  if (!('cursor' in found) || (open !== 'requested' && open !== 'pending')) {
    return refuse('no_boundary', 'no context action is being waited for', 'ask for the status');
  }
  batch.emit('boundary.released', { at: batch.at(found.cursor), how: 'proceeded' });
  return undefined;
}

/** Whether the position's instructions may be told: not while a required boundary is open. */
export const instructionsOpen = (cursor: Cursor): boolean =>
  cursor.boundary?.state !== 'requested' || cursor.boundary.policy === 'prefer';
