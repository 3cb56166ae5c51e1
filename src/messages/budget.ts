import type { Amount, BudgetUse, Wait } from '../machine/index.ts';
import { capitalized } from './text.ts';

/** What a budget counts, for a sentence. */
export const unitText = (unit: string): string => (unit === 'cost' ? 'dollars' : unit);

interface UsedUp {
  unit: string;
  of?: 'run';
  step: string;
}

/** Follows a colon. */
export const usedUpText = ({ unit, of, step }: UsedUp): string =>
  `the ${unitText(unit)} of ${of === 'run' ? 'the run' : `'${step}'`} are used up`;

export const usedUpSentence = (used: UsedUp): string => `${capitalized(usedUpText(used))}.`;

/** What is suggested where more of a budget is needed. */
export const moreOf = { turns: 20, tokens: 200_000, minutes: 30, cost: 5 } as const;

/** Flags that grant more of all that is used up: `--tokens 200000 --turns 20`. */
export const moreFlags = ({ unit, more = [] }: { unit: keyof Amount; more?: (keyof Amount)[] }): string =>
  [unit, ...more].map((each) => `--${each} ${moreOf[each]}`).join(' ');

/** How a person types what a budget counts. */
export const unitWord = { turns: 'turns', tokens: 'tokens', minutes: 'minutes', cost: 'dollars' } as const;

/** `3 of 5 turns`; `$1.20 of $5`. */
export function budgetText({ of, unit, used, limit }: BudgetUse): string {
  const dollars = unit === 'cost';
  const number = (value: number): string =>
    dollars ? `$${Number(value.toFixed(2))}` : Math.floor(value).toLocaleString('en-US');
  const what = dollars ? '' : ` ${unit}`;
  return `${number(used)} of ${number(limit)}${what}${of === 'run' ? ' of the run' : ''}`;
}

/** To the person in an agent's session, after the position. */
export function budgetNotice(action: Extract<Wait, { for: 'budget' }>): string {
  const { unit, more: others = [], of, pivotTo } = action;
  const units = [unit, ...others];
  const more = units.map((each) => `+${moreOf[each]} ${unitWord[each]}`).join(' ');
  // A pivot gives the step a new budget, but not the run.
  const pivot =
    pivotTo === undefined
      ? ''
      : ` To go back to '${pivotTo}': /stepfast:budget pivot ${of === 'run' ? `${more} ` : ''}WHY`;
  const what = units.map(unitText).join(' and ');
  return `waits for you: the ${what}${of === 'run' ? ' of the run' : ''} are used up. Type /stepfast:budget ${more} to continue, or /stepfast:budget abandon.${pivot}`;
}
