import { redactQuickly } from '../secrets/redact.ts';
import { partInfo } from './briefing-part.ts';

/** Text beyond this length is ignored: briefings show far less of any agent output, file or log. */
export const maxCharactersRead = 64 * 1024;

// ANSI colors, control characters, and invisible characters that a model would still read.
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\u{e0000}|[\u{e0001}-\u{e007f}]/gu;

/** Removes invisible characters and secrets; keeps line breaks. */
export function cleanText(text: string): string {
  const visible = text
    .slice(0, maxCharactersRead)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(invisible, '')
    .trimEnd();
  return visible.length < minSecretLength ? visible : redactQuickly(visible);
}

const minSecretLength = 8;

const titles = Object.values(partInfo).map(({ title }) => title);
const headings = new RegExp(`^[#*_ \\t]*(${titles.join('|')})[:#*_ \\t]*$`, 'gm');

/** Cleans the text and quotes lines that look like a briefing heading. */
export const escapeHeadings = (text: string): string => cleanText(text).replace(headings, '> $1');

/** Cleans the text and joins its lines. */
export const oneLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ').trim();

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `just now`, `12 min ago`, `3 h ago`, `2 days ago`. */
export function age(then: number, now: number): string {
  const past = now - then;
  if (past < minute) return 'just now';
  if (past < hour) return `${Math.floor(past / minute)} min ago`;
  if (past < 2 * day) return `${Math.floor(past / hour)} h ago`;
  return `${Math.floor(past / day)} days ago`;
}

/** Tells the reader how to request a section. */
export const sectionPointer = (more: string, section: string): string => more.replace('{section}', section);
