import { createScanner, type Node } from 'jsonc-parser';
import type { Json } from './document.ts';

/** Replaces [start, end) by a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Edits do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const fromTheBack = [...edits].sort((a, b) => b.start - a.start);
  return fromTheBack.reduce(
    (now, { start, end, text: put }) => now.slice(0, start) + put + now.slice(end),
    text,
  );
}

/** A whole document, for a file with nothing in it. */
export const freshDocument = (key: string, value: Json): string =>
  `${JSON.stringify({ [key]: value }, null, 2)}\n`;

/**
 * Adds a property (with `key`) or an item at a container's end, by insertion only: not a byte that is there changes.
 * Written as the file is written: its line ends, its indentation, and on one line what is on one line.
 */
export function insertInto(text: string, container: Node, value: Json, key?: string): Edit[] {
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const inner = lastInk(text, container.offset + 1, close);
  const several = isOnSeveralLines(text, container);
  const { eol, unit } = styleOf(text);
  const base = indentAt(text, container.offset);
  const indent = childIndent(text, container) ?? base + unit;
  const label = key === undefined ? '' : `${JSON.stringify(key)}: `;
  const json = several
    ? JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)
    : JSON.stringify(value);
  const lead = several ? `${eol}${indent}` : last ? ' ' : '';
  const needsEnd = several && !last && !/[\r\n]/.test(text.slice(inner, close));
  const lastEnd = last ? last.offset + last.length : inner;
  const ends = last !== undefined && commaIn(text, lastEnd, close) !== undefined;
  const comma = last && !ends ? ',' : '';
  // Where theirs ends with a comma ours does as well, so that each goes with its own.
  const put = `${lead}${label}${json}${ends ? ',' : ''}${needsEnd ? `${eol}${base}` : ''}`;
  if (lastEnd === inner || comma === '') return [{ start: inner, end: inner, text: comma + put }];
  // The comma stands at what it ends, and not behind somebody's comment.
  return [
    { start: lastEnd, end: lastEnd, text: comma },
    { start: inner, end: inner, text: put },
  ];
}

export const replaceNode = (text: string, node: Node, value: Json): Edit => {
  const { eol, unit } = styleOf(text);
  const several = /[\r\n]/.test(text.slice(node.offset, node.offset + node.length));
  const json = several
    ? JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indentAt(text, node.offset)}`)
    : JSON.stringify(value);
  return { start: node.offset, end: node.offset + node.length, text: json };
};

/** Takes out a property or an item with its comma and the white space before it; comments around it stay. */
export function removeFrom(text: string, container: Node, child: Node): Edit[] {
  const children = container.children ?? [];
  const index = children.indexOf(child);
  const close = container.offset + container.length - 1;
  const end = child.offset + child.length;
  const previous = children[index - 1];
  const after = commaIn(text, end, children[index + 1]?.offset ?? close);
  const before = previous && commaIn(text, previous.offset + previous.length, child.offset);
  const comma = after ?? before;
  if (children.length === 1 && isBlank(text, container.offset + 1, child.offset) && isBlank(text, end, close))
    return [{ start: container.offset + 1, end: close, text: '' }];
  const start = keepsLineEnd(text, child.offset, end, after) ? child.offset : lastInk(text, 0, child.offset);
  const taken = { start, end, text: '' };
  if (comma === undefined || (comma >= start && comma < end)) return [taken];
  return [taken, { start: comma, end: comma + 1, text: '' }];
}

/** A comment up to the end of the line would swallow what follows. */
function keepsLineEnd(text: string, start: number, end: number, comma: number | undefined): boolean {
  const rest = text.slice(comma === undefined ? end : comma + 1);
  if (/^[ \t]*(\r|\n|$)/.test(rest)) return false;
  const ink = lastInk(text, 0, start);
  const line = text.slice(lineStart(text, ink), ink);
  return line.includes('//') && /[\r\n]/.test(text.slice(ink, start));
}

const isBlank = (text: string, start: number, end: number): boolean => text.slice(start, end).trim() === '';

/** Where the white space before `end` begins, `start` at the earliest. */
function lastInk(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text[at - 1] ?? '')) at--;
  return at;
}

/** The offset of the first comma that is not in a comment. */
function commaIn(text: string, start: number, end: number): number | undefined {
  const scanner = createScanner(text.slice(start, end), true);
  // A const enum of the package: 5 is a comma, 17 the end.
  for (let token: number = scanner.scan(); token !== 17; token = scanner.scan())
    if (token === 5) return start + scanner.getTokenOffset();
  return undefined;
}

function isOnSeveralLines(text: string, container: Node): boolean {
  const close = container.offset + container.length - 1;
  const children = container.children ?? [];
  const first = children[0];
  const last = children.at(-1);
  const hasBreak = (start: number, end: number): boolean => /[\r\n]/.test(text.slice(start, end));
  if (!first || !last) return hasBreak(0, text.trimEnd().length);
  return hasBreak(container.offset, first.offset) || hasBreak(last.offset + last.length, close);
}

function styleOf(text: string): { eol: string; unit: string } {
  const eol = /\r\n|\r|\n/.exec(text)?.[0] ?? '\n';
  const unit = /[\r\n]([ \t]+)[^\s]/.exec(text)?.[1] ?? '  ';
  return { eol, unit };
}

/** Of the first child that begins a line. Looks only between the children, since a file may be one long line. */
function childIndent(text: string, container: Node): string | undefined {
  let end = container.offset + 1;
  for (const { offset, length } of container.children ?? []) {
    const indent = /[\r\n]([^\S\r\n]*)$/.exec(text.slice(end, offset))?.[1];
    if (indent !== undefined) return indent;
    end = offset + length;
  }
  return undefined;
}

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? '';

const lineStart = (text: string, offset: number): number =>
  offset === 0 ? 0 : Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
