import type { Gate } from '../schema/index.ts';

const mostText = 80;

/** What a gate checks, in one text: `npm test`, `npm test (expected to fail with "AssertionError")`, `PLAN.md`. */
export function gateText(gate: Gate): string {
  const { run, exists, condition, read, expect, contains } = gate;
  if (run === undefined) return exists ?? condition ?? read?.join(', ') ?? '';
  if (expect === undefined && contains === undefined) return run;
  const text = contains === undefined ? '' : quotedText(contains);
  if (expect === undefined) return `${run} (output contains ${text})`;
  return `${run} (expected to fail${text === '' ? '' : ` with ${text}`})`;
}

/** A text that an output must contain, on one line. */
export const quotedText = (text: string): string =>
  JSON.stringify(text.length > mostText ? `${text.slice(0, mostText)}…` : text);
