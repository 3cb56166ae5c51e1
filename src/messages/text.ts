// One character a unit, one column a character: Latin letters and the signs that we draw with ourselves.
const simple =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25f7\u2713\u2717]*$/;
// Control characters, bidirectional overrides and lone surrogates: a terminal obeys them, XML forbids them.
const unprintable =
  /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Text from a workflow made safe to show on one line: layout becomes a space, what steers a terminal a sign. */
export const printable = (text: string): string =>
  text.replace(/[\t\r\n]+/g, ' ').replace(unprintable, '\ufffd');

/** The same for a text of several lines, which keeps its lines and how far they are indented. */
export const printableLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => {
    const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
    return `${indent.replaceAll('\t', '    ')}${printable(line.slice(indent.length))}`.trimEnd();
  });

/** JSON in which no character steers a terminal; what it stands for stays the same. */
export const printableJson = (json: string): string =>
  json.replace(unprintable, (sign) =>
    sign === '\n' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A phrase as the beginning of a sentence. */
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** `1 step`, `2 steps`. */
export const count = (number: number, noun: string, plural = `${noun}s`): string =>
  `${number} ${number === 1 ? noun : plural}`;

let segmenter: Intl.Segmenter | undefined;

/** Grapheme clusters, so that cutting never splits what a reader sees as one character. */
export function graphemes(text: string): string[] {
  if (simple.test(text)) return text.split('');
  // Made only when it is needed: it costs as much time as starting Node.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

export const isWide = (grapheme: string): boolean => wide.test(grapheme);
export const isInvisible = (grapheme: string): boolean => invisible.test(grapheme);

/** Columns that the text takes in a terminal. */
export function columnsOf(text: string): number {
  if (simple.test(text)) return text.length;
  let columns = 0;
  for (const grapheme of graphemes(text)) columns += isWide(grapheme) ? 2 : isInvisible(grapheme) ? 0 : 1;
  return columns;
}

/** The text itself if it fits, else as much of it as fits before the ellipsis; empty if not even that fits. */
export function truncate(
  text: string,
  room: number,
  measure: (text: string) => number,
  ellipsis = '…',
): string {
  if (measure(text) <= room) return text;
  const left = room - measure(ellipsis);
  if (left < 0) return '';
  let used = 0;
  let kept = '';
  for (const grapheme of graphemes(text)) {
    used += measure(grapheme);
    if (used > left) break;
    kept += grapheme;
  }
  return kept.trimEnd() + ellipsis;
}

/** Lines no wider than `room`, broken at spaces; a longer word keeps its line to itself. */
export function wrap(text: string, room: number, measure: (text: string) => number = columnsOf): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && measure(longer) > room) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}
