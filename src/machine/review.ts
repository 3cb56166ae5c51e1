import type { Caller, CommandOf, Owner, Text } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { exhaust } from './budget.ts';
import { allUsedUp, budgetPivotTarget, budgetUse, type UsedUp } from './budget-use.ts';
import { complete, enterStep, type Reviewed, reenterPosition } from './flow.ts';
import { gatesAt, interrupt, requestGates } from './gates.ts';
import { cursorKey, outputKey, parseHandle } from './handle.ts';
import { belongsToCaller, cursorAt, type Located, locate } from './locate.ts';
import { own } from './own-property.ts';
import { ownerOf, samePrincipal } from './ownership.ts';
import { type PersonDecision, type Refusal, refuse, stillChecking } from './refusal.ts';
import { receiptValidity } from './stale-receipt.ts';
import type { Cursor, State, Waiting } from './state.ts';
import { stepIndex, stepOf } from './steps.ts';

const maxFeedback = 600;

/** Applies a verdict to an exhausted budget, a review, a blocked position, or a loop in which every task failed. */
export function review(batch: Batch, command: CommandOf<'review'>): Refusal | undefined {
  const { state } = batch;
  if (repeatsApproval(batch, command)) return undefined;
  const named = command.at === undefined ? undefined : locate(batch, command.at);
  if (named && 'refusal' in named) return named.refusal;
  const over = allUsedUp(state);
  if (over.length > 0) return reviewBudget(batch, command, over);
  if (state.blocked !== undefined) return reviewLoop(batch, command);
  const found = named ?? onlyWaiting(batch);
  if (found && 'refusal' in found) return found.refusal;
  const cursor = found && 'cursor' in found ? found.cursor : undefined;
  const waiting = cursor?.waiting;
  if (!cursor || !waiting || waiting.kind === 'question') {
    if (command.verdict === 'approve' && command.amount) return grantAhead(batch, command);
    return refuse('not_waiting', {}, { action: { do: 'ask_status' } });
  }
  const at = batch.at(cursor);
  if (cursor.checking && !interrupt(batch, cursor, {})) return stillChecking(at);
  return mayReview(batch, cursor, waiting, command) ?? applyVerdict(batch, cursor, waiting, command);
}

function applyVerdict(
  batch: Batch,
  cursor: Cursor,
  waiting: Waiting,
  command: CommandOf<'review'>,
): Refusal | undefined {
  const at = batch.at(cursor);
  switch (command.verdict) {
    case 'approve':
      if (waiting.kind !== 'review' && cursor.preparing?.kind === 'tasks')
        return leaveLoop(batch, cursor, command);
      return waiting.kind === 'review' ? approve(batch, cursor, waiting, command) : notPassed(at);
    case 'revise':
      emitDecision(batch, at, command);
      reenterPosition(batch, cursor, {
        why: 'revise',
        feedback: trimmed(command.feedback),
        output: cursor.output,
      });
      return undefined;
    case 'escalate':
      return waiting.kind === 'review' ? emitDecision(batch, at, command) : notPassed(at);
    case 'abandon':
      return abandon(batch, at, command);
    case 'pivot': {
      const { review } = stepOf(batch.definition, cursor.step);
      return pivot(batch, at, command, review?.on_pivot, 'PLAN_PIVOT_FEEDBACK');
    }
  }
}

/** The tasks of a loop could not be read, and a person goes on without them. */
function leaveLoop(batch: Batch, cursor: Cursor, command: CommandOf<'review'>): undefined {
  emitDecision(batch, batch.at(cursor), command);
  complete(batch, cursor, '', { receipts: [] }, { by: nameOf(command) });
}

/** Whether the same approval was given before. Then nothing changes, in any state of the run. */
export function repeatsApproval(batch: Batch, { verdict, at }: CommandOf<'review'>): boolean {
  if (verdict !== 'approve' || at === undefined) return false;
  const output = own(batch.state.outputs, outputKey(parseHandle(at)?.path ?? ''));
  batch.replayed = output?.at === at && output.reviewed !== undefined;
  return batch.replayed;
}

/** A person may review everything; an agent only reviews for agents, and never its own work. */
function mayReview(
  batch: Batch,
  cursor: Cursor,
  waiting: Waiting,
  command: CommandOf<'review'>,
): Refusal | undefined {
  if (byPerson(command)) return undefined;
  const at = batch.at(cursor);
  if (waiting.kind !== 'review' || waiting.by === 'human') return personOnly('review', { at });
  const { review } = stepOf(batch.definition, cursor.step);
  if (review?.independent && !isAnother(batch.state, cursor, command))
    return personOnly('independent_review', { at });
  if (command.verdict === 'abandon') return personOnly('abandon', { at });
  const same = command.session !== undefined && command.session === waiting.session;
  if (!same || command.actor?.name === waiting.by) return undefined;
  return refuse('own_work', { at, by: waiting.by }, { at });
}

