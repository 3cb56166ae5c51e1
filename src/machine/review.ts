import { interrupt } from './advance.ts';
import { type Batch, given } from './batch.ts';
import type { Caller, CommandOf } from './command.ts';
import { again, complete, enterStep, gatesAt, requestGates } from './flow.ts';
import { locate } from './locate.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Amount, Cursor } from './state.ts';
import { stepIndex, stepOf } from './steps.ts';

const maxFeedback = 600;
const idleMs = 5 * 60_000;

/** Decides what waits: a review, a budget that ran out, or a position that is blocked. */
export function review(batch: Batch, command: CommandOf<'review'>): Refusal | undefined {
  if (batch.state.budget.exhausted !== undefined) return reviewBudget(batch, command);
  const found =
    command.at === undefined ? onlyWaiting(batch) : locate(batch.definition, batch.state, command.at);
  if (found && 'refusal' in found) return found.refusal;
  const cursor = found && 'cursor' in found ? found.cursor : undefined;
  const waiting = cursor?.waiting;
  if (!cursor || !waiting || waiting.kind === 'question') {
    return refuse('not_waiting', 'nothing waits for a review here', 'ask for the status');
  }
  const at = batch.at(cursor);
  if (cursor.checking && !interrupt(batch, cursor, {})) {
    return refuse('checking', `the gates of ${at} run again for the approval`, 'wait for them', at);
  }
  if ((waiting.kind === 'blocked' || waiting.by === 'human') && !byPerson(command)) {
    return personOnly(`the review of ${at}`, at);
  }
  switch (command.verdict) {
    case 'approve':
      return waiting.kind === 'blocked' ? cannotApprove(at) : approve(batch, cursor, command);
    case 'revise':
      decided(batch, at, command);
      again(batch, cursor, { why: 'revise', feedback: trimmed(command.feedback) });
      return undefined;
    case 'escalate':
      if (waiting.kind === 'blocked') return cannotEscalate(at);
      return decided(batch, at, command);
    case 'abandon':
      return abandon(batch, at, command);
    case 'pivot': {
      const step = stepOf(batch.definition, cursor.step);
      return pivot(batch, at, command, step.review?.on_pivot, 'PLAN_PIVOT_FEEDBACK');
    }
  }
}

function approve(batch: Batch, cursor: Cursor, command: CommandOf<'review'>): Refusal | undefined {
  const at = batch.at(cursor);
  const { output, receipts = [], waiting } = cursor;
  if (output === undefined || waiting?.kind !== 'review') return cannotApprove(at);
  const by = nameOf(command);
  const shown = waiting.tree;
  const tree = command.tree ?? shown;
  if (shown !== undefined && tree !== shown) {
    const gates = gatesAt(batch, cursor);
    if (gates.length > 0) {
      const approval = { by, ...given({ feedback: trimmed(command.feedback) }) };
      requestGates(batch, cursor, gates, output, { tree, approval });
      return undefined;
    }
    batch.emit('review.requested', { at, by: waiting.by, output, receipts, ...given({ tree }) });
    const message = `files have changed since ${at} was shown`;
    return refuse('tree_changed', message, 'look again, then approve', at);
  }
  decided(batch, at, command);
  complete(
    batch,
    cursor,
    output,
    { receipts, ...given({ tree }) },
    { reviewed: by, session: command.session },
  );
  return undefined;
}

function reviewBudget(batch: Batch, command: CommandOf<'review'>): Refusal | undefined {
  const step = stepOf(batch.definition, batch.state.step);
  if (!byPerson(command)) return personOnly(`the budget of '${step.id}'`);
  switch (command.verdict) {
    case 'approve': {
      const { exhausted } = batch.state.budget;
      const amount = positive(command.amount);
      if (!exhausted || !amount[exhausted]) {
        const message = `the ${exhausted} of '${step.id}' are used up`;
        return refuse('amount_required', message, `say how many more ${exhausted} it gets`);
      }
      batch.emit('budget.extended', { amount, by: nameOf(command) });
      return undefined;
    }
    case 'pivot': {
      const target = step.budget?.on_pivot ?? step.review?.on_pivot;
      return pivot(batch, undefined, command, target, 'BUDGET_PIVOT_FEEDBACK');
    }
    case 'escalate':
      return decided(batch, undefined, command);
    case 'abandon':
      return abandon(batch, undefined, command);
    case 'revise':
      return refuse(
        'bad_verdict',
        'a budget cannot be revised',
        'approve with an amount, pivot, escalate or abandon',
      );
  }
}

