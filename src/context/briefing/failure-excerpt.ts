import { passage } from './bounded-text.ts';
import { costOf, fits, lastWithin, type Measure } from './text-size.ts';

const telling = /FAIL|✖|✗|×|\bnot ok\b|Error\b|\berror(:|\[| TS)|[Ee]xpected/;
const before = 1;
const after = 2;
const smallest: Measure = { tokens: 20, characters: 40 };

/** What an output says of a failure: the lines around what failed, else its end; nothing where there is no room. */
export function tellingLines(output: string, room: Measure): string {
  const text = passage(output);
  if (fits(costOf(text), room)) return text;
  if (!fits(smallest, room)) return '';
  return lastWithin(linesThatTell(text), room);
}

/** The lines around what failed, else the whole text. */
export function linesThatTell(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const kept = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (!telling.test(line)) continue;
    for (let near = index - before; near <= index + after; near += 1) kept.add(near);
  }
  return kept.size === 0 ? text : lines.filter((_, index) => kept.has(index)).join('\n');
}
