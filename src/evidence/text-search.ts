import { plainText } from './tail-text.ts';

/** A line that is longer is searched in parts. */
const longestLine = 64 * 1024;

export interface TextSearch {
  write(chunk: Buffer): void;
  /** Whether the whole output contains the text. */
  finish(): boolean;
}

/**
 * Looks for a text in an output as people read it, without terminal escapes. Keeps one line and as much before it as the
 * text is long, so that neither the output's size nor the bounds of its chunks matter.
 */
export function createTextSearch(text: string): TextSearch {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let line = '';
  let before = '';
  let found = text === '';

  function search(part: string): void {
    const shown = before + plainText(part);
    found ||= shown.includes(text);
    before = text.length > 1 ? shown.slice(1 - text.length) : '';
  }

  function add(part: string): void {
    line += part;
    const end = line.lastIndexOf('\n') + 1;
    const cut = end === 0 && line.length > longestLine ? line.length : end;
    if (cut > 0) search(line.slice(0, cut));
    line = line.slice(cut);
  }

  return {
    write(chunk) {
      if (!found) add(decoder.decode(chunk, { stream: true }));
    },
    finish() {
      if (!found) search(line + decoder.decode());
      return found;
    },
  };
}
