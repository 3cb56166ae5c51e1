import { type Batch, given } from './batch.ts';
import { passBoundary } from './boundary.ts';
import type { CommandOf } from './command.ts';
import { attemptsOf } from './definition.ts';
import { complete, failPosition, gatesAt, leavesRalph, requestGates } from './flow.ts';
import { cursorKey, parseHandle } from './handle.ts';
import { locate, repeatsLast } from './locate.ts';
import { own } from './record.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Cursor, opening, type Receipt, type RequestedGate, sameText, type Text } from './state.ts';
import { awaitsTasks, stepOf, workAt } from './steps.ts';

const maxOutputBytes = 256 * 1024;

/** Nothing emitted and no refusal means: answered by the status. */
export function advance(batch: Batch, command: CommandOf<'advance'>): Refusal | undefined {
  const { at, output, session } = command;
  const bad = badOutput(output);
  if (bad) return bad;
  if (at === undefined && repeatsLast(batch.state, output, batch.now)) return undefined;
  if (batch.state.status !== 'running') return undefined;
  const found = locate(batch.definition, batch.state, at);
  if ('refusal' in found) return checkingAt(batch, at) ?? found.refusal;
  if (!('cursor' in found) || found.cursor.waiting) return undefined;
  const { cursor } = found;
  if (cursor.checking && !interrupt(batch, cursor, command)) {
    return sameText(cursor.checking.output, output) ? undefined : stillChecking(batch.at(cursor));
  }
  const refusal = passBoundary(batch, cursor, session, at !== undefined) ?? notReady(batch, cursor, command);
  if (refusal) return refusal;
  const gates = gatesAt(batch, cursor);
  if (gates.length > 0) requestGates(batch, cursor, gates, output, { tree: command.tree });
  else accept(batch, cursor, output, [], command.tree, session);
  return undefined;
}

export function fail(batch: Batch, command: CommandOf<'fail'>): Refusal | undefined {
  if (batch.state.status !== 'running') return undefined;
  const found = locate(batch.definition, batch.state, command.at);
  if ('refusal' in found) return found.refusal;
  if (!('cursor' in found) || found.cursor.waiting) return undefined;
  const { cursor } = found;
  if (cursor.checking && !interrupt(batch, cursor, command)) return stillChecking(batch.at(cursor));
  const refusal = passBoundary(batch, cursor, command.session, command.at !== undefined);
  if (refusal) return refusal;
  failPosition(batch, cursor, command.reason.slice(0, 2000));
  return undefined;
}

/** Gates whose runner is gone or late do not count; true when the position is open again. */
export function interrupt(batch: Batch, cursor: Cursor, command: { runnerAlive?: boolean }): boolean {
  if (!cursor.checking) return false;
  const dead = command.runnerAlive === false;
  if (!dead && batch.now <= cursor.checking.deadline) return false;
  batch.emit('gates.interrupted', { id: cursor.checking.id, why: dead ? 'runner' : 'deadline' });
  return true;
}

export function gatesStarted(batch: Batch, command: CommandOf<'gatesStarted'>): Refusal | undefined {
  const cursor = checkingBy(batch, command.id);
  if (!cursor?.checking) return staleGates(command.id);
  const { id, runner, tree, deadline = cursor.checking.deadline } = command;
  batch.emit('gates.started', { id, deadline, ...given({ runner, tree }) });
  return undefined;
}

