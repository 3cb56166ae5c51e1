import { redactQuickly } from '../secrets/redact.ts';
import { withoutCutEnd } from './decode-text.ts';

interface JsonLimits {
  text: number;
  items: number;
  depth: number;
  /** Remaining characters; printing stops below 0. */
  room: number;
}

/** From everything to almost nothing; the first step that fits is used. */
const steps: readonly Omit<JsonLimits, 'room'>[] = [
  { text: 8_000, items: 100_000, depth: 32 },
  { text: 2_000, items: 60, depth: 10 },
  { text: 600, items: 30, depth: 8 },
  { text: 300, items: 15, depth: 6 },
  { text: 160, items: 8, depth: 5 },
  { text: 80, items: 5, depth: 4 },
  { text: 60, items: 3, depth: 3 },
  { text: 40, items: 2, depth: 2 },
  { text: 40, items: 40, depth: 1 },
];
const maxStringRead = 16_000;

/**
 * Prints the value with two spaces of indentation, shortened to at most `maxCharacters`. Every cut says how much is
 * missing. Strings are redacted with the quick rules.
 */
export function shortenJson(value: unknown, maxCharacters: number): { text: string; whole: boolean } {
  for (const step of steps) {
    const limits = { ...step, room: maxCharacters };
    const text = print(value, limits, 0, '');
    if (limits.room >= 0) return { text, whole: step === steps[0] };
  }
  return { text: '…', whole: false };
}

function print(value: unknown, limits: JsonLimits, depth: number, key: string): string {
  if (typeof value !== 'object' || value === null) return spend(limits, printScalar(value, key, limits.text));
  const list = Array.isArray(value);
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  const keys = list ? [] : Object.keys(value);
  const size = list ? value.length : keys.length;
  if (size === 0) return spend(limits, `${open}${close}`);
  if (depth >= limits.depth) return spend(limits, `${open} … ${count(size)} more ${close}`);
  const indent = '  '.repeat(depth + 1);
  const shown: string[] = [];
  for (let index = 0; index < Math.min(size, limits.items) && limits.room >= 0; index++) {
    const name = keys[index] ?? '';
    const label = list ? '' : `${printScalar(name, '', 200)}: `;
    const item: unknown = list ? value[index] : Object.getOwnPropertyDescriptor(value, name)?.value;
    shown.push(
      spend(limits, `${indent}${label}`) +
        print(item, limits, depth + 1, list ? key.replace(/s$/i, '') : name),
    );
  }
  if (size > limits.items) shown.push(spend(limits, `${indent}… ${count(size - limits.items)} more`));
  return `${open}\n${shown.join(',\n')}\n${spend(limits, `${'  '.repeat(depth)}${close}    `).trimEnd()}`;
}

function spend(limits: JsonLimits, text: string): string {
  limits.room -= text.length + 2;
  return text;
}

function printScalar(value: unknown, key: string, limit: number): string {
  return typeof value === 'string'
    ? JSON.stringify(shortText(value, key, limit))
    : (JSON.stringify(value) ?? 'null');
}

/** Redacts before cutting: the rules would not recognize half a secret. */
function shortText(text: string, key: string, limit: number): string {
  const safe = redactValue(
    text.length > maxStringRead ? withoutCutEnd(text.slice(0, maxStringRead)) : text,
    key,
  );
  if (safe.length <= limit && text.length <= maxStringRead) return safe;
  const opening = safe.slice(0, limit);
  const kept = /\s/.test(safe[limit] ?? ' ') ? opening : opening.replace(/\S{1,200}$/, '');
  return `${kept}… ${count(text.length - kept.length)} more characters`;
}

/** Redacts the value alone and next to its key, which may reveal that the value is a secret. */
function redactValue(text: string, key: string): string {
  const clean = redactQuickly(text);
  if (key === '') return clean;
  const before = `"${key.slice(0, 100)}": "`;
  const line = redactQuickly(`${before}${clean}"`);
  return line.startsWith(before) && line.endsWith('"')
    ? line.slice(before.length, -1)
    : '[secret removed: value]';
}

const count = (number: number): string => number.toLocaleString('en-US');