/** Whether the reviewer proved to be another principal than all who did the work. */
function isAnother(state: State, cursor: Cursor, command: CommandOf<'review'>): boolean {
  const isProven = ownerOf(command) !== undefined && authorIn(cursor) !== undefined;
  return isProven && !isAuthor(state, cursor, command);
}

const authorIn = ({ waiting }: Cursor): Owner | undefined =>
  waiting?.kind === 'review' ? waiting.author : undefined;

/** Whether the reviewer did the work, or some of it. */
function isAuthor(state: State, cursor: Cursor | undefined, command: CommandOf<'review'>): boolean {
  const reviewer = ownerOf(command);
  if (!cursor || !reviewer) return false;
  // What was reviewed before this list was kept has its author only in the position.
  const authors = [...(own(state.authors ?? {}, cursorKey(cursor)) ?? []), authorIn(cursor)];
  return authors.some((each) => each && samePrincipal(each, reviewer));
}

/** Who reviewed, and whether it was a principal that did the work. */
function reviewedBy(state: State, cursor: Cursor | undefined, command: CommandOf<'review'>): Reviewed {
  const isOwn = !byPerson(command) && isAuthor(state, cursor, command);
  return {
    by: nameOf(command),
    ...defined({ principal: ownerOf(command) }),
    ...(isOwn && { ownWork: true }),
  };
}

function approve(
  batch: Batch,
  cursor: Cursor,
  waiting: Extract<Waiting, { kind: 'review' }>,
  command: CommandOf<'review'>,
): Refusal | undefined {
  const at = batch.at(cursor);
  const { output = '', receipts = [] } = cursor;
  const reviewed = reviewedBy(batch.state, cursor, command);
  const tree = command.tree ?? waiting.tree;
  if (receiptValidity(waiting.tree, tree) === 'stale') {
    const gates = gatesAt(batch, cursor);
    const feedback = trimmed(command.feedback);
    if (gates.length > 0) {
      batch.author = waiting.author;
      requestGates(batch, cursor, gates, output, { approval: { ...reviewed, ...defined({ feedback }) } });
      return undefined;
    }
    const { session, author } = waiting;
    batch.emit('review.requested', {
      ...{ at, by: waiting.by, output, receipts },
      ...defined({ tree, session, author }),
    });
    return refuse('tree_changed', { at, why: 'review' }, { at });
  }
  emitDecision(batch, at, command);
  batch.worker = waiting.session;
  complete(batch, cursor, output, { receipts, ...defined({ tree }) }, reviewed);
  return undefined;
}

function reviewBudget(batch: Batch, command: CommandOf<'review'>, over: UsedUp[]): Refusal | undefined {
  const { definition, state } = batch;
  const step = stepOf(definition, state.step);
  if (!byPerson(command)) return personOnly('budget', { step: step.id });
  switch (command.verdict) {
    case 'approve':
      return missingAmount(batch, command, over) ?? grant(batch, command, over);
    case 'pivot': {
      // A pivot gives the step a new budget, but not the run.
      const run = over.filter(({ of }) => of === 'run');
      const target = budgetPivotTarget(definition, state);
      return (
        missingAmount(batch, command, run) ??
        pivot(batch, undefined, command, target, 'BUDGET_PIVOT_FEEDBACK') ??
        grant(batch, command, run)
      );
    }
    case 'escalate':
      return emitDecision(batch, undefined, command);
    case 'abandon':
      return abandon(batch, undefined, command);
    case 'revise':
      return refuse('bad_verdict', { why: 'budget' });
  }
}

function missingAmount(
  { state }: Batch,
  command: CommandOf<'review'>,
  over: readonly UsedUp[],
): Refusal | undefined {
  const amount = positive(command.amount);
  const lacking = over.find(({ unit }) => !amount[unit]);
  if (!lacking) return undefined;
  const { unit, of } = lacking;
  return refuse('amount_required', { unit, ...defined({ of }), step: state.step });
}

function grant(batch: Batch, command: CommandOf<'review'>, to: readonly Pick<UsedUp, 'of'>[]): undefined {
  const [amount, by] = [positive(command.amount), nameOf(command)];
  for (const { of } of to) batch.emit('budget.extended', { amount, by, ...defined({ of }) });
  // Another unit may be used up as well.
  exhaust(batch);
}

/** More of a budget before it is used up: of the step, if it limits one of these units, else of the run. */
function grantAhead(batch: Batch, command: CommandOf<'review'>): Refusal | undefined {
  if (!byPerson(command)) return personOnly('budget', { step: batch.state.step });
  const amount = positive(command.amount);
  const use = budgetUse(batch.definition, batch.state).find(({ unit }) => amount[unit]);
  if (!use) return refuse('no_budget', { step: batch.state.step, units: Object.keys(amount) });
  return grant(batch, command, [use]);
}

