import type { Amount, Budget } from '../schema/index.ts';
import type { Spent, State } from './state.ts';

const budgetUnits = ['turns', 'tokens', 'minutes', 'cost'] as const;

/** The step's budget, or that of the whole run. */
interface Scope {
  of?: 'run';
}

/** A budget that is used up. */
export interface UsedUp extends Scope {
  unit: keyof Amount;
  /** What was said when the budget review was handed on. */
  escalated?: string;
}

export const usedUp = (state: State): UsedUp | undefined => allUsedUp(state)[0];

export const allUsedUp = ({ budget, total }: State): UsedUp[] => [
  ...usedUpIn(budget, {}),
  ...usedUpIn(total, { of: 'run' }),
];

const usedUpIn = ({ exhausted, escalated }: Partial<Spent> = {}, scope: Scope): UsedUp[] =>
  exhausted === undefined
    ? []
    : [{ unit: exhausted, ...scope, ...(escalated === undefined ? {} : { escalated }) }];

/** Where a pivot of the budget review goes, if the workflow says it. */
export function budgetPivotTarget(
  { budget: whole, steps }: BudgetedWorkflow,
  state: State,
): string | undefined {
  const step = steps.find(({ id }) => id === state.step);
  const ofRun = state.total?.exhausted === undefined ? undefined : whole?.on_pivot;
  return step?.budget?.on_pivot ?? ofRun ?? step?.review?.on_pivot;
}

/** What a budget allows and what is used of it, for each unit that has a limit. */
export interface BudgetUse extends Scope {
  unit: keyof Amount;
  used: number;
  limit: number;
}

/** Less than a quarter is left. */
export const isLow = ({ used, limit }: BudgetUse): boolean => limit - used < limit / 4;

export function budgetUse({ budget: whole, steps }: BudgetedWorkflow, state: State): BudgetUse[] {
  const step = steps.find(({ id }) => id === state.step)?.budget;
  return [...usesOf(step, state.budget, {}), ...usesOf(whole, state.total, { of: 'run' })];
}

/** Of the step and of the run. */
export const unitsUsedUp = (workflow: BudgetedWorkflow, state: State): (keyof Amount)[] => {
  const over = budgetUse(workflow, state).filter(({ used, limit }) => used >= limit);
  return [...new Set([...allUsedUp(state), ...over].map(({ unit }) => unit))];
};

interface BudgetedWorkflow {
  budget?: Budget;
  steps: readonly { id: string; budget?: Budget; review?: { on_pivot?: string } }[];
}

const usesOf = (budget: Budget | undefined, spent: Spent = nothingSpent, scope: Scope): BudgetUse[] =>
  budgetUnits.flatMap((unit) => {
    const allowed = budget?.[unit];
    if (allowed === undefined) return [];
    return { ...scope, unit, used: used(spent, unit), limit: allowed + (spent.extra[unit] ?? 0) };
  });

const used = (spent: Spent, unit: keyof Amount): number =>
  unit === 'minutes' ? spent.activeMs / 60_000 : (spent[unit] ?? 0);

export const nothingSpent: Spent = { turns: 0, tokens: 0, activeMs: 0, extra: {} };

/** Whether anything in the workflow has a budget. */
export const hasBudget = ({ budget, steps }: BudgetedWorkflow): boolean =>
  budget !== undefined || steps.some((step) => step.budget !== undefined);
