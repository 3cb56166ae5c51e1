import fc from 'fast-check';
import { expect, test } from 'vitest';
import { begun, journal, run } from '../../../test/kit/transfer.ts';
import { encodeLine, genesis } from './journal.ts';
import { compareHistories, type HistoryRelation, parseHistory } from './run-history.ts';

test.each<[string, string, string, HistoryRelation, number]>([
  ['the same', 'abc', 'abc', 'equal', 3],
  ['nothing and nothing', '', '', 'equal', 0],
  ['nothing here', '', 'ab', 'behind', 0],
  ['nothing there', 'ab', '', 'ahead', 0],
  ['theirs goes on', 'ab', 'abcd', 'behind', 2],
  ['mine goes on', 'abcd', 'ab', 'ahead', 2],
  ['both go on', 'abx', 'abcd', 'diverged', 2],
  ['the last one differs', 'abx', 'aby', 'diverged', 2],
  ['another first batch', 'xbc', 'abc', 'foreign', 0],
])('[P6/10] histories relate: %s', (_, mine, theirs, relation, common) => {
  const lines = (text: string): { hash: string }[] => [...text].map((hash) => ({ hash }));
  expect(compareHistories(lines(mine), lines(theirs))).toEqual({ relation, common });
});

test('[P6/10] two histories are compared by the batches after their common part', () => {
  const hashes = fc.array(fc.integer(), { maxLength: 6 });
  fc.assert(
    fc.property(hashes, hashes, hashes, (both, mine, theirs) => {
      const lines = (side: string, own: number[]): { hash: string }[] => [
        ...both.map((each, index) => ({ hash: `${index} ${each}` })),
        ...own.map((each) => ({ hash: `${side} ${each}` })),
      ];
      const [one, other] = [lines('mine', mine), lines('theirs', theirs)];
      const { relation, common } = compareHistories(one, other);
      expect(common).toBe(both.length);
      const apart = both.length === 0 ? 'foreign' : 'diverged';
      const expected =
        mine.length > 0 && theirs.length > 0
          ? apart
          : mine.length > 0
            ? 'ahead'
            : theirs.length > 0
              ? 'behind'
              : 'equal';
      expect(relation).toBe(expected);
      const back = { equal: 'equal', ahead: 'behind', behind: 'ahead', [apart]: apart }[relation];
      expect(compareHistories(other, one)).toEqual({ relation: back, common });
    }),
  );
});

const sealed = (content: object): string =>
  Buffer.from(encodeLine(content as never).bytes)
    .toString()
    .trim();

test.each<[string, (lines: string[]) => string[], problem: string, line?: number]>([
  ['is empty', () => [], 'empty'],
  ['lacks its first line', (lines) => lines.slice(1), 'order', 1],
  ['lacks a line', ([first = '', , third = '']) => [first, third], 'order', 2],
  ['has a line twice', ([first = '', ...rest]) => [first, first, ...rest], 'order', 2],
  ['has two lines swapped', ([first = '', second = '', third = '']) => [first, third, second], 'order', 2],
  ['was edited', (lines) => lines.map((line) => line.replace('"two"', '"TWO"')), 'incomplete', 3],
  [
    'ends in the middle of a line',
    (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ''],
    'incomplete',
    3,
  ],
  ['is from a newer Stepfast', ([first = '', ...rest]) => [first, ...rest, newerThan(first)], 'newer', 4],
  ['has a batch without events', (lines) => [...lines, after(lines, { events: undefined })], 'shape', 4],
  ['has invalid events', (lines) => [...lines, after(lines, { events: [1] })], 'shape', 4],
  [
    'has an unknown kind of actor',
    (lines) => [...lines, after(lines, { actor: { kind: 'root' } })],
    'shape',
    4,
  ],
  ['has a time that is not a number', (lines) => [...lines, after(lines, { now: 'now' })], 'shape', 4],
  ['has a time out of range', (lines) => [...lines, after(lines, { now: 1e300 })], 'shape', 4],
  [
    'has a second workflow',
    (lines) => [...lines, after(lines, { pinned: { hash: '', definition: {} } })],
    'shape',
    4,
  ],
  ['starts without a workflow', () => [sealed({ ...begins, pinned: undefined })], 'shape', 1],
  ['is of another run', (lines) => lines, 'order', 1],
])('a history that %s is refused', async (name, edit, problem, line) => {
  const a = await begun('one', 'two');
  const text = edit(journal(a))
    .map((each) => `${each}\n`)
    .join('');
  const id = name === 'is of another run' ? 'sample-1-efgh' : run;
  expect(() => parseHistory(id, Buffer.from(text))).toThrow(
    expect.objectContaining({ code: 'bad_history', data: { problem, line } }),
  );
});

const begins = { seq: 1, prev: genesis(run), machine: 'm', nonce: 'n', now: 1, events: [] };

/** A line with a valid checksum and arbitrary content. */
function after(lines: readonly string[], more: object): string {
  const prev = JSON.parse(lines.at(-1) ?? '').sum;
  return sealed({ ...begins, seq: lines.length + 1, prev, ...more });
}

const newerThan = (line: string): string =>
  Buffer.from(encodeLine(JSON.parse(line), 99).bytes)
    .toString()
    .trim();
