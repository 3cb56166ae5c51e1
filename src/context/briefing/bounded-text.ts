import { redactQuickly } from '../secrets/redact.ts';

/** No text of an agent, a file or a log is looked at beyond this: what is shown of it is far shorter. */
export const maxCharactersRead = 64 * 1024;

// Terminal colours, control characters, and characters that nobody sees but a model reads.
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\u{e0000}|[\u{e0001}-\u{e007f}]/gu;

/** The text as a person would see it, without secrets; lines stay lines. */
export function cleanText(text: string): string {
  const seen = text
    .slice(0, maxCharactersRead)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(invisible, '')
    .trimEnd();
  return seen.length < shortestSecret ? seen : redactQuickly(seen);
}

const shortestSecret = 8;

const titles =
  /^[#*_ \t]*(RUN|ACTION REQUIRED|INSTRUCTIONS|DECISIONS AND FEEDBACK|NOT AS IT WAS|DONE|REQUIRED READING|KEY REMINDERS|CONTEXT VARIABLES|QUESTIONS AND ANSWERS|CRITICAL ARTIFACTS|TASKS|KEPT)[:#*_ \t]*$/gm;

/** The same where no line of it can pass for a heading of ours. */
export const escapeHeadings = (text: string): string => cleanText(text).replace(titles, '> $1');

/** The same in one line, so that it cannot pass for a heading. */
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

export const sectionPointer = (more: string, section: string): string => more.replace('{section}', section);
