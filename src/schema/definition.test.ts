import { expect, test } from 'vitest';
import { leastBriefing } from '../machine/index.ts';
import { workflowSchema } from './definition.ts';

test('the smallest briefing budget is what the machine needs for a briefing', () => {
  const accepts = (budget: number): boolean => workflowSchema.safeParse({ briefing: { budget } }).success;
  expect([accepts(leastBriefing.tokens), accepts(leastBriefing.tokens - 1)]).toEqual([true, false]);
});
