import type {
  Baseline,
  CommandOf,
  Definition,
  Gate,
  GateResult,
  Owner,
  Receipt,
  RequestedGate,
  Step,
  SubStep,
  Text,
} from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { complete, endsRalph, failPosition, untilHolds } from './flow.ts';
import { gateText } from './gate-text.ts';
import { cursorKey, type Position } from './handle.ts';
import { own } from './own-property.ts';
import { outranks, ownerOf, reporterOf, sharesWork } from './ownership.ts';
import { maxExpanded, type Room } from './placeholders.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Checking, Cursor, Preparing, State } from './state.ts';
import {
  attemptsOf,
  baselineGates,
  isRunStep,
  rerunGates,
  retryOf,
  startsCommands,
  stepIndex,
  stepOf,
  workAt,
} from './steps.ts';
import { expandAt } from './values.ts';

const gateSeconds = 600;
const graceMs = 60_000;
export const maxReason = 2000;

export function gatesAt(batch: Batch, cursor: Cursor): RequestedGate[] {
  const room = { left: maxExpanded };
  return gatesOn(batch.definition, cursor).map((asked) => ({
    ...asked,
    gate: filled(batch, cursor, asked.gate, room),
  }));
}

/** The gates of the position, the `until` of a ralph step, and before the end of the run the gates to rerun. */
export function gatesOn(definition: Definition, cursor: Position): RequestedGate[] {
  const step = stepOf(definition, cursor.step);
  const index = stepIndex(definition, step.id);
  const asked = (role: RequestedGate['role'], from: string, gate: Gate): RequestedGate => ({
    gate,
    role,
    from,
  });
  const last = index === definition.steps.length - 1 && step.type !== 'loop';
  const work = workAt(definition, cursor);
  const { run, timeout } = work;
  return [
    ...(run === undefined ? [] : [asked('run', cursorKey(cursor), { run, ...defined({ timeout }) })]),
    ...(work.gate ?? []).map((gate) => asked('gate', cursorKey(cursor), gate)),
    ...(step.until ?? []).map((gate) => asked('until', step.id, gate)),
    ...(last ? rerunGates(definition, index) : []).map(({ gate, from }) => asked('rerun', from, gate)),
  ];
}

/** Expands placeholders in paths. Commands are never expanded: their values are environment variables. */
function filled(batch: Batch, position: Position, gate: Gate, room: Room): Gate {
  const fill = (text: string): string => expandAt(batch.definition, batch.state, position, text, {}, room);
  const read = gate.read?.map(fill);
  const exists = gate.exists === undefined ? undefined : fill(gate.exists);
  return { ...gate, ...defined({ exists, read }) };
}

export function requestGates(
  batch: Batch,
  cursor: Cursor,
  gates: RequestedGate[],
  output: Text,
  why: Pick<Checking, 'approval' | 'onPass' | 'attempt' | 'session'> = {},
): void {
  const at = batch.at(cursor);
  const { tree } = batch.caller;
  // The engine enters run steps on behalf of the session whose work led there.
  const { worker: session, author } = batch;
  const deadline = batch.now + longest(gates);
  const id = `${at}!${cursor.checks + 1}`;
  batch.emit('gates.requested', {
    ...{ at, id, output, gates, deadline },
    ...defined({ tree, session, author, ...why }),
  });
}

/** How long the gates may take together, in milliseconds. */
const longest = (gates: readonly RequestedGate[]): number =>
  gates.reduce((sum, { gate }) => sum + (gate.timeout ?? gateSeconds), 0) * 1000 + graceMs;

/** Discards gates if their runner died or the deadline passed. Returns whether the position is open again. */
export function interrupt(
  batch: Batch,
  cursor: Cursor,
  command: { runnerAlive?: boolean | undefined },
): boolean {
  if (!cursor.checking) return false;
  // Only where they run can be known that they do not run any more.
  const dead = command.runnerAlive === false && sharesWork(cursor.checking.owner, ownerOf(batch.caller));
  if (!dead && batch.now <= cursor.checking.deadline) return false;
  const { id, runner } = cursor.checking;
  batch.emit('gates.interrupted', { id, why: dead ? 'runner' : 'deadline' });
  const work = workAt(batch.definition, cursor);
  if (isRunStep(work) && !cursor.preparing && runner && !work.idempotent)
    batch.emit('position.blocked', { at: batch.at(cursor), reason: mayHaveRun(work.run ?? '') });
  return true;
}

const mayHaveRun = (command: string): string =>
  `'${command.slice(0, 200)}' was interrupted and may have run: look at what it did`;

/** The engine runs what needs no agent. A started command that was interrupted is started again only if it may be. */
export function startCommands(batch: Batch): void {
  if (!startsCommands(batch.definition)) return;
  if (batch.state.run === undefined || batch.settled().status !== 'running') return;
  for (const cursor of Object.values(batch.state.cursors)) {
    const { checking, waiting, preparing } = cursor;
    if (checking || waiting) continue;
    if (preparing?.kind === 'baseline') requestBaseline(batch, cursor, preparing);
    else if (!preparing && isRunStep(workAt(batch.definition, cursor)))
      requestGates(batch, cursor, gatesAt(batch, cursor), '');
  }
}

