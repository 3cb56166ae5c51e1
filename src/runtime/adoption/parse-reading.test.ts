import { expect, test } from 'vitest';
import { costMeter } from '../../../test/kit/cpu-time.ts';
import { readingIn } from './parse-reading.ts';

const none = (): boolean => false;
const line = (text: string) => ({ text, plain: text, fenced: false });

test.each([
  '@docs/a.md',
  '  - @docs/a.md',
  '* [x] **@docs/a.md**',
  '1. `@docs/a.md`',
  '> | @docs/a.md |',
  '**`@docs/a.md`**',
])('%s begins with a file to read', (text) => {
  expect(readingIn([line(text)], none)).toEqual(['@docs/a.md']);
});

test.each(['see @docs/a.md', '- [x] see @docs/a.md', '@docs and @docs/a.md'])(
  '%s names a file only where there is one',
  (text) => {
    expect(readingIn([line(text)], none)).toEqual([]);
    expect(readingIn([line(text)], (path) => path === 'docs/a.md')).toEqual(['@docs/a.md']);
  },
);

test('a long line is read in the time of its length', () => {
  const spent = costMeter();
  const lines = [
    `${'*'.repeat(20_000)} ${'@a '.repeat(20_000)}`,
    `${'- '.repeat(20_000)}[x] ${'*'.repeat(20_000)}${' @a'.repeat(20_000)}`,
    `${' '.repeat(40_000)}x${' @a'.repeat(20_000)}`,
  ];
  expect(readingIn(lines.map(line), none)).toEqual([]);
  expect(spent()).toBeLessThan(60);
});
