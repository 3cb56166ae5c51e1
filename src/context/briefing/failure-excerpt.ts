import { redactQuickly } from '../secrets/redact.ts';
import { escapeHeadings } from './bounded-text.ts';
import { costOf, fits, type TextSize, truncateStart } from './text-size.ts';

const failurePattern = /FAIL|✖|✗|×|\bnot ok\b|Error\b|\berror(:|\[| TS)|[Ee]xpected/;
const before = 1;
const after = 2;
const smallest: TextSize = { tokens: 20, characters: 40 };

/** The lines around failures, or the end of the output if none match; empty if there is no room. */
export function failureExcerpt(output: string, room: TextSize): string {
  const text = escapeHeadings(output);
  if (fits(costOf(text), room)) return text;
  if (!fits(smallest, room)) return '';
  return truncateStart(failureLines(text), room);
}

/** The lines around failures, or the whole text if none match. */
export function failureLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const kept = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (!failurePattern.test(line)) continue;
    for (let near = index - before; near <= index + after; near += 1) kept.add(near);
  }
  return kept.size === 0 ? text : lines.filter((_, index) => kept.has(index)).join('\n');
}

const mostLines = 25;
const mostCharacters = 3000;

/** A failed gate's output as agents at the end of a turn and people at a terminal see it: at most 25 lines. */
export function gateExcerpt(output: string): string[] {
  const lines = failureLines(redactQuickly(output).trimEnd()).split('\n').slice(-mostLines);
  while (lines.join('\n').length > mostCharacters) lines.shift();
  return lines.filter((line) => line.trim() !== '');
}
