import type { Amount, CommandOf, Verdict } from '../machine/index.ts';

const number = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`;
const unit = 'turns?|tokens?|minutes?|min|dollars?|usd|cost';
const oneAmount = String.raw`\+?\s?(\$?)(${number})\s?(?:(k|m)\b)?\s?(${unit})?`;
const first = new RegExp(String.raw`^${oneAmount}(?![\w.,])(?:\s*(?:,|and|\+(?=\d))\s*|\s+|$)`, 'i');
const times: Record<string, number> = { k: 1_000, m: 1_000_000 };

/**
 * `+20 turns`, `200k tokens and 30 minutes`, `$5`, `pivot WHY`; a number alone is of what is used up. A pivot on the
 * budget of the run needs an amount as well: `pivot +20 turns WHY`.
 */
export function parseBudget(
  words: string,
  used: keyof Amount | undefined,
): Omit<CommandOf<'review'>, 'now'> | undefined {
  const [, said, rest = ''] = /^(pivot|escalate|abandon)\b\s*([\s\S]*)$/i.exec(words) ?? [];
  if (said === undefined) {
    const { amount, after } = amountsIn(words.trim(), used);
    if (after !== '' || Object.keys(amount).length === 0) return undefined;
    return { type: 'review', verdict: 'approve', amount };
  }
  // The pattern has only verdicts.
  const verdict = said.toLowerCase() as Verdict;
  const { amount, after } = /^\+/.test(rest) ? amountsIn(rest, used) : { amount: {}, after: rest };
  return {
    type: 'review',
    verdict,
    ...(Object.keys(amount).length === 0 ? {} : { amount }),
    ...(after === '' ? {} : { feedback: after }),
  };
}

/** The amounts that the words begin with, and what follows them. */
function amountsIn(words: string, used: keyof Amount | undefined): { amount: Amount; after: string } {
  const amount: Partial<Record<keyof Amount, number>> = {};
  let after = words;
  for (;;) {
    const [text, dollar = '', digits = '', factor, word = ''] = first.exec(after) ?? [];
    const what = unitOf(dollar === '' ? word.toLowerCase() : 'dollars', used);
    if (text === undefined || what === undefined) return { amount, after };
    // `30m` is no thirty million minutes.
    if (what === 'minutes' && factor !== undefined && word === '') return { amount: {}, after: words };
    amount[what] = Number(digits.replaceAll(',', '')) * (times[factor?.toLowerCase() ?? ''] ?? 1);
    after = after.slice(text.length);
  }
}

function unitOf(word: string, used: keyof Amount | undefined): keyof Amount | undefined {
  if (word === '') return used;
  if (/^(cost|dollars?|usd)$/.test(word)) return 'cost';
  return (['turns', 'tokens', 'minutes'] as const).find((each) => each.startsWith(word));
}
