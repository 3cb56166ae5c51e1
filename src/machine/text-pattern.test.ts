import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { matchesPattern, patternProblem } from './text-pattern.ts';

test.each([
  ['[a-z]+(-[a-z]+)*', ['a', 'dark-mode', 'a-b-c'], ['', '-a', 'a-', 'A', 'a b']],
  ['^v?\\d+\\.\\d+\\.\\d+(?:-(?:rc|beta)\\.\\d{1,2})?$', ['1.2.3', 'v1.2.3-rc.12'], ['1.2', '1.2.3-rc.123']],
  ['patch|minor', ['patch', 'minor'], ['patchminor', 'xpatch', 'minors']],
  ['.{2,3}', ['ab', 'a😀c'], ['a', 'abcd', 'a\nb']],
  ['a{2}b{0}c{1,}?', ['aac', 'aaccc'], ['ac', 'aabc', 'aa']],
  [
    '\\p{Lu}\\u0061\\u{1f600}\\uD83D\\uDE00\\x41\\.[\\]\\-x]',
    ['Äa😀😀A.]', 'Aa😀😀A.-'],
    ['äa😀😀A.]', 'Aa😀A.]'],
  ],
  ['(?<year>\\d{4})', ['2026'], ['26']],
  ['(a*)*|(b?)+', ['', 'aaa', 'bb'], ['ab', 'c']],
  ['x^|^$', [''], ['x']],
])('[L/pattern] %s matches whole values', (pattern, good, bad) => {
  expect(patternProblem(pattern)).toBeUndefined();
  expect(good.filter((value) => !matchesPattern(pattern, value))).toEqual([]);
  expect(bad.filter((value) => matchesPattern(pattern, value))).toEqual([]);
});

test.each([
  ['syntax', ['(', '[b-a]', 'a{2,1}', '\\q', '*', '(?<n>a)(?<n>b)', ']']],
  ['unsafe', ['(?=a)a', '(?!a)b', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '\\ba', 'a\\B']],
  ['unsafe', ['((a{99}){99}){99}', 'a{9999}', 'a{99999999999999999999}', '(a{0,100}b{0,100}){0,100}']],
  ['too_long', ['a'.repeat(201)]],
])('[L/pattern] %s: refused, and matches nothing (%#)', (problem, patterns) => {
  for (const pattern of patterns) {
    expect([pattern, patternProblem(pattern)]).toEqual([pattern, problem]);
    for (const value of ['', 'a', 'aa', 'ab', 'b']) expect(matchesPattern(pattern, value)).toBe(false);
  }
});

test('[L/pattern] a value of more than 1,000 characters does not match', () => {
  expect([1000, 1001].map((length) => matchesPattern('a*', 'a'.repeat(length)))).toEqual([true, false]);
});

test('[L/pattern] no pattern and no value take long', () => {
  const cost = costMeter();
  const values = ['a'.repeat(1000), `${'a'.repeat(999)}!`, 'ab'.repeat(500)];
  const patterns = [
    ...['(a+)+', '(a|a)*b', '(a|aa)+$', '(.*)*x', '((a*)*)*b', '(a?){60}a{60}', '([a-z]+)*!{2}'],
    ...['.*'.repeat(100), 'a?'.repeat(100), '(a|b|ab)*'.repeat(20), '.{0,1000}', '(((((a+)+)+)+)+)+b'],
  ];
  for (const pattern of patterns) {
    expect([pattern, patternProblem(pattern)]).toEqual([pattern, undefined]);
    for (const value of values) matchesPattern(pattern, value);
  }
  // One of them alone would take a backtracking engine longer than the universe is old.
  expect(cost()).toBeLessThan(1500);
});

const piece: fc.Arbitrary<string> = fc.letrec<{ any: string; one: string; whole: string }>((tie) => ({
  one: fc.oneof(
    fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\.', '^', '$', ''),
    fc.tuple(fc.constantFrom('(', '(?:'), tie('whole')).map(([open, inner]) => `${open}${inner})`),
  ),
  any: fc
    .tuple(tie('one'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '+?'))
    .map(([one, count]) => (/^[\^$]?$/.test(one) ? one : one + count)),
  whole: fc
    .array(fc.array(tie('any'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((parts) => parts.map((each) => each.join('')).join('|')),
})).whole;

test('[L/pattern] matches what a regular expression of JavaScript matches', () => {
  const value = fc.array(fc.constantFrom('a', 'b', '.', '\n'), { maxLength: 6 }).map((all) => all.join(''));
  fc.assert(
    fc.property(piece, value, (pattern, text) => {
      fc.pre(pattern.length <= 60);
      expect(patternProblem(pattern)).toBeUndefined();
      expect(matchesPattern(pattern, text)).toBe(new RegExp(`^(?:${pattern})$`, 'u').test(text));
    }),
    { numRuns: 3000 },
  );
});
