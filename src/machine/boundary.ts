import { type Batch, given } from './batch.ts';
import type { CommandOf } from './command.ts';
import { locate } from './locate.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Boundary, Cursor, Saw, State } from './state.ts';

/** A clear or a new session satisfies `compact`; a compaction does not satisfy `clear`. */
export const satisfies = (saw: Saw, action: Boundary['action']): boolean =>
  saw !== 'compact' || action === 'compact';

/** A status was asked for: gives a pending boundary its request, and lets a requested one pass under `prefer`. */
export function offerBoundary(
  batch: Batch,
  cursor: Cursor,
  session: string | undefined,
  byHandle: boolean,
): void {
  const boundary = cursor.boundary;
  const at = batch.at(cursor);
  if (boundary?.state === 'pending') return request(batch, cursor, session);
  if (boundary?.state !== 'requested') return;
  if (fromElsewhere(boundary, session, byHandle)) return releaseReset(batch, at, 'new_session', 'new');
  if (boundary.policy === 'prefer') batch.emit('boundary.released', { at, how: 'skipped' });
}

function request(batch: Batch, cursor: Cursor, session: string | undefined): void {
  const at = batch.at(cursor);
  if (batch.state.boundaries === 'off') return batch.emit('boundary.released', { at, how: 'skipped' });
  const downgraded = batch.state.boundaries === 'require' && !hasWitness(batch.state, session);
  batch.emit('boundary.requested', {
    at,
    policy: downgraded ? 'prefer' : batch.state.boundaries,
    ...given({ session }),
    ...(downgraded ? { downgraded: true as const } : {}),
  });
}

const hasWitness = (state: State, session: string | undefined): boolean =>
  session !== undefined && own(state.sessions, session)?.witness !== undefined;

const fromElsewhere = (boundary: Boundary, session: string | undefined, byHandle: boolean): boolean =>
  byHandle && session !== undefined && boundary.session !== undefined && session !== boundary.session;

function releaseReset(batch: Batch, at: string, by: NonNullable<Boundary['by']>, saw: Saw): void {
  batch.emit('boundary.reset', { at, by, saw });
  batch.emit('boundary.released', { at, how: 'reset' });
}

/** Before work is taken: a refusal if its agent cannot have seen the instructions. */
export function passBoundary(
  batch: Batch,
  cursor: Cursor,
  session: string | undefined,
  byHandle: boolean,
): Refusal | undefined {
  const boundary = cursor.boundary;
  const at = batch.at(cursor);
  if (boundary?.state === 'pending') {
    batch.emit('boundary.released', { at, how: 'skipped' });
    return undefined;
  }
  if (boundary?.state !== 'requested') return undefined;
  if (fromElsewhere(boundary, session, byHandle)) releaseReset(batch, at, 'new_session', 'new');
  else if (boundary.policy === 'prefer') batch.emit('boundary.released', { at, how: 'skipped' });
  else {
    const message = `${at} opens with /${boundary.action}, which has not been seen`;
    const next = `the user types /${boundary.action}, or hand ${at} to a subagent; a person can let it pass with \`stepfast proceed\``;
    return refuse('boundary_open', message, next, at);
  }
  const message = `${at} was not begun: its instructions were not asked for`;
  return refuse('not_briefed', message, `do what the instructions say, then report at ${at}`, at);
}

/** A reset was seen. Recorded for its session; it opens the boundaries that asked for it there. */
export function seeReset(batch: Batch, command: CommandOf<'boundary'>): Refusal | undefined {
  const { by, saw, session } = command;
  let targets = Object.values(batch.state.cursors);
  if (command.at !== undefined) {
    const found = locate(batch.definition, batch.state, command.at);
    if ('refusal' in found) return found.refusal;
    targets = 'cursor' in found ? [found.cursor] : [];
  }
  if (session !== undefined) batch.emit('session.reset', { session, saw, by });
  for (const cursor of targets) {
    const boundary = cursor.boundary;
    if (!boundary || boundary.state === 'pending' || !satisfies(saw, boundary.action)) continue;
    const here = command.at !== undefined || boundary.session === undefined || boundary.session === session;
    const late = boundary.state === 'released' && boundary.how === 'skipped' && boundary.policy === 'prefer';
    if (here && (boundary.state === 'requested' || late)) releaseReset(batch, batch.at(cursor), by, saw);
  }
  return undefined;
}

/** A person lets a requested boundary pass. */
export function proceed(batch: Batch, command: CommandOf<'proceed'>): Refusal | undefined {
  const found = locate(batch.definition, batch.state, command.at);
  if ('refusal' in found) return found.refusal;
  if (!('cursor' in found) || found.cursor.boundary?.state !== 'requested') {
    return refuse('no_boundary', 'no context action is being waited for', 'ask for the status');
  }
  batch.emit('boundary.released', { at: batch.at(found.cursor), how: 'skipped' });
  return undefined;
}

/** Whether the position's instructions may be told: not while a required boundary is open. */
export const instructionsOpen = (cursor: Cursor): boolean =>
  cursor.boundary?.state !== 'requested' || cursor.boundary.policy === 'prefer';
