import { oneLine } from './bounded-text.ts';

/** The lines that a briefing already has, so that none is repeated. Compares whole lines: a substring may mean something else. */
export interface SeenLines {
  has(text: string): boolean;
  add(text: string): void;
  /** Adds the text; true if it is new. */
  first(text: string): boolean;
}

export function createSeenLines(): SeenLines {
  const lines = new Set<string>();
  const has = (text: string): boolean => lines.has(oneLine(text));
  const add = (text: string): void => {
    lines.add(oneLine(text));
    for (const line of text.split('\n')) lines.add(oneLine(line));
  };
  return {
    has,
    add,
    first(text) {
      if (has(text)) return false;
      add(text);
      return true;
    },
  };
}
