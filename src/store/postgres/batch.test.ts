import { expect, test } from 'vitest';
import type { Entry } from '../store.ts';
import { type Batch, beforeFirst, decodeBatches, encodeBatch, keyDigest } from './batch.ts';

const run = 'a-run';
const entry: Entry = { now: 1, session: 'S', events: [], key: 'k', reply: { said: '\u0000 \ud800' } };

function chain(length: number): Batch[] {
  const batches: Batch[] = [];
  for (let count = 0; count < length; count += 1)
    batches.push(encodeBatch(batches.at(-1) ?? beforeFirst(run), { ...entry, now: count }, `n${count}`));
  return batches;
}

test('decoded batches equal the encoded ones', () => {
  const batches = chain(3);
  const decoded = decodeBatches(run, batches, { last: batches.at(-1) });
  expect(decoded).toEqual(batches.map(({ seq, hash }, index) => ({ ...entry, now: index, seq, hash })));
});

test('[S12] a part of a history is verified without the rest', () => {
  const [first, second, third] = chain(3);
  if (!first || !second || !third) throw new Error('there are three');
  const decoded = decodeBatches(run, [second, third], { from: first, last: third });
  expect(decoded.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(decodeBatches(run, [second], { from: first })).toEqual(decoded.slice(0, 1));
  const damaged = expect.objectContaining({ code: 'store_corrupt' });
  expect(() => decodeBatches(run, [third], { from: first, last: third })).toThrow(damaged);
  expect(() => decodeBatches(run, [second], { from: first, last: third })).toThrow(damaged);
});

test('no column contains a character that PostgreSQL refuses', () => {
  const [batch] = chain(1);
  expect(`${batch?.body}${batch?.answered}${keyDigest('\u0000')}`).toMatch(/^[\x20-\x7e]*$/);
});

test.each<[string, (batches: Batch[]) => unknown]>([
  ['changed', ([, second]) => Object.assign(second ?? {}, { body: second?.body.replace('"S"', '"T"') })],
  ['answered otherwise', ([, second]) => Object.assign(second ?? {}, { answered: null })],
  ['missing', (batches) => batches.splice(1, 1)],
  ['the first', (batches) => batches.shift()],
  ['the last', (batches) => batches.pop()],
  ['in another place', (batches) => batches.reverse()],
])('a history is damaged where a batch is %s', (_, damage) => {
  const batches = chain(3);
  const last = batches.at(-1);
  damage(batches);
  expect(() => decodeBatches(run, batches, { last })).toThrow(
    expect.objectContaining({ code: 'store_corrupt' }),
  );
});

test('a batch of another run is refused', () => {
  const batches = chain(1);
  expect(() => decodeBatches('another-run', batches, { last: batches[0] })).toThrow(
    expect.objectContaining({ code: 'store_corrupt' }),
  );
});

test('the same call twice creates two different batches', () => {
  expect(encodeBatch(beforeFirst(run), entry, 'a').hash).not.toBe(
    encodeBatch(beforeFirst(run), entry, 'b').hash,
  );
});

test('keys that differ anywhere have different digests', () => {
  const keys = ['', 'a', 'A', 'a ', '\ud800', '\ud801', '\ufffd', 'x'.repeat(10_000), `${'x'.repeat(9999)}y`];
  const digests = keys.map((key) => keyDigest(key));
  expect(new Set(digests).size).toBe(digests.length);
});