function requestBaseline(batch: Batch, cursor: Cursor, { session }: Preparing): void {
  const from = cursorKey(cursor);
  const gates = baselineGates(batch.definition, cursor).map((gate) => ({
    gate,
    role: 'baseline' as const,
    from,
  }));
  requestGates(batch, cursor, gates, '', defined({ session }));
}

/** The first runner that reports runs the gates. */
export function gatesStarted(batch: Batch, command: CommandOf<'gatesStarted'>): Refusal | undefined {
  const checking = checkingBy(batch, command.id)?.checking;
  const { id, runner, tree, deadline = checking?.deadline ?? 0 } = command;
  const owner = ownerOf(command);
  if (!checking || !mayRun(checking, runner, owner)) return staleGates(id);
  const known = Number.isFinite(deadline) ? deadline : checking.deadline;
  const clamped = Math.min(known, batch.now + longest(checking.gates));
  batch.emit('gates.started', { id, deadline: clamped, ...defined({ runner, tree, owner }) });
  return undefined;
}

/** No runner has started the gates, or this one has, or it comes before the one that has. */
const mayRun = (
  { runner: has, owner, author }: Checking,
  asks: Checking['runner'],
  asking: Owner | undefined,
): boolean =>
  has === undefined ||
  (has.pid === asks?.pid && has.host === asks.host && sharesWork(owner, asking)) ||
  outranks(asking, owner) ||
  (isProvenAs(author, asking) && !sharesWork(author, owner));

const isProvenAs = (author: Owner | undefined, asking: Owner | undefined): boolean =>
  author !== undefined && asking !== undefined && sharesWork(author, asking);

export function gatesFinished(batch: Batch, command: CommandOf<'gatesFinished'>): Refusal | undefined {
  const { id, unstable, tree } = command;
  const cursor = checkingBy(batch, id);
  const checking = cursor?.checking;
  if (
    !cursor ||
    !checking ||
    !mayRun(checking, command.runner, ownerOf(command)) ||
    interrupt(batch, cursor, {})
  )
    return staleGates(id);
  batch.worker = checking.session;
  batch.author = checking.author;
  const reportedBy = reporterOf(command);
  const receipts = checking.gates.map((requested, index) => {
    const receipt = receiptFor(requested, index, command.receipts, cursor.baseline);
    return { ...receipt, ...defined({ reportedBy: reportedBy ?? sourceOf(batch.state, receipt) }) };
  });
  if (cursor.preparing) {
    const pass = receipts.every((receipt) => receipt.pass);
    batch.emit('gates.finished', { id, pass, receipts, ...defined({ tree }) });
    return undefined;
  }
  const leaving =
    stepOf(batch.definition, cursor.step).type !== 'ralph' || endsRalph(batch, cursor, receipts);
  const counts = ({ role }: Receipt): boolean =>
    role === 'gate' || role === 'run' || (role === 'rerun' && leaving);
  const isRun = isRunStep(workAt(batch.definition, cursor));
  // What an agent said stays what it said.
  const output = (isRun ? command.output : undefined) ?? checking.output;
  const pass = (unstable ?? []).length === 0 && receipts.every((receipt) => receipt.pass || !counts(receipt));
  batch.emit('gates.finished', { id, pass, receipts, ...defined({ tree, unstable }) });
  const after = own(batch.state.cursors, cursorKey(cursor)) ?? cursor;
  const evidence = { receipts, ...defined({ tree }) };
  const undecided = receipts.find(
    (receipt) => receipt.undecided && (counts(receipt) || receipt.role === 'until'),
  );
  if (undecided) {
    const reason = undecided.tail ?? `the condition "${undecided.what}" cannot be decided`;
    batch.emit('position.blocked', { at: batch.at(after), reason: reason.slice(0, maxReason) });
  } else if (checking.onPass) {
    if (pass && checking.onPass === 'advance') accept(batch, after, output, evidence, checking.session);
    else if (!pass && checking.attempt) failIfExhausted(batch, after);
  } else if (pass && checking.approval && isLessProven(cursor, receipts)) {
    const { by } = cursor.waiting?.kind === 'review' ? cursor.waiting : { by: 'human' };
    batch.emit('review.requested', {
      ...{ at: batch.at(after), by, output },
      ...evidence,
      ...defined({ session: checking.session, author: checking.author }),
    });
  } else if (pass && checking.approval) {
    const { feedback, ...reviewed } = checking.approval;
    batch.emit('review.decided', {
      at: batch.at(after),
      verdict: 'approve',
      ...reviewed,
      ...defined({ feedback }),
    });
    complete(batch, after, checking.output, evidence, reviewed);
  } else if (pass) accept(batch, after, output, evidence, checking.session);
  else if (isRun) failPosition(batch, after, redReason(receipts, counts));
  else failIfExhausted(batch, after);
  return undefined;
}

