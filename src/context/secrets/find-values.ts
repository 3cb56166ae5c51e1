export type Range = [from: number, to: number];

const quoteMark = /(?:[@rbfu]{1,2}(?=["']))?(\\{0,7})("{3}\r?\n?|'{3}\r?\n?|["'`])/y;
const scheme = /(?:bearer|basic|token|digest|apikey|bot|negotiate)[ \t]{1,4}/iy;
const person = /[\w.@-]{1,40}[ \t]\/[ \t]/y;
const bracket = /[<{[(]{1,2}[ \t]{0,2}/y;
const bareValue = /[^\s"'`<>,;|(){}[\]\\]{6,300}/y;
const shellValue = /[^\s"'`]{6,300}/y;
const restOfValue = /[^\s"'`<>,;|(){}[\]\\]*/y;
/** Between the pieces of "…" + "…". */
export const joint = /\\{0,7}["'`][ \t]{0,4}\+\s{0,40}["'`]/g;
const further = /\\{0,7}["'`][ \t]{0,4}\+\s{0,40}["'`][^"'`\n]{1,300}(?=["'`])/y;
const maxQuoted = 1_000;
const maxCookies = 20;

/** The value at this position: quoted, in brackets or bare. */
export function valueAt(
  text: string,
  from: number,
  options: { shell: boolean; person: boolean },
): { range: Range; quoted: boolean; bracketed: boolean } | undefined {
  quoteMark.lastIndex = from;
  const opened = quoteMark.exec(text);
  let at = from + (opened?.[0].length ?? 0);
  at = after(scheme, text, at) ?? at;
  if (options.person) at = after(person, text, at) ?? at;
  if (opened) {
    const close = closeOf(text, at, opened[1]?.length ?? 0, (opened[2] ?? '').charAt(0));
    const end = close === undefined ? at : text.slice(at, close).search(/\r?\n/);
    const one = close !== undefined && end < 0;
    if (one && close > at) return { range: [at, afterPieces(text, close)], quoted: true, bracketed: false };
  }
  const inside = after(bracket, text, at);
  at = inside ?? at;
  const shell = options.shell && !opened && inside === undefined;
  const to = after(shell ? shellValue : bareValue, text, at);
  if (to === undefined) return undefined;
  // A call, an index or a key, not a value.
  if (text[to] === '(' || (text[to] === '[' && !opened)) return undefined;
  if (inside !== undefined && text[to - 1] === ':') return undefined;
  const value = text.slice(at, to);
  if (shell)
    return {
      range: [at, at + value.replace(/[)\]}>,;:.!?]{1,20}$/, '').length],
      quoted: false,
      bracketed: false,
    };
  const stop = to - (/[.:!?]$/.test(value) ? 1 : 0);
  return { range: [at, stop], quoted: opened !== null, bracketed: inside !== undefined };
}

/** The end of a value that is longer than the inspected part. */
export const restOf = (text: string, to: number): number => after(restOfValue, text, to) ?? to;

/** The values of `a=…; b=…` up to the end of the line or quote. */
export function valuesOfCookie(text: string, from: number): Range[] {
  const start = from + (/["'`]/.test(text.charAt(from)) ? 1 : 0);
  const line = /[^\r\n"'`]{0,1500}/y;
  const end = after(line, text, start) ?? start;
  const ranges: Range[] = [];
  for (const { 0: match, index } of text.slice(start, end).matchAll(/=[^;\s=]{6,1400}={0,2}/g)) {
    const at = start + index + 1;
    ranges.push([at, at + match.length - 1]);
    if (ranges.length === maxCookies) break;
  }
  return ranges;
}

const inline = /\s{0,40},?\s{0,40}(["'`]?)([^\s"'`,[\]{}]{1,500})\1(?=\s{0,40}[,\]])/y;
const dashed = /(?:^|\r?\n)?[ \t]{0,40}-[ \t]{1,4}(["']?)([^\s"'`,[\]{}]{1,500})\1[ \t]{0,8}(?=\r?\n|$)/y;

/** The values of `[a, b]` or of lines with a dash; undefined if no list starts here. */
export function valuesOfList(text: string, from: number): Range[] | undefined {
  const listed = text[from] === '[' && text[from + 1] !== '[';
  if (!listed && text[from] !== '-') return undefined;
  const ranges: Range[] = [];
  const item = listed ? inline : dashed;
  let at = listed ? from + 1 : from;
  while (ranges.length < 200) {
    item.lastIndex = at;
    const match = item.exec(text);
    if (!match) break;
    const value = match[2] ?? '';
    const start = at + match[0].lastIndexOf(value);
    ranges.push([start, start + value.length]);
    at = item.lastIndex;
  }
  return ranges.length === 0 ? undefined : ranges;
}

/** The closing quote: preceded by as many backslashes as the opening one, or by an even number if that has none. */
function closeOf(text: string, from: number, slashes: number, quote: string): number | undefined {
  const limit = Math.min(text.length, from + maxQuoted);
  for (let at = text.indexOf(quote, from); at >= 0 && at < limit; at = text.indexOf(quote, at + 1)) {
    let count = 0;
    while (at - count > from && text[at - count - 1] === '\\') count++;
    if (slashes === 0 ? count % 2 === 0 : count <= slashes) return at - (slashes === 0 ? 0 : count);
  }
  return undefined;
}

/** Skips the concatenated pieces of "…" + "…". */
function afterPieces(text: string, close: number): number {
  let end = close;
  for (let next = after(further, text, end); next !== undefined; next = after(further, text, end)) end = next;
  return end;
}

function after(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
