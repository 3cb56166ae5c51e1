import { estimateTokens } from '../machine/index.ts';

/** The end of a text within a number of tokens of JSON: whole lines where one fits, else the end of the last. */
export function lastWithin(text: string, tokens: number): string {
  const trimmed = text.trimEnd();
  const length = longestFit(trimmed.length, tokens, (size) => trimmed.slice(trimmed.length - size));
  if (length === trimmed.length) return trimmed;
  const kept = trimmed.slice(trimmed.length - length);
  const line = kept.indexOf('\n');
  const whole = line >= 0 && line < kept.length / 2 ? kept.slice(line + 1) : kept;
  // Not the second half of a pair.
  return whole.replace(/^[\udc00-\udfff]/, '');
}

/** The beginning of a text within a number of tokens of JSON, and `…` where that is not all. */
export function firstWithin(text: string, tokens: number): string {
  const length = longestFit(text.length, tokens, (size) => text.slice(0, size));
  return length === text.length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

const mostInstructions = 15_000;

/** Instructions as hosts take them whole: what is longer they cut, and say nothing. */
export const bounded = (text: string): string =>
  text.length < mostInstructions ? text : firstWithin(text, mostInstructions);

function longestFit(length: number, tokens: number, piece: (size: number) => string): number {
  const fits = (size: number): boolean => estimateTokens(JSON.stringify(piece(size)).slice(1, -1)) <= tokens;
  // A token has hardly ever more than twelve characters.
  let high = Math.min(length, tokens * 12);
  if (high === length && fits(length)) return length;
  let low = 0;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
