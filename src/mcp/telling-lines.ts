import { lastWithin } from './token-estimate.ts';

const telling = /FAIL|✖|✗|×|\bnot ok\b|Error\b|\berror(:|\[| TS)|[Ee]xpected/;
const before = 1;
const after = 2;

/** What an output says of a failure, within a number of tokens: the lines around what failed, else its end. */
export function tellingLines(output: string, tokens: number): string {
  const end = lastWithin(output, tokens);
  if (end === output.trimEnd()) return end;
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const kept = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (!telling.test(line)) continue;
    for (let near = index - before; near <= index + after; near += 1) kept.add(near);
  }
  if (kept.size === 0) return end;
  return lastWithin(lines.filter((_, index) => kept.has(index)).join('\n'), tokens);
}