/** The person saw what a runner had reported, and now an agent's token says so. */
const isLessProven = ({ receipts: seen = [] }: Cursor, receipts: readonly Receipt[]): boolean =>
  receipts.some(({ reportedBy }) => reportedBy) && seen.every(({ reportedBy }) => !reportedBy);

/** A runner may have taken over what an agent reported. */
function sourceOf({ outputs }: State, { what, tree, reused, reportedBy }: Receipt): Receipt['reportedBy'] {
  if (reportedBy || !reused) return reportedBy;
  const sources = Object.values(outputs)
    .flatMap(({ receipts }) => receipts)
    .filter((each) => each.pass && each.what === what && each.tree === tree);
  return sources.every((each) => each.reportedBy) ? sources[0]?.reportedBy : undefined;
}

function failIfExhausted(batch: Batch, cursor: Cursor): void {
  if (isExhausted(workAt(batch.definition, cursor), cursor))
    failPosition(batch, cursor, `its gates failed ${cursor.reds} times`);
}

function redReason(receipts: readonly Receipt[], counts: (receipt: Receipt) => boolean): string {
  const red = receipts.find((receipt) => !receipt.pass && counts(receipt));
  const { what = '', exit, role } = red ?? {};
  const how = exit === undefined ? 'failed' : `exited with ${exit}`;
  return `${role === 'run' ? '' : 'its gate '}'${what.slice(0, 200)}' ${how}`;
}

/** The gates were red as often as the position allows. */
function isExhausted(work: Step | SubStep, { failures, reds }: Cursor): boolean {
  const retry = retryOf(work);
  return retry ? failures + reds >= retry.retry : reds >= attemptsOf(work);
}

/** A gate without a result is red, and so is a gate with contradicting results. Before the work, no result says nothing. */
function receiptFor(
  { gate, role }: RequestedGate,
  index: number,
  results: readonly GateResult[],
  baseline: readonly Baseline[] = [],
): Receipt {
  const mine = results.filter((result) => result.gate === index);
  const none: GateResult = { gate: index, pass: false, tail: 'no result' };
  const [first = role === 'baseline' ? { ...none, undecided: true as const } : none] = mine;
  const pass = mine.length > 0 && mine.every((result) => result.pass);
  const what = gateText(gate);
  // A gate that was not run, because one before it is red, tells nothing about the change.
  const ran = pass || first.exit !== undefined || first.ms !== undefined;
  const asked = role === 'gate' && gate.baseline && ran;
  const said = asked ? baseline.filter((each) => each.what === what) : [];
  const reportedBy = said.find((each) => each.reportedBy)?.reportedBy;
  const { expect } = gate;
  return { ...first, role, what, pass, ...defined({ expect, before: saidBefore(said), reportedBy }) };
}

/** Of the same command twice, red counts. */
function saidBefore(said: readonly Baseline[]): Receipt['before'] | undefined {
  if (said.length === 0) return undefined;
  return said.every(({ pass }) => pass) ? 'pass' : 'fail';
}

/** The gates passed: requests a review if the step has one, otherwise completes the position. */
export function accept(
  batch: Batch,
  cursor: Cursor,
  output: Text,
  evidence: { receipts: Receipt[]; tree?: string },
  session: string | undefined,
): void {
  const step = stepOf(batch.definition, cursor.step);
  const last =
    step.type === 'action' || (step.type === 'ralph' && endsRalph(batch, cursor, evidence.receipts));
  const exhausted = last && step.until && !untilHolds(evidence.receipts) ? step.on_exhausted : undefined;
  const at = batch.at(cursor);
  if (exhausted === 'fail') return failExhausted(batch, cursor, session);
  if (exhausted === 'wait') {
    const asked = { at, by: 'human', output, ...evidence, exhausted: true as const };
    return batch.emit('review.requested', { ...asked, ...defined({ session, author: batch.author }) });
  }
  if (!step.review || !last) return complete(batch, cursor, output, evidence);
  const { by } = step.review;
  batch.emit('review.requested', {
    ...{ at, by, output },
    ...evidence,
    ...defined({ session, author: batch.author }),
  });
}

/** Why a ralph step whose `until` does not hold goes no further. */
export const exhaustedReason = (step: string): string =>
  `'${step}' has no iteration left, and its until does not hold`;

function failExhausted(batch: Batch, cursor: Cursor, session: string | undefined): void {
  const reason = exhaustedReason(cursor.step);
  batch.emit('position.failed', { at: batch.at(cursor), reason, ...defined({ session }) });
  batch.emit('run.failed', { reason });
}

const checkingBy = (batch: Batch, id: string): Cursor | undefined =>
  Object.values(batch.state.cursors).find((cursor) => cursor.checking?.id === id);

const staleGates = (id: string): Refusal => refuse('stale_gates', { id });
