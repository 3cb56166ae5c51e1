/** The size at which a briefing can show the run, the next action, the instructions and all notes in full. */
export const leastBriefing = { tokens: 2500, characters: 9000 } as const;

/**
 * How many tokens a text has at most, in practice: 1.3 times what Claude's published tokenizer counts and never
 * below o200k, without either, as they are larger than all of this program. Texts that are joined by a line break
 * never have more than their sum.
 *
 * @example
 * ```ts
 * import { estimateTokens } from 'stepfast/context';
 *
 * console.log(estimateTokens('Read the report.'));
 * ```
 */
export const estimateTokens = (text: string): number => Math.ceil(scan(text, Infinity).tokens);

/** How many characters from the beginning of a text have so many tokens at most. */
export const lengthWithin = (text: string, tokens: number): number => scan(text, tokens).end;

function scan(text: string, most: number): { tokens: number; end: number } {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const before = at === 0 ? 0 : text.charCodeAt(at - 1);
    const end = endOfPart(text, at, code);
    const cost = code > 126 ? costOfForeign(text, at, code, before) : costOfAscii(text, at, end, before);
    if (tokens + cost > most) break;
    tokens += cost;
    at = end;
  }
  return { tokens, end: at };
}

/** Letters of one case with one capital before them, capitals, digits, spaces and line breaks go together. */
function endOfPart(text: string, at: number, code: number): number {
  if (code > 126) return code >= 0xd800 && code < 0xdc00 ? Math.min(at + 2, text.length) : at + 1;
  let kind = kinds[code] ?? mark;
  if (kind === mark) return at + 1;
  if (kind === capital && kinds[text.charCodeAt(at + 1)] !== capital) kind = small;
  let end = at + 1;
  while (kinds[text.charCodeAt(end)] === kind) end += 1;
  return end;
}

/** Fitted to prose, code, logs, hashes and noise. */
function costOfAscii(text: string, at: number, end: number, before: number): number {
  const code = text.charCodeAt(at);
  const length = end - at;
  switch (kinds[code]) {
    case small:
    case capital:
      return costOfLetters(text, at, end) + (before > 32 ? 0.08 : 0);
    case digit:
      return 0.68 + 0.57 * length;
    case blank:
      return length > 1 ? 0.92 + length / 80 : 0;
    case lineBreak:
      return 1.17 + 0.38 * length;
  }
  if (code === 9) return 0.56;
  if (code < 32) return 1.4;
  if (before <= 32 || before > 126 || kinds[before] !== mark) return 1.02;
  return before === code ? 0.3 : 0.94;
}

/** Words are cheap; letters at random give themselves away by pairs that words seldom have. */
function costOfLetters(text: string, at: number, end: number): number {
  let strange = 0;
  let first = (text.charCodeAt(at) | 32) - 97;
  for (let index = at + 1; index < end; index += 1) {
    const next = (text.charCodeAt(index) | 32) - 97;
    if (commonPairs[first * 26 + next] === 0) strange += 1;
    first = next;
  }
  const length = end - at;
  const capitals = length > 1 && kinds[text.charCodeAt(at + 1)] === capital;
  const plain = capitals ? 0.98 + 0.23 * (length - 1) : 1.4 + 0.26 * Math.max(0, length - 4);
  return plain + 0.85 * strange;
}

/** What follows each letter of the alphabet in nearly all English words and names in code. */
const followers =
  'bcdgiklmnprstuwy aeijlouy aehiklortu adeiosu acdefgilmnpqrstvwxy aefilortu aeinorst aeio abcdefglmnoprstvz es efgis adefilostuy abeimopsu acdegilnopstuv abcdfgijklmnoprstuvw aefhikloprstu u acdegikmnorstuy acehikloprstuy acdehioprstuxy bceilmnprst aei aehinor ipt npst eo';
const commonPairs = new Uint8Array(26 * 26);
for (const [first, letters] of followers.split(' ').entries()) {
  for (const letter of letters) commonPairs[first * 26 + letter.charCodeAt(0) - 97] = 1;
}

/** Scripts: from, to, cost of a character among its own, cost among others. */
const scripts: readonly (readonly [number, number, number, number])[] = [
  [0xc0, 0x24f, 2.2, 2.7],
  [0x370, 0x3ff, 1.75, 2.7],
  [0x410, 0x451, 0.78, 2.7],
  [0x5d0, 0x5ea, 1.5, 2.7],
  [0x620, 0x65f, 1.6, 2.7],
  [0x900, 0x97f, 1.9, 3.4],
  [0xe00, 0xe7f, 2.6, 3.4],
  [0x1e00, 0x1eff, 2.6, 3.4],
  [0x2000, 0x206f, 2, 2.2],
  [0x2190, 0x27bf, 2, 2.7],
  [0x3000, 0x30ff, 1.6, 2.7],
  [0x4e00, 0x9fff, 1.6, 3.9],
  [0xac00, 0xd7a3, 2, 4.1],
  [0xff00, 0xffef, 1.6, 3.4],
];
const latin1 = 2;
const other = 4.7;
const pair = 4.3;
const repeated = 0.7;

function costOfForeign(text: string, at: number, code: number, before: number): number {
  if (code >= 0xd800 && code < 0xe000) return pair;
  if (code < 0xc0) return latin1;
  if (code === before && code >= 0x2000 && code < 0x2600) return repeated;
  let script: (typeof scripts)[number] | undefined;
  for (const each of scripts) {
    if (code > each[1]) continue;
    if (code >= each[0]) script = each;
    break;
  }
  if (!script) return other;
  const [from, to, own, foreign] = script;
  const near = before === 32 && at > 1 ? text.charCodeAt(at - 2) : before;
  const amongOwn = near < 127 || (near >= from && near <= to) || (isEastern(code) && isEastern(near));
  if (!amongOwn) return foreign;
  return code >= 0x4e00 && isNoise(text, at, from, to) ? foreign : own;
}

const noise = 12;

/** Ideographs and syllables in a long row without one that every text has, or without a mark or a space. */
function isNoise(text: string, at: number, from: number, to: number): boolean {
  for (let index = at; index > at - noise; index -= 1) {
    const code = index < 0 ? 0 : text.charCodeAt(index);
    if (code < from || code > to || everyday.has(code)) return false;
  }
  return true;
}

const everyday = new Set(
  Array.from(
    '的一是不了在有人我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开用主行方又如前所本见经面公同已从动两知样现分将外但些与高意进把法此实回二理点明其种全工者向部正名定问力機给等几業最間新位因重電相次使平真信关加化由代',
    (letter) => letter.charCodeAt(0),
  ),
);

const [mark, small, capital, digit, blank, lineBreak] = [0, 1, 2, 3, 4, 5];
const kinds = Uint8Array.from({ length: 127 }, (_, code) => {
  if (code >= 97 && code <= 122) return small;
  if (code >= 65 && code <= 90) return capital;
  if (code >= 48 && code <= 57) return digit;
  if (code === 32) return blank;
  return code === 10 || code === 13 ? lineBreak : mark;
});
const isEastern = (code: number): boolean =>
  (code >= 0x3000 && code <= 0x9fff) || (code >= 0xff00 && code <= 0xffef);
