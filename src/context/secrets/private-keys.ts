/** Begin and end markers of OpenSSL, OpenSSH, PGP and SSH2, in any case. */
const frame = /-{4,5} ?(?:BEGIN|(END)) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/gi;
const putty = /Private-Lines: \d{1,4}[ \t]*(?=\r?\n)/g;
const quickCheck = /PRIVATE[ -](?:KEY|Lines)/i;
/** Markers closer than this enclose one key. */
const maxKeyLength = 20_000;
/** A line of a key, with quote marks, comment marks or line numbers in front. */
const bodyLine =
  /(?:\s|\\[nrt]|[>|#*"'`+,;/]|\d{1,6}[:|)\t ]){0,60}(?:[A-Za-z-]{3,20}: [^\n\\]{1,200}|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}={1,2}(?![\w=]))/y;
/** Text between line breaks, which may be escaped. */
const piece = /(?<=^|\\[nrt]|[\s"'`,;>|#*])[^\s"'`,;>|#*\\]+/g;
const base64 = /^[A-Za-z0-9+/=]+$/;
const plainWord = /^[A-Za-z]?[a-z]*$/;
const lineNumber = /^\d{1,6}[:)]?$/;

/** Ranges of private keys, including keys whose begin or end marker is missing. */
export function privateKeys(text: string): [from: number, to: number][] {
  if (!quickCheck.test(text)) return [];
  const ranges: [number, number][] = [];
  const frames = [...text.matchAll(frame)];
  let done = 0;
  for (const [index, { 0: mark, 1: isEnd, index: at }] of frames.entries()) {
    if (at < done) continue;
    const next = frames[index + 1];
    const after = at + mark.length;
    if (isEnd !== undefined) {
      ranges.push([startOfBody(text, done, at), after]);
      done = after;
      continue;
    }
    const closed = next?.[1] !== undefined && next.index - after < maxKeyLength;
    done = closed
      ? next.index + next[0].length
      : after + endOfBody(text.slice(after, next?.index ?? text.length));
    ranges.push([at, done]);
  }
  done = 0;
  for (const { 0: mark, index } of text.matchAll(putty)) {
    if (index < done) continue;
    const after = index + mark.length;
    done = after + endOfBody(text.slice(after));
    ranges.push([after, done]);
  }
  return ranges;
}

function endOfBody(text: string): number {
  let to = 0;
  bodyLine.lastIndex = 0;
  while (bodyLine.test(text)) to = bodyLine.lastIndex;
  return to;
}

/** Goes back from an end marker over base64; the first line of the text may be the end of a longer line. */
function startOfBody(text: string, least: number, end: number): number {
  let from = end;
  const pieces = [...text.slice(least, end).matchAll(piece)];
  for (const { 0: word, index } of pieces.reverse()) {
    const start = least + index;
    const whole = word.length >= 16 || ((from === end || start === 0) && !plainWord.test(word));
    if (whole && base64.test(word)) from = start;
    else if (!lineNumber.test(word)) break;
  }
  return from;
}
