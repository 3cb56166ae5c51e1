import { type Batch, given } from './batch.ts';
import { attemptsOf, type Gate } from './definition.ts';
import type { EventOf } from './event.ts';
import { cursorKey, type Place, pathOf } from './handle.ts';
import { own } from './record.ts';
import type { Cursor, Lease, Receipt, RequestedGate, Text } from './state.ts';
import {
  contextAt,
  firstReady,
  loopIdOf,
  parallelOf,
  rerunGates,
  stepIndex,
  stepOf,
  subStepsOf,
  taskListOf,
  tasksIn,
  workAt,
} from './steps.ts';
import { expandAt } from './values.ts';

const gateSeconds = 600;
const graceMs = 60_000;

export interface Evidence {
  receipts: Receipt[];
  tree?: string;
}

interface Entry {
  why: EventOf<'position.entered'>['why'];
  lease?: Lease | undefined;
  failures?: number;
  failedAt?: string;
  feedback?: string | undefined;
  tree?: string | undefined;
}

export function enterStep(
  batch: Batch,
  step: string,
  options: { from?: string; pivot?: boolean; tree?: string } = {},
) {
  const transition = batch.definition.transitions?.find(
    (candidate) => candidate.from === options.from && candidate.to === step,
  );
  const context = options.pivot ? 'clear' : transition?.context;
  batch.emit('step.entered', {
    step,
    ...(context ? { context } : {}),
    ...(options.pivot ? { forced: true as const } : {}),
  });
  const { type } = stepOf(batch.definition, step);
  if (type === 'loop') return openLoop(batch, options.tree);
  enterPosition(batch, type === 'ralph' ? { step, iteration: 1 } : { step }, {
    why: 'next',
    tree: options.tree,
  });
}

/** A retry and a revision go on in the same context; everything else asks for the position's own. */
export function enterPosition(batch: Batch, place: Place, entry: Entry): void {
  const { failures = 0, ...rest } = entry;
  const again = entry.why === 'retry' || entry.why === 'revise' || entry.why === 'reclaim';
  const context = again ? undefined : contextAt(batch.definition, batch.state, place);
  const visit = (own(batch.state.visits, pathOf(place)) ?? 0) + 1;
  batch.emit('position.entered', { ...place, visit, failures, ...given({ context, ...rest }) });
}

/** The current step is a loop: opens what can be opened, or leaves it when nothing is left to do. */
export function openLoop(batch: Batch, tree?: string): void {
  const step = stepOf(batch.definition, batch.state.step);
  const list = taskListOf(batch.state, step);
  if (!list) {
    enterPosition(batch, { step: step.id }, { why: 'next', tree });
    return;
  }
  const tasks = tasksIn(list);
  if (tasks.every((task) => task.end !== undefined)) {
    const allLost = tasks.length > 0 && tasks.every((task) => task.end !== 'done');
    if (!allLost) return leaveStep(batch, { tree });
    batch.emit('run.blocked', { reason: `every task of '${step.id}' failed or was skipped` });
    return;
  }
  if (parallelOf(step) > 1) return;
  const next = firstReady(batch.state, step);
  const [first] = subStepsOf(batch.definition, step);
  if (next && first) {
    enterPosition(batch, { step: step.id, task: next.id, subStep: first.id }, { why: 'next', tree });
  }
}

export function leaveStep(
  batch: Batch,
  options: { tree?: string | undefined; session?: string | undefined },
): void {
  const from = batch.state.step;
  batch.emit('step.completed', { step: from, ...given({ session: options.session }) });
  const next = batch.definition.steps[stepIndex(batch.definition, from) + 1];
  if (next) enterStep(batch, next.id, { from, ...given({ tree: options.tree }) });
  else batch.emit('run.completed', {});
}

/** Records the output with its evidence and moves on. */
export function complete(
  batch: Batch,
  cursor: Cursor,
  output: Text,
  evidence: Evidence,
  options: { reviewed?: string; session?: string | undefined },
): void {
  const at = batch.at(cursor);
  const { step: id, task, subStep, iteration } = cursor;
  const step = stepOf(batch.definition, id);
  batch.emit('position.completed', { at, output, ...evidence, ...given({ reviewed: options.reviewed }) });
  const moving = { tree: evidence.tree, session: options.session };
  if (step.type === 'action') return leaveStep(batch, moving);
  if (step.type === 'ralph') {
    if (leavesRalph(batch, cursor, evidence.receipts)) return leaveStep(batch, moving);
    return enterPosition(
      batch,
      { step: id, iteration: (iteration ?? 1) + 1 },
      { why: 'next', tree: evidence.tree },
    );
  }
  const subSteps = subStepsOf(batch.definition, step);
  const next = subSteps[subSteps.findIndex((sub) => sub.id === subStep) + 1];
  if (next && task !== undefined) {
    const place = { step: id, task, subStep: next.id };
    return enterPosition(batch, place, { why: 'next', lease: cursor.lease, tree: evidence.tree });
  }
  batch.emit('task.ended', { loop: loopIdOf(step), task: task ?? '', end: 'done', at });
  openLoop(batch, evidence.tree);
}

