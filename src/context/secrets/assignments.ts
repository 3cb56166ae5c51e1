/** Names of values that are secret; what stands before them (`DB_`, `my`) does not matter. */
const name =
  /(?:passwor[dt]s?|passwd|passphrase|passcode|pwd|(?<![a-z])pass|api[_\- ]?key|(?:access|secret|private|signing|encryption|master|account|shared|auth|service|storage|session|hmac|jwt|license|deploy)[_\- ]?key(?:[_\- ]?id(?![a-z]))?|secret|token|credentials?|(?:proxy-)?authorization|(?<![a-z])(?:set-)?cookie|bearer|basic)(?:[_-](?:value|b64|base64|prod|production|dev|staging|test|live|old|new|\d{1,2}))?/gi;

/** From the name to its value: what closes the name, what stands between, what opens the value. */
const between = [
  // password: string = "…", TOKEN := …, "token" => "…", **Password:** …, | token | …, <password>…, setToken("…"
  /\\?["'`]?[\])*_]{0,4}[ \t]{0,20}(?::[ \t]{0,4}[A-Za-z][\w<>[\]| ]{0,40}[ \t]=(?![=>])|:=|=>|={1,3}|\?=|:|\||>|\()[ \t]{0,20}(?:\*{1,2}|_{1,2}|\|)?[ \t]{0,20}/y,
  // setHeader("x-api-key", "…")
  /\\?["'`][ \t]{0,4},[ \t]{0,4}(?=\\?["'`])/y,
  // the token is …
  /["'`]?[ \t]{1,4}(?:is|was|are|of|to|as)[ \t]{1,4}(?:set to[ \t]{1,4}|now[ \t]{1,4})?/y,
  // password: >-  and the value on the next line
  /["']?[ \t]{0,4}:[ \t]{0,4}(?:[|>][+-]?\d?)?[ \t]{0,4}\r?\n[ \t]{1,40}/y,
  // name: TOKEN, value: …   and   key="TOKEN" value="…"
  /\\?["']?[ \t]{0,4},?\s{1,60}\\?["']?(?:default_?)?value\\?["']?[ \t]{0,4}[:=][ \t]{0,4}/iy,
  // --password …, Bearer …
  /[ \t]{1,4}/y,
];
const scheme = /(?:bearer|basic|token|digest|apikey|bot|negotiate)[ \t]{1,4}/iy;
const cookieName = /[\w.-]{1,60}=/y;
const bareValue = /[^\s"'`<>,;|(){}[\]\\]{6,300}/y;
const restOfValue = /[^\s"'`<>,;|(){}[\]\\]*/y;
const longestQuoted = 1_000;
/** So much of a value tells what it is. */
const longestLook = 100;

/** Ranges of values that are assigned to a secret name and look like one. */
export function assignedSecrets(text: string): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  let done = 0;
  for (const match of text.matchAll(name)) {
    if (match.index < done) continue;
    const range = assigned(text, match[0].toLowerCase(), match.index, match.index + match[0].length);
    if (range === undefined) continue;
    done = after(restOfValue, text, range[1]) ?? range[1];
    ranges.push([range[0], done]);
  }
  return ranges;
}

function assigned(text: string, word: string, start: number, end: number): [number, number] | undefined {
  const flag = /(?:^|[\s"'`])--?[a-z0-9_-]{0,40}$/i.test(text.slice(Math.max(0, start - 42), start));
  for (const [index, pattern] of between.entries()) {
    const bySpace = index === between.length - 1;
    if (bySpace && !flag && word !== 'bearer' && word !== 'basic') continue;
    const from = after(pattern, text, end);
    if (from === undefined) continue;
    const found = valueAt(text, from, word);
    if (found === undefined) continue;
    const value = text.slice(...found.range).slice(0, longestLook);
    const strict = found.quoted || flag || isShellLine(text, start, end);
    if (looksSecret(value, { password: /pass|pwd|secret/.test(word) && index !== 2, strict }))
      return found.range;
  }
  return undefined;
}

function valueAt(
  text: string,
  from: number,
  word: string,
): { range: [number, number]; quoted: boolean } | undefined {
  let at = from;
  const quote = /\\?["'`]/y;
  quote.lastIndex = at;
  const opened = quote.exec(text)?.[0] ?? '';
  at += opened.length;
  at = after(scheme, text, at) ?? at;
  if (word.endsWith('cookie')) at = after(cookieName, text, at) ?? at;
  if (opened !== '') {
    const close = text.slice(at, at + longestQuoted).indexOf(opened);
    const value = close < 0 ? '' : text.slice(at, at + close);
    if (value !== '' && !value.includes('\n')) return { range: [at, at + close], quoted: true };
  }
  const to = after(bareValue, text, at);
  if (to === undefined) return undefined;
  // A call or a member, not a value.
  if (text[to] === '(' || (text[to] === '[' && opened === '')) return undefined;
  return { range: [at, to - (/[.:!?]$/.test(text.slice(at, to)) ? 1 : 0)], quoted: opened !== '' };
}

function after(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** `NAME=value` without spaces, as in a shell or an environment file. */
const isShellLine = (text: string, start: number, end: number): boolean =>
  text[end] === '=' &&
  text[end + 1] !== ' ' &&
  text.slice(start, end) === text.slice(start, end).toUpperCase();

/** References, versions, dates and what examples say instead of a value. */
const placeholder =
  /^(?:[<{*[]|\$\{?\w{1,80}\}?$|%\{?\w{1,80}[%}]?$|[&!][a-z-]{1,40}$|[~^v=]?\d{1,4}(?:\.\d{1,6}){1,3}|\d{4}-\d{2}-\d{2}(?:[T ]|$)|x{3,}$|\.{3,}|_{3,}|(?:your|my)[_ -]|example|sample|dummy|change.?me|placeholder|redacted|(?:none|null|undefined|true|false|string|number|boolean|required|optional|hidden|todo)\b|process\.|os\.|env[.:]|import\.|secrets?[.:]|vars?\.|vault:|arn:|ref\+|[a-z]{2,10}:\/\/|sha\d{1,3}[:-])|\$\{|\{\{|\.\.\.|…|\*{4}/i;
const path = /^[.~]{0,2}\/[a-z][a-z0-9_.-]{1,20}\/[\w./-]{0,200}$/;
const words = /^[A-Za-z]{1,40}(?:[ _\-./:,&]{1,3}[A-Za-z]{1,40}){0,40}[.!?:]?$/;
/** k3f9x2ab:build/task-2/verify#3 and feature-20261114-k3f9x2ab */
const ownName = /^(?:[a-z0-9]{8}:[\w./-]{1,200}#\d{1,9}|[a-z][\w-]{0,80}-\d{8}-[a-z0-9]{8})$/;
/** No word has so many consonants in a row. */
const unspeakable = /[bcdfghjklmnpqrstvwxz]{7}/i;
const code = /^[A-Za-z_$][\w$]{0,80}(?:\??\.[A-Za-z_$][\w$]{0,80}){1,10}$/;

function looksSecret(value: string, kind: { password: boolean; strict: boolean }): boolean {
  if (value.length < 6 || placeholder.test(value)) return false;
  if (ownName.test(value) || path.test(value)) return false;
  if (words.test(value))
    return /^[A-Za-z]{12,}$/.test(value) && (caseChanges(value) > 0.38 || unspeakable.test(value));
  if (!kind.strict && code.test(value) && !/\d[a-z]*\d/i.test(value)) return false;
  if (/\s/.test(value))
    return kind.password && kind.strict && value.length < 40 && /\d/.test(value) && /[^\w\s]/.test(value);
  const digits = (value.match(/\d/g) ?? []).length;
  if (digits === value.length) return kind.password && kind.strict && digits >= 8;
  if (kind.password) return value.length >= (kind.strict ? 6 : 8) && (digits > 0 || value.length >= 12);
  if (digits === 1 && /^[A-Za-z0-9+/=]{20,}$/.test(value) && entropy(value) > 3.9) return true;
  if (value.length < 12 || digits < 2)
    return (
      value.length >= 20 && entropy(value) > 3.5 && (caseChanges(value) > 0.3 || unspeakable.test(value))
    );
  return entropy(value) > 2.8;
}

/** How often upper and lower case follow each other: often in random text, seldom in names. */
function caseChanges(text: string): number {
  let changes = 0;
  for (let i = 1; i < text.length; i++) {
    if (isLower(text.charCodeAt(i)) !== isLower(text.charCodeAt(i - 1))) changes++;
  }
  return changes / (text.length - 1);
}

const isLower = (code: number): boolean => code >= 97 && code <= 122;

/** Bits a character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
