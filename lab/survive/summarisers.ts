import { forgetsAll, keepsAll, keepsAtRates, type Summarise } from '../../src/testing/index.ts';
import { measuredRates } from '../../src/testing/model/summary.ts';
import { ratesOf, type StoryFact } from './fact.ts';

export const summariserNames = ['forgets', 'measured', 'keeps'] as const;
export type SummariserName = (typeof summariserNames)[number];

/** Each keeps only what stands in the request it gets and is still in force. */
export function createSummariser(
  name: SummariserName,
  facts: () => readonly StoryFact[],
  seed: number,
): Summarise {
  if (name === 'forgets') return forgetsAll();
  return name === 'keeps' ? keepsAll(facts) : keepsAtRates(facts, { rates: ratesOf(measuredRates), seed });
}