/** The last iteration, or one whose `until` held. */
export function leavesRalph(batch: Batch, cursor: Cursor, receipts: Receipt[]): boolean {
  const step = stepOf(batch.definition, cursor.step);
  const until = receipts.filter((receipt) => receipt.role === 'until');
  const held = until.length > 0 && until.every((receipt) => receipt.pass);
  return held || (cursor.iteration ?? 1) >= (step.n ?? 1);
}

/** `on_fail` decides; a position without one waits for a person. */
export function failPosition(batch: Batch, cursor: Cursor, reason: string): void {
  const at = batch.at(cursor);
  const work = workAt(batch.definition, cursor);
  batch.emit('position.failed', { at, reason });
  const failures = cursor.failures + 1;
  if (work.on_fail === 'abort') return batch.emit('run.failed', { reason });
  if (work.on_fail === 'skip') return skipTask(batch, cursor, at);
  if (work.on_fail === 'retry' && failures <= attemptsOf(work)) {
    return again(batch, cursor, { why: 'retry', failures, failedAt: at });
  }
  batch.emit('position.blocked', { at, reason });
}

/** The next visit of the same place. */
export function again(batch: Batch, cursor: Cursor, entry: Entry): void {
  const { step, task, subStep, iteration, lease, tree } = cursor;
  enterPosition(batch, given({ step, task, subStep, iteration }), { lease, tree, ...entry });
}

function skipTask(batch: Batch, cursor: Cursor, at: string): void {
  const step = stepOf(batch.definition, cursor.step);
  const loop = loopIdOf(step);
  const lost = new Set([cursor.task ?? '']);
  batch.emit('task.ended', { loop, task: cursor.task ?? '', end: 'failed', at });
  // Dependants may stand before what they depend on, so look until nothing more is lost.
  for (let before = 0; before !== lost.size; ) {
    before = lost.size;
    for (const task of tasksIn(taskListOf(batch.state, step))) {
      if (task.end !== undefined || !task.depends_on?.some((id) => lost.has(id))) continue;
      lost.add(task.id);
      batch.emit('task.ended', { loop, task: task.id, end: 'skipped' });
    }
  }
  openLoop(batch);
}

/** Files may be named by placeholders; a command never is: its values arrive as environment variables. */
function filled(batch: Batch, place: Place, gate: Gate): Gate {
  const fill = (text: string): string => expandAt(batch.definition, batch.state, place, text);
  return {
    ...gate,
    ...(gate.exists === undefined ? {} : { exists: fill(gate.exists) }),
    ...(gate.read === undefined ? {} : { read: gate.read.map(fill) }),
  };
}

/** The position's own gates, a ralph step's `until`, and what must hold again before the run completes. */
export function gatesAt(batch: Batch, cursor: Cursor): RequestedGate[] {
  const { definition } = batch;
  const step = stepOf(definition, cursor.step);
  const gates: RequestedGate[] = (workAt(definition, cursor).gate ?? []).map((gate) => ({
    gate: filled(batch, cursor, gate),
    role: 'gate',
    from: cursorKey(cursor),
  }));
  for (const gate of step.until ?? [])
    gates.push({ gate: filled(batch, cursor, gate), role: 'until', from: step.id });
  const index = stepIndex(definition, step.id);
  if (index === definition.steps.length - 1 && step.type !== 'loop') {
    for (const { gate, from } of rerunGates(definition, index))
      gates.push({ gate: filled(batch, cursor, gate), role: 'rerun', from });
  }
  return gates;
}

export function requestGates(
  batch: Batch,
  cursor: Cursor,
  gates: RequestedGate[],
  output: Text,
  options: { tree?: string | undefined; approval?: { by: string; feedback?: string } },
): void {
  const at = batch.at(cursor);
  const seconds = gates.reduce((sum, { gate }) => sum + (gate.timeout ?? gateSeconds), 0);
  batch.emit('gates.requested', {
    at,
    id: `${at}!${cursor.checks + 1}`,
    output,
    gates,
    deadline: batch.now + seconds * 1000 + graceMs,
    ...given(options),
  });
}
