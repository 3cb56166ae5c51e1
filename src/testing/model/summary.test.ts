import { expect, it } from 'vitest';
import { contextOf, type ModelRequest, readRequest } from './request.ts';
import { type Fact, forgetsAll, keepsAll, keepsAtRates, type Summarise } from './summary.ts';

const facts: Fact[] = Array.from({ length: 2_000 }, (_, n) => ({
  kind: n % 2 === 0 ? 'decision' : 'command',
  text: `fact ${n}.`,
}));

function holding(text: string): ModelRequest {
  return readRequest(1, { model: 'm', messages: [{ role: 'user', content: text }] }, {});
}

const all = holding(facts.map(({ text }) => text).join('\n'));

function kept(summarise: Summarise, request = all): Fact[] {
  const [block] = summarise(request).content;
  const lines = new Set(block?.text?.split('\n').map((line) => line.slice(2)));
  return facts.filter(({ text }) => lines.has(text));
}

it('a summariser that forgets keeps nothing, one that keeps all keeps all', () => {
  expect(kept(forgetsAll())).toEqual([]);
  expect(kept(keepsAll(facts))).toEqual(facts);
});

it('a summary keeps only facts that were in the request', () => {
  const request = holding('We know fact 7. and nothing else');
  expect(contextOf(request)).toContain('fact 7.');
  expect(
    kept(
      keepsAll(() => facts),
      request,
    ),
  ).toEqual([facts[7]]);
});

it('facts are kept at the rate of their kind, the same ones for the same seed', () => {
  const lossy = (seed: number) => keepsAtRates(facts, { rates: { decision: 0.77 }, seed });
  const decisions = kept(lossy(1));
  expect(decisions.every(({ kind }) => kind === 'decision')).toBe(true);
  expect(decisions.length / 1_000).toBeCloseTo(0.77, 1);
  expect(kept(lossy(1))).toEqual(decisions);
  expect(kept(lossy(2))).not.toEqual(decisions);
  const one = lossy(1);
  expect(kept(one)).not.toEqual(kept(one));
});
