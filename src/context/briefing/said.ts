import { oneLine } from './words.ts';

/** What a briefing has said already, so that nothing is said twice. */
export interface Said {
  has(text: string): boolean;
  add(text: string): void;
  /** Adds it, and says whether it is new. */
  first(text: string): boolean;
}

/** Shorter words may stand in any text. */
const shortest = 12;

export function createSaid(): Said {
  const texts = new Set<string>();
  /** Long texts that may contain others. */
  const passages: string[] = [];
  const has = (text: string): boolean => {
    const line = oneLine(text);
    if (texts.has(line)) return true;
    return line.length >= shortest && passages.some((passage) => passage.includes(line));
  };
  const add = (text: string): void => {
    const line = oneLine(text);
    texts.add(line);
    if (line.length > 2 * shortest && passages.length < 100) passages.push(line);
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
