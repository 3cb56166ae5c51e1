import { redactQuickly } from '../secrets/redact.ts';

/** Replaces control characters and line breaks. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');

/** A path or name in a message: short, printable, without secrets. */
export function quoted(text: string): string {
  const clean = redactQuickly(printable(text));
  return `'${clean.length > 120 ? `${clean.slice(0, 119)}…` : clean}'`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${Math.round(kilobytes)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