/** Every task failed: repeat the loop, pivot or abandon. */
function reviewLoop(batch: Batch, command: CommandOf<'review'>): Refusal | undefined {
  const step = stepOf(batch.definition, batch.state.step);
  if (!byPerson(command)) return personOnly('blocked_loop', { step: step.id });
  switch (command.verdict) {
    case 'revise':
      emitDecision(batch, undefined, command);
      rewindTo(batch, step.id);
      return undefined;
    case 'pivot':
      return pivot(batch, undefined, command, step.budget?.on_pivot, 'PLAN_PIVOT_FEEDBACK');
    case 'abandon':
      return abandon(batch, undefined, command);
    default:
      return refuse('bad_verdict', { why: 'no_task_done', step: step.id });
  }
}

/** Goes back to the step. Work from there on no longer counts. */
export function rewindTo(batch: Batch, to: string): void {
  batch.emit('run.rewound', { to });
  enterStep(batch, to, { from: batch.definition.steps[stepIndex(batch.definition, to) - 1]?.id });
}

/** Goes back with a cleared context; summary, plan and feedback are kept. */
function pivot(
  batch: Batch,
  at: string | undefined,
  command: CommandOf<'review'>,
  configured: string | undefined,
  tag: string,
): Refusal | undefined {
  const from = batch.state.step;
  // An agent cannot choose the target of a pivot.
  const to = (byPerson(command) ? command.to : undefined) ?? configured;
  const index = to === undefined ? -1 : stepIndex(batch.definition, to);
  if (to === undefined || index < 0 || index > stepIndex(batch.definition, from)) {
    const steps = batch.definition.steps
      .slice(0, stepIndex(batch.definition, from) + 1)
      .map((step) => step.id);
    return refuse('no_pivot', { from, ...defined({ to }), steps });
  }
  emitDecision(batch, at, command);
  const plan = planOf(batch, to);
  batch.emit('run.pivoted', {
    from,
    to,
    tag,
    feedback: trimmed(command.feedback) ?? '',
    ...defined({ plan }),
  });
  enterStep(batch, to, { pivot: true });
  return undefined;
}

/** The latest plan of the step: its output, that of its last iteration, the output under review, or the plan of an earlier pivot. */
function planOf({ state }: Batch, step: string): Text | undefined {
  const reviewed = own(state.cursors, step)?.output;
  const [latest] = Object.entries(state.outputs)
    .filter(([key]) => key.startsWith(`${step}.`))
    .map(([key, output]) => ({ ...output, iteration: Number(key.slice(step.length + 1)) || 0 }))
    .sort((one, other) => other.now - one.now || other.iteration - one.iteration);
  const last = own(state.outputs, step) ?? latest;
  return last?.text ?? reviewed ?? state.pivots.findLast((pivot) => pivot.to === step)?.plan;
}

function abandon(batch: Batch, at: string | undefined, command: CommandOf<'review'>): undefined {
  emitDecision(batch, at, command);
  batch.emit('run.failed', { reason: trimmed(command.feedback) ?? 'abandoned' });
}

function emitDecision(batch: Batch, at: string | undefined, command: CommandOf<'review'>): undefined {
  const feedback = trimmed(command.feedback);
  const cursor = at === undefined ? undefined : cursorAt(batch.state, at);
  batch.emit('review.decided', {
    verdict: command.verdict,
    ...reviewedBy(batch.state, cursor, command),
    ...defined({ at, feedback }),
  });
}

function onlyWaiting(batch: Batch): Located | undefined {
  const mine = (cursor: Cursor): boolean => byPerson(batch.caller) || belongsToCaller(cursor, batch.caller);
  const waiting = Object.values(batch.state.cursors).filter((cursor) => cursor.waiting && mine(cursor));
  const [only] = waiting;
  if (!only) return undefined;
  if (waiting.length === 1) return { cursor: only };
  const handles = waiting.map((cursor) => batch.at(cursor));
  return { refusal: refuse('at_required', { open: waiting.length, waiting: true, handles }) };
}

export const byPerson = (caller: Caller): boolean => caller.actor?.kind === 'person';

export const personOnly = (what: PersonDecision, about: { at?: string; step?: string } = {}): Refusal =>
  refuse('person_only', { what, ...about }, { at: about.at });

const notPassed = (at: string): Refusal => refuse('bad_verdict', { why: 'gates_not_passed', at }, { at });

/** An agent that works with a person's login has that person's name. */
function nameOf({ actor }: Caller): string {
  const { kind = 'agent', name, principal } = actor ?? {};
  return kind === 'agent' && principal ? `agent ${principal.subject}` : (name ?? kind);
}

function trimmed(text: string | undefined): string | undefined {
  const trim = text?.trim();
  if (!trim) return undefined;
  return trim.length > maxFeedback ? `${trim.slice(0, maxFeedback - 3)}...` : trim;
}

const positive = (amount: CommandOf<'review'>['amount'] = {}) =>
  Object.fromEntries(Object.entries(amount).filter(([, value]) => Number.isFinite(value) && value > 0));
