import { stripVTControlCharacters } from 'node:util';

/** The end of an output as printable text: valid UTF-8, no terminal escapes, at most `maxBytes`. */
export function tailText(output: Buffer, options: { cut: boolean; maxBytes: number }): string {
  // A cut may be inside a character or an escape sequence, so the text starts with the next line.
  const line = options.cut ? output.indexOf(10) + 1 : 0;
  const whole = options.cut && line === 0 ? skipPartialCharacter(output) : output.subarray(line);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole);
  return truncateToTail(plainText(text), options.maxBytes);
}

/** Without what would affect a terminal: escape sequences and other control characters. */
export const plainText = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/(?![\n\r\t])\p{Cc}/gu, '')
    .replaceAll('\r\n', '\n');

/** The last `maxBytes` of a text, without a partial character. */
export function truncateToTail(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length <= maxBytes ? text : skipPartialCharacter(bytes.subarray(-maxBytes)).toString('utf8');
}

function skipPartialCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
