import type { Amount, CommandOf, Verdict } from '../machine/index.ts';

const amountPattern = /\+?\$?(\d+(?:[.,]\d+)*)\s*(?:(k|m)\b)?\s*([a-z]*)/gi;
const times: Record<string, number> = { k: 1_000, m: 1_000_000 };

/** `+20 turns`, `200k tokens and 30 minutes`, `$5`, `pivot WHY`; a number alone is of what is used up. */
export function parseBudget(
  words: string,
  used: keyof Amount | undefined,
): Omit<CommandOf<'review'>, 'now'> | undefined {
  const [, said, why = ''] = /^(pivot|escalate|abandon)\b\s*([\s\S]*)$/i.exec(words) ?? [];
  if (said !== undefined) {
    // The pattern has only verdicts.
    const verdict = said.toLowerCase() as Verdict;
    return { type: 'review', verdict, ...(why === '' ? {} : { feedback: why }) };
  }
  const amount: Partial<Record<keyof Amount, number>> = {};
  for (const [text, digits = '', factor, word = ''] of words.matchAll(amountPattern)) {
    const unit = unitOf(text.includes('$') ? 'dollars' : word.toLowerCase(), used);
    const size = times[factor?.toLowerCase() ?? ''] ?? 1;
    if (unit === undefined) return undefined;
    amount[unit] = Number(digits.replaceAll(',', '')) * size;
  }
  return Object.keys(amount).length > 0 ? { type: 'review', verdict: 'approve', amount } : undefined;
}

function unitOf(word: string, used: keyof Amount | undefined): keyof Amount | undefined {
  if (word === '') return used;
  if (word === 'cost' || /^(dollars?|usd)$/.test(word)) return 'cost';
  return (['turns', 'tokens', 'minutes'] as const).find((unit) => unit === word || unit === `${word}s`);
}
