const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const end = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const longest = 20_000;
/** What a key looks like where its end was cut off: lines of base64, with the marks of quotations and comments around. */
const bodyLine = /(?:\s|\\[nrt]|[>|#*"'`+,;/])*(?:[A-Za-z-]{3,20}: [^\n\\]{1,200}|[A-Za-z0-9+/=]{16,})/y;

/** Ranges of private keys, also of one whose end is missing. */
export function privateKeys(text: string): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  const starts = [...text.matchAll(begin)];
  for (const [index, start] of starts.entries()) {
    const body = start.index + start[0].length;
    const limit = Math.min(starts[index + 1]?.index ?? text.length, body + longest);
    const rest = text.slice(body, limit);
    const closed = end.exec(rest);
    ranges.push([start.index, body + (closed ? closed.index + closed[0].length : endOfBody(rest))]);
  }
  return ranges;
}

function endOfBody(text: string): number {
  let to = 0;
  bodyLine.lastIndex = 0;
  while (bodyLine.test(text)) to = bodyLine.lastIndex;
  return to;
}
