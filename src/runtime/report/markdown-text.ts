import { printable, truncate } from '../../messages/index.ts';

const zeroWidthSpace = '\u200b';

/**
 * A text from an agent as one line of Markdown that shows it and nothing else: no table cell, HTML, link or emphasis
 * begins in it, it notifies nobody and closes no issue.
 */
export function plainText(text: string, max: number): string {
  const inert = oneLine(text, max)
    .replaceAll('@', `@${zeroWidthSpace}`)
    .replaceAll(/#(?=\d)|\bGH-(?=\d)|\bwww(?=\.)|:(?=\/\/)/gi, (start) => `${start}${zeroWidthSpace}`)
    .replace(/^(?=\d+[.)])/, zeroWidthSpace);
  return encoded(inert).replace(/^[-+=#:]/, entity);
}

/** The same as code, also in a table. A code span cannot hold every character there. */
export function codeText(text: string, max: number): string {
  const line = oneLine(text, max);
  return /^[\w ./:@=,+-]+$/.test(line) ? `\`${line}\`` : `<code>${encoded(line)}</code>`;
}

const oneLine = (text: string, max: number): string =>
  truncate(printable(text).replaceAll(/\s+/g, ' ').trim(), max, (part) => part.length);

/** Markdown takes no structure from a character reference. Underscores within a word stay readable. */
const encoded = (text: string): string =>
  text.replaceAll(/[&<>\\`*[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, entity);

const entity = (sign: string): string => named[sign] ?? `&#${sign.charCodeAt(0)};`;

const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