export function gatesFinished(batch: Batch, command: CommandOf<'gatesFinished'>): Refusal | undefined {
  const { id, receipts, unstable, tree, session } = command;
  const cursor = checkingBy(batch, id);
  const checking = cursor?.checking;
  if (!cursor || !checking) return staleGates(id);
  const leaving =
    stepOf(batch.definition, cursor.step).type !== 'ralph' || leavesRalph(batch, cursor, receipts);
  const needed = (role: RequestedGate['role']): boolean => role === 'gate' || (role === 'rerun' && leaving);
  const passed = (index: number): boolean =>
    receipts.some((receipt) => receipt.gate === index && receipt.pass);
  const pass =
    (unstable ?? []).length === 0 &&
    checking.gates.every(({ role }, index) => !needed(role) || passed(index));
  batch.emit('gates.finished', { id, pass, receipts, ...given({ tree, unstable }) });
  const after = own(batch.state.cursors, cursorKey(cursor));
  if (!after) return undefined;
  if (pass && checking.approval) {
    const { by } = checking.approval;
    complete(batch, after, checking.output, { receipts, ...given({ tree }) }, { reviewed: by, session });
  } else if (pass) accept(batch, after, checking.output, receipts, tree, session);
  else if (after.reds >= attemptsOf(workAt(batch.definition, cursor))) {
    failPosition(batch, after, `its gates failed ${after.reds} times`);
  }
  return undefined;
}

/** The gates hold: a review comes next if the step asks for one, else the position is complete. */
function accept(
  batch: Batch,
  cursor: Cursor,
  output: Text,
  receipts: Receipt[],
  tree: string | undefined,
  session: string | undefined,
): void {
  const step = stepOf(batch.definition, cursor.step);
  const last = step.type === 'action' || (step.type === 'ralph' && leavesRalph(batch, cursor, receipts));
  if (step.review && last) {
    const { by } = step.review;
    return batch.emit('review.requested', { at: batch.at(cursor), by, output, receipts, ...given({ tree }) });
  }
  complete(batch, cursor, output, { receipts, ...given({ tree }) }, { session });
}

function notReady(batch: Batch, cursor: Cursor, command: CommandOf<'advance'>): Refusal | undefined {
  const at = batch.at(cursor);
  if (awaitsTasks(batch.definition, cursor)) {
    const message = `'${cursor.step}' goes over tasks, and none are set`;
    return refuse(
      'needs_tasks',
      message,
      `set the tasks of '${cursor.step}' (an empty list completes it)`,
      at,
    );
  }
  if (command.missing?.length) {
    const message = `required artifacts are missing: ${command.missing.join(', ')}`;
    return refuse('missing_artifact', message, `make them, then report at ${at} again`, at);
  }
  const readOnly = workAt(batch.definition, cursor).read_only === true;
  if (readOnly && cursor.tree !== undefined && command.tree !== undefined && cursor.tree !== command.tree) {
    const message = `${at} is read-only, but files have changed since it began`;
    return refuse('tree_changed', message, 'undo the changes, or let an earlier step make them', at);
  }
  return undefined;
}

function badOutput(output: unknown): Refusal | undefined {
  const text = output !== null && typeof output === 'object' && 'opening' in output;
  if (typeof output !== 'string' && !text) {
    return refuse('bad_output', 'output must be a string', 'say in a sentence or two what was done');
  }
  // Only length is read, so the shape just checked is enough.
  const long = output as Text;
  const bytes = typeof long === 'string' ? opening(long).length : long.bytes;
  if (bytes <= maxOutputBytes) return undefined;
  const message = `the output has ${bytes} bytes, ${maxOutputBytes} are allowed`;
  return refuse('bad_output', message, 'write it to a file and name the file as an artefact');
}

/** A wrong handle of a position whose gates run: wait for them first. */
function checkingAt(batch: Batch, at: string | undefined): Refusal | undefined {
  const path = parseHandle(at ?? '')?.path;
  const cursor = Object.values(batch.state.cursors).find((open) => open.path === path && open.checking);
  return cursor && stillChecking(batch.at(cursor));
}

const checkingBy = (batch: Batch, id: string): Cursor | undefined =>
  Object.values(batch.state.cursors).find((cursor) => cursor.checking?.id === id);

const stillChecking = (at: string): Refusal =>
  refuse('checking', `the gates of ${at} are running`, 'wait, then send the same call again', at);

const staleGates = (id: string): Refusal =>
  refuse('stale_gates', `nothing waits for the gate run ${id}`, 'drop the result');