/** Story, plan and feedback survive; the conversation does not. */
function pivot(
  batch: Batch,
  at: string | undefined,
  command: CommandOf<'review'>,
  configured: string | undefined,
  tag: string,
): Refusal | undefined {
  const from = batch.state.step;
  const to = command.to ?? configured;
  const index = to === undefined ? -1 : stepIndex(batch.definition, to);
  if (to === undefined || index < 0 || index > stepIndex(batch.definition, from)) {
    const earlier = batch.definition.steps
      .slice(0, stepIndex(batch.definition, from) + 1)
      .map((step) => step.id);
    const message =
      to === undefined ? `'${from}' names no step to pivot to` : `the run cannot pivot to '${to}'`;
    return refuse('no_pivot', message, `name one of ${earlier.join(', ')}`);
  }
  decided(batch, at, command);
  batch.emit('run.pivoted', { from, to, tag, feedback: trimmed(command.feedback) ?? '' });
  enterStep(batch, to, { pivot: true, ...given({ tree: command.tree }) });
  return undefined;
}

function abandon(batch: Batch, at: string | undefined, command: CommandOf<'review'>): undefined {
  decided(batch, at, command);
  batch.emit('run.failed', { reason: trimmed(command.feedback) ?? 'abandoned' });
}

function decided(batch: Batch, at: string | undefined, command: CommandOf<'review'>): undefined {
  const { verdict } = command;
  batch.emit('review.decided', {
    verdict,
    by: nameOf(command),
    ...given({ at, feedback: trimmed(command.feedback) }),
  });
}

/** Minutes are active time: a gap of more than five minutes counts nothing. */
export function spend(batch: Batch, command: CommandOf<'spend'>): undefined {
  const { budget, step: id } = batch.state;
  const gap = budget.lastAt === undefined ? 0 : Math.max(0, batch.now - budget.lastAt);
  batch.emit('budget.spent', {
    turns: Math.max(0, command.turns ?? 0),
    tokens: Math.max(0, command.tokens ?? 0),
    activeMs: gap > idleMs ? 0 : gap,
  });
  const limit = stepOf(batch.definition, id).budget;
  const spent = batch.state.budget;
  if (!limit || spent.exhausted !== undefined) return;
  const used: Required<Amount> = {
    turns: spent.turns,
    tokens: spent.tokens,
    minutes: spent.activeMs / 60_000,
  };
  for (const what of ['turns', 'tokens', 'minutes'] as const) {
    const allowed = limit[what];
    if (allowed === undefined || used[what] < allowed + (spent.extra[what] ?? 0)) continue;
    batch.emit('budget.exhausted', { what });
    return;
  }
}

function onlyWaiting(batch: Batch): { cursor: Cursor } | { refusal: Refusal } | undefined {
  const waiting = Object.values(batch.state.cursors).filter((cursor) => cursor.waiting);
  const [only] = waiting;
  if (!only) return undefined;
  if (waiting.length === 1) return { cursor: only };
  const handles = waiting.map((cursor) => batch.at(cursor));
  const message = `${waiting.length} positions wait: say which with \`at\``;
  return { refusal: refuse('at_required', message, `one of ${handles.join(', ')}`) };
}

export const byPerson = (caller: Caller): boolean => caller.actor?.kind === 'person';

export const personOnly = (what: string, at?: string): Refusal =>
  refuse('person_only', `${what} is a person's to decide`, 'end your turn and wait for the user', at);

const cannotApprove = (at: string): Refusal =>
  refuse('bad_verdict', `${at} has not passed its gates`, 'revise to try again, rewind, or abandon', at);

const cannotEscalate = (at: string): Refusal =>
  refuse('bad_verdict', `${at} already waits for a person`, 'revise to try again, rewind, or abandon', at);

const nameOf = (caller: Caller): string => caller.actor?.name ?? caller.actor?.kind ?? 'agent';

const trimmed = (text: string | undefined): string | undefined => {
  const trim = text?.trim();
  if (!trim) return undefined;
  return trim.length > maxFeedback ? `${trim.slice(0, maxFeedback - 3)}...` : trim;
};

const positive = (amount: Amount = {}): Amount =>
  Object.fromEntries(Object.entries(amount).filter(([, value]) => Number.isFinite(value) && value > 0));
