import { joint, type Range, restOf, valueAt, valuesOfCookie, valuesOfList } from './find-values.ts';
import { isWordy, looksSecret, type ValueKind } from './looks-secret.ts';
import { secretNames } from './secret-names.ts';

/** Matches what is between a name and its value: closing quotes, operator, opening of the value. */
const operator =
  // password: string = "…", password?: string = "…", TOKEN := …, "token" => "…", **Password:** …, | token | …, <password>…, setToken("…", token → …
  /\\{0,7}["'`]?[\])*_]{0,4}[ \t]{0,80}(?:\??:[ \t]{0,4}[A-Za-z][\w<>[\]| ]{0,40}[ \t]=(?![=>])|:=|=>|->|→|={1,3}|\?=|\??:|：|\||>|\(|%3[AD])[ \t]{0,80}(?:\*{1,2}|_{1,2}|[|>][+-]?)?[ \t]{0,20}/iy;
const otherSeparators = {
  // setHeader("x-api-key", "…")
  argument: /\\{0,7}["'`][ \t]{0,4},[ \t]{0,4}(?=\\{0,7}["'`])/y,
  // the token is …, the password for the database is …
  prose:
    /["'`]?[ \t]{1,4}(?:(?:for|of)[ \t](?:[\w.-]{1,20}[ \t]){1,4}(?=is|was))?(?:is|was|are|of|to|as)[ \t]{1,4}(?:set to[ \t]{1,4}|now[ \t]{1,4})?/y,
  // password: >-  and the value on the next line
  nextLine: /["']?[ \t]{0,4}:[ \t]{0,4}(?:[|>][+-]?\d?)?[ \t]{0,4}\r?\n(?:[ \t]{0,40}\r?\n)?[ \t]{0,40}/y,
  // name: TOKEN, value: …   and   key="TOKEN" value="…", maybe with a type or a comment in between
  sibling:
    /\\{0,7}["']?[ \t]{0,4}(?:,|\s)\s{0,60}(?:#[^\n]{0,80}\n\s{0,40}|\\?["']?type\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?\w{1,20}\\?["']?,?\s{0,40})?\\{0,7}["']?(?:default_?)?value\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}/iy,
  // variable "token" { default = "…"
  block: /"[ \t]{0,4}\{[^{}]{0,300}?default[ \t]{0,8}=[ \t]{0,4}/y,
  // <key>Password</key><string>…
  plist: /<\/key>\s{0,40}<string>/y,
  // --password …, Bearer …, requirepass …
  space: /[ \t]{1,4}/y,
  // PASSWORD    … in columns
  column: /(?:\t| {2})[ \t]{0,40}/y,
} as const;
type Separator = 'operator' | keyof typeof otherSeparators;
const separators = Object.entries({ operator, ...otherSeparators }) as [Separator, RegExp][];

/** Characters that can follow a name with a value. */
const closing = /[\\"'`\])*_ \t:=|>(,?%<\n\r\-→：]/;
const byName = /(?:^|[\s"'`])--?[a-z0-9_-]{0,40}$|(?:^|\s)(?:ENV|setx|set -\w{1,4})[ \t]{1,4}\w{0,40}$/i;
const bySpaceAlways = /^(?:requirepass|masterauth|bindpw)$/;
/** value: …, name: TOKEN */
const valueBefore =
  /\bvalue\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?([^\s"'<>,{}\\]{6,300})\\?["']?,?\s{0,60}\\?["']?(?:name|key|id)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?[\w.-]{0,60}$/i;
const named = /(?:name|key|id)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?[\w.-]{0,60}$/i;
const phrase = /[a-z]{2,12}(?: [a-z]{2,12}){3,23}/y;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `k3f9x2pw:build#1` is a handle, not an assignment to `pw`; the digit keeps `password:abc#1` out. */
const handle = /(?<![A-Za-z0-9])(?=[a-z]{0,7}\d)[a-z0-9]{8}:[\w./-]{1,200}#\d{1,9}(?!\w)/y;
const handleIdLength = 8;

/** Ranges of values that are assigned to a secret name and look like a secret. */
export function assignedSecrets(text: string): Range[] {
  const ranges: Range[] = [];
  let done = 0;
  for (const { word, start, end } of secretNames(text)) {
    if (start < done || (end < text.length && !closing.test(text.charAt(end)))) continue;
    if (after(handle, text, Math.max(0, end - handleIdLength)) !== undefined) continue;
    const found = assigned(text, word, start, end);
    for (const range of found) done = Math.max(done, range[1]);
    ranges.push(...found);
  }
  return ranges;
}

/** Whether a value with this name is a secret. */
export function isNamedSecret(name: string, value: string): boolean {
  const last = [...secretNames(name)].at(-1);
  if (last?.end !== name.length) return false;
  const kind = kindOf(last.word, { strict: true, shell: false, numeric: false });
  return looksSecret(value.trim(), kind) && !isHarmless(last.word, value);
}

function assigned(text: string, word: string, start: number, end: number): Range[] {
  const before = text.slice(Math.max(0, start - 64), start);
  const flag = byName.test(before);
  const shell = isShellLine(text, start, end);
  for (const [separator, pattern] of separators) {
    if (separator === 'space' && !flag && !/^(?:bearer|basic)$/.test(word) && !bySpaceAlways.test(word))
      continue;
    if (separator === 'column' && !/(?:^|\n)[ \t]{0,8}[\w-]{0,40}$/.test(before)) continue;
    const from = after(pattern, text, end);
    if (from === undefined) continue;
    const numeric = /[A-Za-z]_$/.test(before);
    const judge = (value: string, quoted: boolean): boolean =>
      looksSecret(
        value,
        kindOf(separator === 'prose' ? 'token' : word, { strict: quoted || flag || shell, shell, numeric }),
      ) && !isHarmless(word, value);
    const found = valuesAfter(text, from, { word, separator, shell, judge });
    if (found.length > 0) return found;
  }
  return named.test(before) ? valueBeforeName(text, word, start) : [];
}

interface Assignment {
  word: string;
  separator: Separator;
  shell: boolean;
  judge(value: string, quoted: boolean): boolean;
}

function valuesAfter(text: string, from: number, { word, separator, shell, judge }: Assignment): Range[] {
  if (text.startsWith('[secret removed: ', from)) return [];
  const judged = (range: Range): boolean => judge(text.slice(...range), true);
  if (word.endsWith('cookie') && separator !== 'prose') return valuesOfCookie(text, from).filter(judged);
  if (separator === 'operator' || separator === 'nextLine') {
    const list = valuesOfList(text, from);
    if (list) return list.filter(([a, b]) => judge(text.slice(a, b), text[b] === '"' || text[b] === "'"));
  }
  if (/^(?:passphrase|mnemonic|seed.?phrase)$/.test(word) && separator === 'operator') {
    const at = from + (/["'`]/.test(text.charAt(from)) ? 1 : 0);
    const to = after(phrase, text, at);
    const count = to === undefined ? 0 : text.slice(at, to).split(' ').length;
    if (to !== undefined && (at > from ? /["'`]/.test(text.charAt(to)) : count >= 12)) return [[at, to]];
  }
  const value = valueAt(text, from, { shell, person: /^cred/.test(word) });
  if (!value) return [];
  const [at, to] = value.range;
  if (separator === 'column' || separator === 'nextLine') {
    // Only if the value is alone on its line; otherwise it is the start of a sentence.
    if (!/^["'`]?[ \t]{0,8}(?:\r?\n|$)/.test(text.slice(to, to + 12))) return [];
  }
  if (value.bracketed && isWordy(text.slice(at, to))) return [];
  const candidate = text.slice(at, to);
  if (word === 'basic' && separator === 'space' && !isBasicAuth(candidate)) return [];
  return judge(candidate.replaceAll(joint, ''), value.quoted)
    ? [[at, endOfLines(text, value.quoted ? to : restOf(text, to), separator)]]
    : [];
}

function valueBeforeName(text: string, word: string, start: number): Range[] {
  const from = Math.max(0, start - 500);
  const match = valueBefore.exec(text.slice(from, start));
  const value = match?.[1];
  if (!match || value === undefined) return [];
  if (!looksSecret(value, kindOf(word, { strict: true, shell: false, numeric: false }))) return [];
  const at = from + match.index + match[0].indexOf(value);
  return [[at, at + value.length]];
}

/** The end of a value that is folded over several lines. */
function endOfLines(text: string, to: number, separator: Separator): number {
  if (separator !== 'nextLine') return to;
  const line = /\r?\n[ \t]{1,40}[A-Za-z0-9+/=_.-]{8,200}(?=\r?\n|$)/y;
  let end = to;
  for (let next = after(line, text, end); next !== undefined; next = after(line, text, end)) end = next;
  return end;
}

const isPassword =
  /passwor|passwd|pwd|passcode|(?:^|[a-z])pw$|kennwort|mot de passe|contrase|пароль|密|パスワード|비밀번호/;

function kindOf(word: string, context: Pick<ValueKind, 'strict' | 'shell' | 'numeric'>): ValueKind {
  const chosenByPerson = isPassword.test(word) || /pass|psk|auth$|pw/.test(word);
  return {
    ...context,
    password: chosenByPerson || word.includes('secret'),
    random: !chosenByPerson,
    // `pass: 1234567` is a test count.
    numeric: isPassword.test(word) || (context.numeric && word === 'pass'),
  };
}

/** Session ids of hosts are UUIDs, `PWD` is a directory, and `pass` may be a test count. */
function isHarmless(word: string, value: string): boolean {
  // As test runners print it after the name of a test.
  if (/^\(?\d+(?:\.\d+)?(?:ms|s)\)?$/.test(value)) return true;
  if (/sess(?:ion)?[_-]?id/.test(word)) return uuid.test(value);
  if (word === 'pwd') return /^(?:[/~]|[A-Z]:)/.test(value);
  return word === 'pass' && /^\d{1,6}(?:[-/:]|$)/.test(value);
}

/** Basic authentication: base64 of text with a colon. */
const isBasicAuth = (value: string): boolean =>
  /^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(value) && Buffer.from(value, 'base64').includes(58);

function after(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** `NAME=value` without spaces, as in a shell or an environment file. */
const isShellLine = (text: string, start: number, end: number): boolean =>
  text[end] === '=' &&
  text[end + 1] !== ' ' &&
  text.slice(start, end) === text.slice(start, end).toUpperCase();
