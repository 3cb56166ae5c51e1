/** Decodes UTF-8; undefined if the bytes are not UTF-8 text. With `whole: false` a partial last character is dropped. */
export function decodeText(bytes: Buffer, whole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}

/** Drops the last line or word, which may be cut: the redaction rules would not recognize half a secret. */
export function withoutCutEnd(text: string): string {
  const line = text.lastIndexOf('\n');
  if (line > text.length / 2) return text.slice(0, line + 1);
  const space = text.lastIndexOf(' ');
  return text.slice(0, space > text.length / 2 ? space : Math.floor(text.length / 2));
}
