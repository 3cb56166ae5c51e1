import type { CommandOf, Saw } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { isFenced } from './fence.ts';
import { belongsToCaller, byAgent, locate } from './locate.ts';
import { own } from './own-property.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Boundary, type Cursor, isWithin, type State } from './state.ts';

/** A clear or a new session satisfies `compact`; a compaction does not satisfy `clear`. */
const satisfies = (saw: Saw, action: Boundary['action']): boolean =>
  saw !== 'compact' || action === 'compact';

/**
 * An agent asked for the status. A pending boundary becomes requested, a requested one is skipped under `prefer`. A
 * status that a person or the engine reads changes nothing, because only agents are briefed.
 */
export function offerBoundary(batch: Batch, cursor: Cursor, byHandle: boolean): void {
  const { boundary } = cursor;
  if (!boundary || cursor.preparing || !byAgent(batch.caller)) return;
  const at = batch.at(cursor);
  const open = boundary.state === 'requested' || isFenced(boundary, batch.caller.session);
  if (open && byHandle && isFresh(batch, cursor)) return releaseReset(batch, at, 'new_session', 'new');
  // Only the holder of a leased position is briefed on it.
  if (!belongsToCaller(cursor, batch.caller)) return;
  if (boundary.state === 'pending') return request(batch, cursor);
  if (
    boundary.state === 'requested' &&
    boundary.policy === 'prefer' &&
    !isDriven(batch.state, batch.caller.session)
  ) {
    batch.emit('boundary.released', { at, how: 'skipped' });
  }
}

function request(batch: Batch, cursor: Cursor): void {
  const at = batch.at(cursor);
  const { session } = batch.caller;
  const { boundaries } = batch.state;
  if (boundaries === 'off') return batch.emit('boundary.released', { at, how: 'skipped' });
  const downgraded = boundaries === 'require' && !hasWitness(batch.state, session);
  batch.emit('boundary.requested', {
    at,
    policy: downgraded ? 'prefer' : boundaries,
    ...defined({ session }),
    ...(downgraded ? { downgraded: true as const } : {}),
  });
}

/** A driver performs every context action, so asking again skips none. */
const isDriven = ({ sessions }: State, session: string | undefined): boolean =>
  session !== undefined && own(sessions, session)?.witness === 'driver';

/** A caller without a session id may be any live session. */
const hasWitness = ({ sessions }: State, session: string | undefined): boolean =>
  session === undefined
    ? Object.values(sessions).some(({ witness, endedAt }) => witness !== undefined && endedAt === undefined)
    : own(sessions, session)?.witness !== undefined;

/** The caller is not the session that was asked, and it started or was cleared after the position was entered. */
function isFresh({ state, caller }: Batch, cursor: Cursor): boolean {
  const { session } = caller;
  const asked = cursor.boundary?.session;
  if (session === undefined || asked === undefined || session === asked) return false;
  const known = own(state.sessions, session);
  if (cursor.boundary?.policy === 'require' && known?.witness === undefined) return false;
  return known !== undefined && Math.max(known.startedAt, known.clearedAt ?? 0) > cursor.enteredAt;
}

function releaseReset(batch: Batch, at: string, by: NonNullable<Boundary['by']>, saw: Saw): void {
  const session = by === 'new_session' || by === 'subagent' ? batch.caller.session : undefined;
  batch.emit('boundary.reset', { at, by, saw, ...defined({ session }) });
  batch.emit('boundary.released', { at, how: 'reset' });
}

/** Refuses work from an agent that cannot have seen the instructions. */
export function passBoundary(batch: Batch, cursor: Cursor, byHandle: boolean): Refusal | undefined {
  const at = batch.at(cursor);
  const { boundary } = cursor;
  const { actor, session } = batch.caller;
  const fenced = boundary !== undefined && isFenced(boundary, session);
  if (!boundary || (boundary.state === 'released' && !fenced)) return undefined;
  if (actor?.kind === 'person') {
    batch.emit('boundary.released', { at, how: 'proceeded' });
    return undefined;
  }
  if (actor?.kind !== 'engine' && boundary.state === 'pending') {
    request(batch, cursor);
    if (batch.state.boundaries === 'off') return undefined;
    return refuse('not_briefed', { at, context: boundary.action }, { at, action: { do: 'ask_status' } });
  }
  if (byHandle && isFresh(batch, cursor)) releaseReset(batch, at, 'new_session', 'new');
  else if (
    boundary.state === 'requested' &&
    boundary.policy === 'prefer' &&
    actor?.kind !== 'engine' &&
    !isDriven(batch.state, session)
  ) {
    batch.emit('boundary.released', { at, how: 'skipped' });
  } else {
    const driven = isDriven(batch.state, session) ? { driven: true as const } : {};
    return refuse('boundary_open', { at, context: boundary.action, ...driven }, { at });
  }
  return refuse('not_briefed', { at }, { at });
}

/** Records a reset of a session and releases the boundaries that waited for it. */
export function recordReset(batch: Batch, command: CommandOf<'boundary'>): Refusal | undefined {
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
    const open = boundary.state !== 'released' || late || isFenced(boundary, session);
    if (open) releaseReset(batch, batch.at(cursor), by, saw);
  }
  return undefined;
}

/** Whether a reset of the caller's session concerns this position: the session was asked, or no session was and it may work here. */
function isHere({ state, caller }: Batch, cursor: Cursor): boolean {
  const { session } = caller;
  const { boundary } = cursor;
  if (session === undefined) return boundary?.session === undefined;
  if (boundary?.session === session) return true;
  // A request to a subagent that has ended passes to its parent session.
  const ended = own(state.sessions, boundary?.session ?? '')?.endedAt !== undefined;
  if (ended && isWithin(boundary?.session, session)) return true;
  const anyone = boundary?.session === undefined || isFenced(boundary, session);
  return anyone && own(state.sessions, session) !== undefined && belongsToCaller(cursor, caller);
}

/** A person skips a boundary. */
export function proceed(batch: Batch, command: CommandOf<'proceed'>): Refusal | undefined {
  const found = locate(batch, command.at);
  if ('refusal' in found) return found.refusal;
  const boundary = 'cursor' in found ? found.cursor.boundary : undefined;
  const open = boundary && (boundary.state !== 'released' || isFenced(boundary, ''));
  if (!('cursor' in found) || !open) {
    return refuse('no_boundary', {}, { action: { do: 'ask_status' } });
  }
  batch.emit('boundary.released', { at: batch.at(found.cursor), how: 'proceeded' });
  return undefined;
}

/** Whether the instructions may be shown: not while a required boundary is open. */
export function instructionsOpen(state: State, { boundary }: Cursor, session?: string): boolean {
  if (boundary && isFenced(boundary, session)) return false;
  if (boundary?.state === 'pending') return state.boundaries !== 'require';
  return boundary?.state !== 'requested' || boundary.policy === 'prefer';
}
