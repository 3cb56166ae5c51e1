/** What a name and its context say about the value. */
export interface ValueKind {
  /** The value may be short. */
  password: boolean;
  /** The value is random, so one made of words is not a secret. False for passwords that people choose. */
  random: boolean;
  /** The value may consist of digits only. */
  numeric: boolean;
  /** In quotes, after an option or in an environment: a value, not code. */
  strict: boolean;
  /** `NAME=value`, where a plain word is a value too. */
  shell: boolean;
}

/** Longer values are inspected only this far from either end. */
const maxInspected = 100;

/** Whether a value with a secret name is a secret. */
export function looksSecret(value: string, kind: ValueKind): boolean {
  const rest = value.replace(reference, '');
  if (rest.length <= maxInspected) return isSecret(rest, kind);
  return isSecret(rest.slice(0, maxInspected), kind) || isSecret(rest.slice(-maxInspected), kind);
}

/** References to a value elsewhere, and redaction marks. */
const reference =
  /\[secret removed: [\w-]{1,40}\]|\$?\{\{[^{}]{1,100}\}\}|[$#%]\{[^{}]{1,100}\}|\$\([^()]{1,100}\)|\.{3,}|…|\*{3,}/g;

/** References, versions, dates and example placeholders; matches only whole values. */
const placeholder = new RegExp(
  `^(?:${[
    '\\$\\w{1,80}',
    '%\\w{1,80}%?',
    '[&!][a-z-]{1,40}',
    '[~^v=]?\\d{1,4}(?:\\.\\d{1,6}){1,3}(?:-[a-z]{1,10}(?:\\.\\d{1,4}){0,2})?',
    '\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?',
    '[x*._-]{3,}',
    '(?:your|my|example|sample|dummy|fake|change.?me|placeholder|redacted)[a-z]{0,14}(?:[ _.-][a-z]{1,14}){0,6}[_-]?\\d{0,3}',
    '(?:none|null|undefined|true|false|string|number|boolean|required|optional|hidden|todo)[;,.?!]?',
    '(?:process\\.env|os\\.environ|env|secrets?|vars?)[.:][a-z_]{1,60}\\d{0,2}',
    'vault:[a-z][\\w-]{0,40}/[\\w/.-]{1,100}(?:#[\\w-]{1,40})?',
    'arn:aws[a-z-]{0,10}:[a-z0-9-]{2,30}:[a-z0-9-]{0,20}:\\d{0,12}:[\\w:/.*+=,@-]{1,200}',
    'ref\\+[a-z]{2,20}://\\S{1,200}',
    '[a-z]{2,10}://\\S{1,300}',
    'sha\\d{1,3}[:-][A-Za-z0-9+/=]{6,128}',
  ].join('|')})$`,
  'i',
);
const path = /^[.~]{0,2}\/[a-z][a-z0-9_.-]{1,20}\/[\w./-]{0,200}$/;
const words = /^[A-Za-z]{1,40}(?:[ _\-./:,&]{1,3}[A-Za-z]{1,40}){0,40}[.!?:]?$/;
/** k3f9x2ab:build/task-2/verify#3 and feature-20261114-k3f9x2ab */
const ownName = /^(?:[a-z0-9]{8}:[\w./-]{1,200}#\d{1,9}|[a-z][\w-]{0,80}-\d{8}-[a-z0-9]{8})$/;
/** No English word has this many consonants in a row. */
const unspeakable = /[bcdfghjklmnpqrstvwxz]{7}/i;
const code = /^[A-Za-z_$][\w$]{0,80}(?:\??\.[A-Za-z_$][\w$]{0,80}){1,10}$/;
const usual = /^(?:pass|yourpass|password|passwort|postgres|changeme|required|optional|disabled|enabled)/i;

function isSecret(value: string, kind: ValueKind): boolean {
  if (value.length < 6 || placeholder.test(value) || ownName.test(value) || path.test(value)) return false;
  if (words.test(value)) {
    if (kind.shell && kind.password && /^[a-z]{8,40}$/.test(value)) return !usual.test(value);
    return /^[A-Za-z]{12,}$/.test(value) && (caseChanges(value) > 0.38 || unspeakable.test(value));
  }
  if (kind.random && isWordy(value)) return false;
  if (!kind.strict && code.test(value) && !/\d[a-z]*\d/i.test(value)) return false;
  if (/\s/.test(value))
    return kind.password && kind.strict && value.length < 40 && /\d/.test(value) && /[^\w\s]/.test(value);
  const digits = (value.match(/\d/g) ?? []).length;
  if (digits === value.length) return kind.numeric;
  if (kind.password) return value.length >= (kind.strict ? 6 : 8) && (digits > 0 || value.length >= 12);
  if (digits === 1 && /^[A-Za-z0-9+/=]{20,}$/.test(value) && entropy(value) > 3.9) return true;
  if (value.length < 12 || digits < 2)
    return (
      value.length >= 20 && entropy(value) > 3.5 && (caseChanges(value) > 0.3 || unspeakable.test(value))
    );
  return entropy(value) > 2.8;
}

const word =
  /^(?:[A-Za-z][a-z]{0,13}(?:[A-Z][a-z]{1,13}){0,3}|[A-Z]{1,14}|[A-Za-z]{1,8}\d{1,4}|\d{1,4}[A-Za-z]{0,4})$/;

/** Two or more words and small numbers, as in names and paths: `token-store-v2.ts`, `32-byte-hex`. */
export function isWordy(value: string): boolean {
  const pieces = value.split(/[ _\-./:,&@#+]+/).filter(Boolean);
  return (
    pieces.length >= 2 &&
    pieces.every((piece) => word.test(piece) && !unspeakable.test(piece)) &&
    pieces.some((piece) => /^[A-Za-z]{3,}$/.test(piece) && /[aeiouy]/i.test(piece))
  );
}

/** The share of changes between upper and lower case: high in random text, low in names. */
function caseChanges(text: string): number {
  let changes = 0;
  for (let i = 1; i < text.length; i++) {
    if (isLower(text.charCodeAt(i)) !== isLower(text.charCodeAt(i - 1))) changes++;
  }
  return changes / (text.length - 1);
}

const isLower = (code: number): boolean => code >= 97 && code <= 122;

/** Bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
