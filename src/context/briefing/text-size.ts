import { estimateTokens, lengthWithin } from '../../machine/index.ts';
import { oneLine } from './bounded-text.ts';

/** The size of a text, or the room for one. */
export interface TextSize {
  tokens: number;
  characters: number;
}

/** Includes the line break after the text, so that the sum over lines is never below the size of the whole. */
export const costOf = (text: string): TextSize => ({
  tokens: estimateTokens(text) + lineBreak,
  characters: text.length + 1,
});

const lineBreak = 2;

export const sum = (...all: readonly TextSize[]): TextSize => ({
  tokens: all.reduce((total, { tokens }) => total + tokens, 0),
  characters: all.reduce((total, { characters }) => total + characters, 0),
});

export const subtract = (one: TextSize, other: TextSize): TextSize => ({
  tokens: Math.max(0, one.tokens - other.tokens),
  characters: Math.max(0, one.characters - other.characters),
});

export const smaller = (one: TextSize, other: TextSize): TextSize => ({
  tokens: Math.min(one.tokens, other.tokens),
  characters: Math.min(one.characters, other.characters),
});

export const fits = (cost: TextSize, room: TextSize): boolean =>
  cost.tokens <= room.tokens && cost.characters <= room.characters;

/** Shortens a text from the end; a shortened text ends with `…`. */
export function truncate(text: string, room: TextSize): string {
  if (text.length < room.characters && fits(costOf(text), room)) return text;
  const free = subtract(room, costOf('…'));
  const length = lengthWithin(text.slice(0, free.characters), free.tokens);
  return `${text
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}

/** Joins a text's lines and shortens the result. */
export function truncateLine(text: string, room: TextSize): string {
  const head = text.slice(0, 4 * room.characters);
  return truncate(oneLine(head.length < text.length ? `${head}…` : head), room);
}

/** Shortens a text from the start, at a line start if that drops less than half. */
export function truncateStart(text: string, room: TextSize): string {
  if (text.length < room.characters && fits(costOf(text), room)) return text;
  const length = longest(Math.min(text.length, room.characters), (size) =>
    fits(costOf(`…${text.slice(text.length - size)}`), room),
  );
  const kept = text.slice(text.length - length).replace(/^[\udc00-\udfff]/, '');
  const line = kept.indexOf('\n');
  return `…${line >= 0 && line < kept.length / 2 ? kept.slice(line + 1) : kept}`;
}

function longest(most: number, ok: (size: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ok(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
