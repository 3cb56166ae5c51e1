import { expect, it } from 'vitest';
import { building, sourceOf, standard } from '../../../test/kit/briefing.ts';
import { compileBriefing } from './compile-briefing.ts';

it('[pain 10] a long history takes no room from noted commands and files', () => {
  const source = sourceOf(building());
  const numbered = <Value>(count: number, make: (index: number) => Value): Record<string, Value> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`part-${index}`, make(index)]));
  const variables = numbered(9, (index) => `npm run part -- --shard ${index}/9 --bail`);
  const artefacts = Array.from({ length: 9 }, (_, index) => `src/parts/number-${index}/part.test.ts`);
  const outputs = numbered(60, (index) => ({
    text: `Round ${index}: eleven tests more, partial failures are covered, one case is left open and noted.`,
    at: '',
    now: index,
    receipts: [],
  }));
  const state = { ...source.state, variables, artefacts, outputs };
  const { text } = compileBriefing({ ...source, state }, standard);
  for (const each of [...Object.values(variables), ...artefacts]) expect(text).toContain(each);
  expect(text).toMatch(/- \d+ more: section done/);
});
