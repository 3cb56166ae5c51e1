import { expect, test } from 'vitest';
import { linesOf, piecesOf, textOf } from './ansi.ts';

const esc = '\u001b[';

test('a color goes on in the next line until it is reset', () => {
  const [, second, third] = linesOf(`${esc}31mred\nstill red${esc}39m\nplain`);
  expect(second && piecesOf(second)).toMatchObject([{ text: 'still red', style: { color: 1 } }]);
  expect(third && piecesOf(third)).toMatchObject([{ text: 'plain', style: { color: undefined } }]);
});

test('of a progress bar that was overwritten, the last state is shown', () => {
  const [line] = linesOf('10 %\r50 %\r100 %');
  expect(line && textOf(line)).toBe('100 %');
});

test('what is no color is removed', () => {
  const [line] = linesOf(`a${esc}2Kb\u001b]8;;http://x\u0007c\u0007\u0000d`);
  expect(line && textOf(line)).toBe('abcd');
});
