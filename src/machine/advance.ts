import type { CommandOf, Text } from '../schema/index.ts';
import { unfinishedSource } from './adopt.ts';
import { type Batch, defined } from './batch.ts';
import { passBoundary } from './boundary.ts';
import { failPosition } from './flow.ts';
import { accept, gatesAt, interrupt, maxReason, requestGates } from './gates.ts';
import { parseHandle } from './handle.ts';
import { outputProblem } from './json-output.ts';
import { belongsToCaller, locate, repeatsAdvance, repeatsFail } from './locate.ts';
import { type Refusal, refuse, stillChecking } from './refusal.ts';
import { type Cursor, opening, sameText } from './state.ts';
import { awaitsTasks, workAt } from './steps.ts';

const maxOutputBytes = 256 * 1024;

/** Without events and without a refusal, the status is the answer. */
export function advance(batch: Batch, command: CommandOf<'advance'>): Refusal | undefined {
  const { at, output } = command;
  const bad = badOutput(output);
  if (bad) return bad;
  const repeated = at === undefined && repeatsAdvance(batch.state, output, command);
  const found = openFor(batch, command, repeated);
  if (!found || 'code' in found) return found;
  // The agent's own call replaces a check at the end of a turn.
  if (found.checking?.onPass) batch.emit('gates.interrupted', { id: found.checking.id, why: 'advance' });
  else if (found.checking && !interrupt(batch, found, command)) {
    return sameText(found.checking.output, output) ? undefined : stillChecking(batch.at(found));
  }
  const refusal = passBoundary(batch, found, at !== undefined) ?? notReady(batch, found, command);
  if (refusal) return refusal;
  if (blockedBy(batch, found, command)) return undefined;
  const gates = gatesAt(batch, found);
  if (gates.length > 0) requestGates(batch, found, gates, output);
  else accept(batch, found, output, { receipts: [], ...defined({ tree: command.tree }) }, command.session);
  return undefined;
}

/** Runs the gates because a turn ended. Changes nothing where the position has none. */
export function check(batch: Batch, command: CommandOf<'check'>): Refusal | undefined {
  const { output, stay, attempt } = command;
  const bad = badOutput(output);
  if (bad) return bad;
  const found = openFor(batch, command, false);
  if (!found || 'code' in found) return found;
  if (found.checking && !interrupt(batch, found, command)) return stillChecking(batch.at(found));
  const refusal = passBoundary(batch, found, true) ?? notReady(batch, found, command);
  if (refusal) return refusal;
  if (blockedBy(batch, found, command)) return undefined;
  const gates = gatesAt(batch, found);
  // A turn's last words are rarely what the workflow wants as output.
  const stays = stay || outputProblem(workAt(batch.definition, found), opening(output)) !== undefined;
  if (gates.length === 0) return undefined;
  const counts = attempt ? { attempt } : {};
  requestGates(batch, found, gates, output, { onPass: stays ? 'stay' : 'advance', ...counts });
  return undefined;
}

export function fail(batch: Batch, command: CommandOf<'fail'>): Refusal | undefined {
  const reason = command.reason.slice(0, maxReason);
  const repeated = command.at === undefined && repeatsFail(batch.state, reason, command);
  const found = openFor(batch, command, repeated);
  if (!found || 'code' in found) return found;
  // The engine reports what no agent can change: its worktree could not be set up.
  const byEngine = command.actor?.kind === 'engine';
  if (found.checking && !interrupt(batch, found, command)) {
    if (!found.preparing) return stillChecking(batch.at(found));
    batch.emit('gates.interrupted', { id: found.checking.id, why: 'runner' });
  }
  const refusal = byEngine ? undefined : passBoundary(batch, found, command.at !== undefined);
  if (refusal) return refusal;
  failPosition(batch, found, reason);
  return undefined;
}

/** An open position waits for a person. */
export function block(batch: Batch, { at, reason }: CommandOf<'block'>): Refusal | undefined {
  const found = locate(batch, at);
  if ('refusal' in found) return found.refusal;
  if (!('cursor' in found) || found.cursor.waiting || found.cursor.checking) return undefined;
  batch.emit('position.blocked', { at, reason: reason.slice(0, maxReason) });
  return undefined;
}

