import { expect, test } from 'vitest';
import { trunksOf } from './pivot-lanes.ts';

test('pivots to one step share a trunk, and trunks that share a step are in different lanes', () => {
  const trunks = trunksOf([
    { from: 4, to: 0, causes: ['review'] },
    { from: 2, to: 0, causes: ['budget'] },
    { from: 4, to: 3, causes: ['budget'] },
    { from: 1, to: 1, causes: ['review'] },
  ]);
  expect(trunks.map(({ to, last, lane }) => [to, last, lane])).toEqual([
    [1, 1, 0],
    [3, 4, 0],
    [0, 4, 1],
  ]);
  expect(trunks.at(-1)?.branches).toEqual([
    { from: 4, causes: ['review'], slot: 0 },
    { from: 2, causes: ['budget'], slot: 0 },
  ]);
  expect(trunks[1]?.branches).toEqual([{ from: 4, causes: ['budget'], slot: 1 }]);
});
