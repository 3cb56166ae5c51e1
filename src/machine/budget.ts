import type { CommandOf, Told } from '../schema/index.ts';
import { type Batch, defined } from './batch.ts';
import { allUsedUp, budgetUse } from './budget-use.ts';
import { parseHandle } from './handle.ts';
import { own } from './own-property.ts';
import { ended, type State } from './state.ts';
import { stepOf } from './steps.ts';

const idleMs = 5 * 60_000;
/** A larger amount in one call is a mistake, and sums must stay finite. */
const most = 1e12;

/**
 * Figures with a source are cumulative, so that several processes may report the same session: only what is new counts.
 * Without a source they are added. Spending of an earlier step counts for the run alone.
 */
export function spend(batch: Batch, command: CommandOf<'spend'>): undefined {
  const { state } = batch;
  const { source } = command;
  const path = command.at === undefined ? undefined : parseHandle(command.at)?.path;
  const step = path?.split('/', 1)[0] ?? state.step;
  const told: Told = {
    turns: countable(command.turns),
    tokens: countable(command.tokens),
    activeMs: command.activeMs === undefined ? 0 : countable(command.activeMs),
    cost: countable(command.cost),
  };
  if (source === undefined) {
    const activeMs = command.activeMs === undefined ? sinceLast(state, batch.now) : told.activeMs;
    batch.emit('budget.spent', { step, ...withoutZeroCost({ ...told, activeMs }) });
  } else {
    const seen = own(state.told ?? {}, source) ?? nothingTold;
    const latest = mapTold((unit) => Math.max(told[unit], seen[unit]));
    const added = mapTold((unit) => latest[unit] - seen[unit]);
    if (Object.values(added).every((amount) => amount === 0)) return;
    batch.emit('budget.spent', { step, ...withoutZeroCost(added), source, told: latest });
  }
  if (!ended(state)) exhaust(batch);
}

const nothingTold: Told = { turns: 0, tokens: 0, activeMs: 0, cost: 0 };

const mapTold = (amount: (unit: keyof Told) => number): Told => ({
  turns: amount('turns'),
  tokens: amount('tokens'),
  activeMs: amount('activeMs'),
  cost: amount('cost'),
});

const withoutZeroCost = ({ cost, ...rest }: Told): Omit<Told, 'cost'> & { cost?: number } =>
  cost > 0 ? { ...rest, cost } : rest;

/**
 * The active time of sessions without hooks, which cannot tell it: their calls are all that is known. Counted only where
 * minutes are limited.
 */
export function countActivity(batch: Batch, before: State): void {
  const { definition, caller } = batch;
  const { step } = before;
  const limited = definition.budget?.minutes ?? stepOf(definition, step).budget?.minutes;
  if (limited === undefined || batch.events.length === 0) return;
  if (caller.actor !== undefined && caller.actor.kind !== 'agent') return;
  const { witness } = own(before.sessions, caller.session ?? '') ?? {};
  if (witness === 'hooks' || witness === 'driver') return;
  const activeMs = sinceLast(before, batch.now);
  // After a pause the count starts again from here.
  const paused = batch.now - (before.budget.lastAt ?? batch.now) > idleMs;
  if (activeMs === 0 && !paused) return;
  batch.emit('budget.spent', { step, turns: 0, tokens: 0, activeMs });
  exhaust(batch);
}

/** Minutes are active time: a gap of more than five minutes does not count. */
function sinceLast({ budget, updatedAt }: State, now: number): number {
  const gap = Math.max(0, now - (budget.lastAt ?? updatedAt));
  return gap > idleMs ? 0 : gap;
}

export function exhaust(batch: Batch): void {
  for (const scope of [undefined, 'run'] as const) {
    const { definition, state } = batch;
    if (allUsedUp(state).some(({ of }) => of === scope)) continue;
    const over = budgetUse(definition, state).find(({ of, used, limit }) => of === scope && used >= limit);
    if (over) batch.emit('budget.exhausted', { what: over.unit, ...defined({ of: scope }) });
  }
}

const countable = (amount: number | undefined): number =>
  amount !== undefined && Number.isFinite(amount) && amount > 0 ? Math.min(amount, most) : 0;
