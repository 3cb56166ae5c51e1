/** Bytes as text; undefined for what is no UTF-8 text. A character that `whole: false` cuts in two is left out. */
export function decodeText(bytes: Buffer, whole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}

/** Without the line, or the word, that a cut may have left in two: half of a secret would not be known as one. */
export function withoutCutEnd(text: string): string {
  const line = text.lastIndexOf('\n');
  if (line > text.length / 2) return text.slice(0, line + 1);
  const space = text.lastIndexOf(' ');
  return text.slice(0, space > text.length / 2 ? space : Math.floor(text.length / 2));
}
