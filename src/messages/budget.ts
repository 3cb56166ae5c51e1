import type { BudgetUse } from '../machine/index.ts';

/** What a budget counts, for a sentence. */
export const unitText = (unit: string): string => (unit === 'cost' ? 'dollars' : unit);

/** Follows a colon, or begins a sentence with a capital. */
export const usedUpText = ({ unit, of, step }: { unit: string; of?: 'run'; step: string }): string =>
  `the ${unitText(unit)} of ${of === 'run' ? 'the run' : `'${step}'`} are used up`;

/** What is suggested where more of a budget is needed. */
export const moreOf = { turns: 20, tokens: 200_000, minutes: 30, cost: 5 } as const;

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
export const budgetNotice = ({ unit, of }: Pick<BudgetUse, 'unit' | 'of'>): string =>
  `waits for you: the ${unitText(unit)}${of === 'run' ? ' of the run' : ''} are used up. Type /stepfast:budget +${moreOf[unit]} ${unitWord[unit]} to continue, or /stepfast:budget abandon. To go back to an earlier step: /stepfast:budget pivot WHY`;
