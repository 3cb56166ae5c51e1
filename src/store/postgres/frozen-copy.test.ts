import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { frozenCopy } from './frozen-copy.ts';

test('a copy equals a JSON copy and is deeply frozen', () => {
  const value = {
    text: 'a lone \ud800 surrogate and a \u0000',
    list: [1, null, { deep: ['x'] }],
    left: undefined,
    ...JSON.parse('{"__proto__": {"own": true}}'),
  };
  const copy = frozenCopy(value);
  expect(copy).toStrictEqual(JSON.parse(JSON.stringify(value)));
  expect(Object.keys(copy)).toEqual(Object.keys(JSON.parse(JSON.stringify(value))));
  const frozen = (part: unknown): boolean =>
    typeof part !== 'object' || part === null || (Object.isFrozen(part) && Object.values(part).every(frozen));
  expect(frozen(copy)).toBe(true);
  expect(Object.isFrozen(value.list)).toBe(false);
});

test('a frozen value is reused', () => {
  const copy = frozenCopy({ shared: { deep: [1] } });
  expect(frozenCopy({ ...copy, more: 1 }).shared).toBe(copy.shared);
});

test('the source of a sliced string is not retained', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  const kept = Array.from({ length: 100 }, (_, n) =>
    frozenCopy({ opening: `${n} ${'x'.repeat(500_000)}`.slice(0, 300) }),
  );
  expect(heap() - before).toBeLessThan(10e6);
  expect(kept).toHaveLength(100);
});