/** The position to work on; undefined if the status is the answer: the call is a repeat, or the position waits. */
function openFor(
  batch: Batch,
  command: CommandOf<'advance' | 'check' | 'fail'>,
  repeated: boolean,
): Cursor | Refusal | undefined {
  batch.replayed = repeated;
  if (repeated) return undefined;
  const found = locate(batch, command.at);
  if ('replay' in found && found.replay === command.type) {
    batch.replayed = true;
    return undefined;
  }
  if (batch.state.status !== 'running') {
    batch.ignored = true;
    return undefined;
  }
  if ('replay' in found) {
    const was = found.replay === 'advance' ? 'advanced' : 'failed';
    return refuse('stale_handle', { at: command.at ?? '', was }, { action: { do: 'ask_status' } });
  }
  if ('refusal' in found) return checkingAt(batch, command.at) ?? found.refusal;
  const { waiting, preparing } = found.cursor;
  const byEngine = command.type === 'fail' && command.actor?.kind === 'engine';
  const mayGo = !preparing || (byEngine && preparing.kind === 'baseline');
  batch.ignored = !mayGo || waiting !== undefined;
  return batch.ignored ? undefined : found.cursor;
}

/** A stale handle of a position with running gates: the caller waits for the gates first. */
function checkingAt(batch: Batch, at: string | undefined): Refusal | undefined {
  const path = at === undefined ? undefined : parseHandle(at)?.path;
  const cursor = Object.values(batch.state.cursors).find((open) => open.path === path && open.checking);
  return cursor && belongsToCaller(cursor, batch.caller) ? stillChecking(batch.at(cursor)) : undefined;
}

function notReady(
  batch: Batch,
  cursor: Cursor,
  command: CommandOf<'advance' | 'check'>,
): Refusal | undefined {
  const at = batch.at(cursor);
  if (awaitsTasks(batch.definition, cursor)) return refuse('needs_tasks', { step: cursor.step }, { at });
  const unfinished = unfinishedSource(batch.state);
  if (unfinished) return refuse('unfinished', unfinished, { at });
  if (command.missing?.length) return refuse('missing_artifact', { at, missing: command.missing }, { at });
  const work = workAt(batch.definition, cursor);
  const problem = command.type === 'advance' ? outputProblem(work, wholeOutput(command)) : undefined;
  if (problem !== undefined) return refuse('bad_output', { why: 'format', problem }, { at });
  const readOnly = work.read_only === true;
  if (readOnly && cursor.tree !== undefined && command.tree !== undefined && cursor.tree !== command.tree) {
    return refuse('tree_changed', { at, why: 'read_only' }, { at });
  }
  return undefined;
}

const wholeOutput = ({ output, text }: CommandOf<'advance'>): string =>
  typeof output === 'string' ? output : (text ?? opening(output));

/** Whether a required artifact is needed cannot be decided: a person must know. */
function blockedBy(batch: Batch, cursor: Cursor, { undecided }: CommandOf<'advance' | 'check'>): boolean {
  if (undecided === undefined) return false;
  batch.emit('position.blocked', { at: batch.at(cursor), reason: undecided.slice(0, maxReason) });
  return true;
}

function badOutput(output: Text): Refusal | undefined {
  const bytes = bytesOf(output);
  if (bytes === undefined) {
    return refuse('bad_output', { why: 'not_text' });
  }
  if (bytes <= maxOutputBytes) return undefined;
  return refuse('bad_output', { why: 'too_long', bytes, limit: maxOutputBytes });
}

/** Undefined if an untyped caller sent something other than text. */
function bytesOf(output: unknown): number | undefined {
  if (typeof output === 'string') return new TextEncoder().encode(output).length;
  const long = typeof output === 'object' && output !== null && 'opening' in output && 'bytes' in output;
  return long ? Number(output.bytes) : undefined;
}
