import { expect, test } from 'vitest';
import { createTextSearch } from './text-search.ts';

const contains = (text: string, ...chunks: (string | Buffer)[]): boolean => {
  const search = createTextSearch(text);
  for (const chunk of chunks) search.write(Buffer.from(chunk));
  return search.finish();
};

test('[L/contains] a text is found wherever the chunks end, and only if it is all there', () => {
  const output = Buffer.from('one\nNameError: “ü” is 😀\nthree');
  for (const text of ['Error: “ü”', '😀\nthr', 'e', 'one\nN', output.toString()])
    for (let at = 0; at <= output.length; at += 1)
      expect([text, at, contains(text, output.subarray(0, at), output.subarray(at))]).toEqual([
        text,
        at,
        true,
      ]);
  for (const text of ['nameerror', 'one three', 'threee', '1'])
    expect([text, contains(text, ...[...output].map((byte) => Buffer.of(byte)))]).toEqual([text, false]);
});

test('[L/contains] colors and the line ends of Windows are not part of the text', () => {
  expect(contains('AssertionError: 2 != 3', '\u001b[31mAssert', 'ionError\u001b', '[0m: 2 != 3\n')).toBe(
    true,
  );
  expect(contains('one\ntwo', 'one\r', '\ntwo\r\n')).toBe(true);
});

test('[L/contains] a long line is searched in parts, also across them', () => {
  const part = 'x'.repeat(60_000);
  expect(contains('needle', part, `${part}nee`, `dle${part}`, part)).toBe(true);
  expect(contains('needle', part, part, part)).toBe(false);
});
