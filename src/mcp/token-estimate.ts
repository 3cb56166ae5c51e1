/**
 * How many o200k tokens a text has at most, in practice: without the tokenizer, which is larger than all of this
 * program. Too high for prose (about 1.4 times), not too low for what logs hold.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(parts)) tokens += costOf(part);
  return Math.ceil(tokens);
}

const parts = /[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|[{}[\]":,]+|\n\s*| +|[ -~]|[^ -~]/gu;

function costOf(part: string): number {
  const code = part.charCodeAt(0);
  if (code > 126) return code < 0x800 ? 0.7 : code < 0xd800 ? 1.6 : 3;
  if (/^[A-Za-z]/.test(part)) return costOfLetters(part);
  if (part === ' ') return 0;
  if (/^[{}[\]":,]/.test(part)) return Math.ceil(part.length / 3);
  return 1;
}

const longestWord = 12;

/** Words are cheap; letters at random are not, and give themselves away by their length or by having no vowel. */
function costOfLetters(part: string): number {
  const random = !/[aeiou]/i.test(part);
  const word = Math.min(part.length, random ? 0 : longestWord);
  return Math.max(1, word / 4 + (part.length - word) * 0.7);
}

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
