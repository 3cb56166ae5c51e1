import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf, printable, truncate, wrap } from './text.ts';

test('what steers a terminal becomes a visible sign', () => {
  expect(printable('a\u001b[31mred\u0007 \u202eevil \u009b')).toBe('a\ufffd[31mred\ufffd \ufffdevil \ufffd');
});

test('layout becomes one space', () => {
  expect(printable('a\r\n\tb')).toBe('a b');
});

test('wide characters take two columns, marks none', () => {
  expect(columnsOf('日本')).toBe(4);
  expect(columnsOf('🚀')).toBe(2);
  expect(columnsOf('e\u0301')).toBe(1);
  expect(columnsOf('│ ✓ …')).toBe(5);
});

test('a text that is cut ends with an ellipsis and keeps whole characters', () => {
  expect(truncate('hello world', 8, columnsOf)).toBe('hello w…');
  expect(truncate('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, columnsOf)).toBe('👩‍👩‍👧‍👦…');
  expect(truncate('hello', 0, columnsOf)).toBe('');
});

test('a cut text is never wider than its room', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, room) => {
      expect(columnsOf(truncate(printable(text), room, columnsOf))).toBeLessThanOrEqual(room);
    }),
  );
});

test('wrapping loses no word', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (text, room) => {
      const words = (value: string): string[] => value.split(/\s+/).filter(Boolean);
      expect(words(wrap(text, room).join(' '))).toEqual(words(text));
    }),
  );
});
