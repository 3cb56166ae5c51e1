import { createHash as real } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHash, hash, randomBytes, randomUUID } from './sha256.ts';

test('hashes are those of the real module, for any length around a block', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const wanted = real('sha256').update(bytes).digest('hex');
      expect(hash('sha256', bytes, 'hex')).toBe(wanted);
      expect(createHash('sha256').update(bytes.subarray(0, 7)).update(bytes.subarray(7)).digest('hex')).toBe(
        wanted,
      );
    }),
  );
});

test('long texts go to the real module', () => {
  const text = 'ä'.repeat(100_000);
  expect(hash('sha256', text, 'hex')).toBe(real('sha256').update(text).digest('hex'));
  expect(createHash('sha256').update('abc').digest()).toEqual(real('sha256').update('abc').digest());
});

test('random names differ', () => {
  const names = Array.from({ length: 100 }, () => randomBytes(6).toString('hex'));
  expect(new Set(names).size).toBe(100);
  expect(names[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(randomUUID()).not.toBe(randomUUID());
});
