import type { Definition, EventOf } from '../schema/index.ts';
import { nothingSpent } from './budget-use.ts';
import type { Draft } from './draft.ts';
import type { Spent } from './state.ts';

export type BudgetEvent = EventOf<'budget.spent' | 'budget.exhausted' | 'budget.extended'>;

/** The step's figures start again with each step; those of the run are kept where it has a budget. */
export function applyBudget({ budget: whole }: Definition, { root }: Draft, event: BudgetEvent): void {
  switch (event.type) {
    case 'budget.spent':
      if (event.source !== undefined && event.told) root.told = { ...root.told, [event.source]: event.told };
      if (whole) root.total = add(root.total ?? nothingSpent, event);
      if (event.step === root.step) root.budget = add(root.budget, event);
      return;
    case 'budget.exhausted':
      if (event.of === 'run') root.total = { ...(root.total ?? nothingSpent), exhausted: event.what };
      else root.budget = { ...root.budget, exhausted: event.what };
      return;
    case 'budget.extended':
      if (event.of === 'run') root.total = extend(root.total ?? nothingSpent, event);
      else root.budget = extend(root.budget, event);
  }
}

export function escalateBudget({ root }: Draft, feedback: string): void {
  if (root.budget.exhausted === undefined && root.total?.exhausted !== undefined)
    root.total = { ...root.total, escalated: feedback };
  else root.budget = { ...root.budget, escalated: feedback };
}

const add = (spent: Spent, { turns, tokens, activeMs, cost, now }: EventOf<'budget.spent'>): Spent => ({
  ...spent,
  turns: spent.turns + turns,
  tokens: spent.tokens + tokens,
  activeMs: spent.activeMs + activeMs,
  ...(cost === undefined ? {} : { cost: (spent.cost ?? 0) + cost }),
  lastAt: Math.max(spent.lastAt ?? 0, now),
});

function extend(spent: Spent, { amount }: EventOf<'budget.extended'>): Spent {
  const { exhausted: _, escalated: _escalated, ...rest } = spent;
  const extra = { ...rest.extra };
  for (const [what, more] of Object.entries(amount)) {
    // Object.entries widens the keys of Amount to string.
    const unit = what as keyof typeof extra;
    extra[unit] = (extra[unit] ?? 0) + more;
  }
  return { ...rest, extra };
}
