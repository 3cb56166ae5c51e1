import { costOf, fits, smaller, subtract, type TextSize, truncate } from './text-size.ts';

/** Room that texts are taken from, first come, first served. */
export interface TokenBudget {
  /** The text, its beginning, or nothing if not even that fits. */
  take(text: string, most?: TextSize): string[];
  left(): TextSize;
  /** Whether any text was shortened or left out. */
  cut(): boolean;
}

/** A shorter beginning carries no information. */
const smallest: TextSize = { tokens: 8, characters: 24 };

export function createTokenBudget(room: TextSize): TokenBudget {
  let left = room;
  let cut = false;
  return {
    take(text, most = room) {
      if (text === '') return [];
      const allowed = smaller(left, most);
      const whole = fits(costOf(text), allowed);
      cut ||= !whole;
      if (!whole && !fits(smallest, allowed)) return [];
      const kept = whole ? text : truncate(text, allowed);
      left = subtract(left, costOf(kept));
      return [kept];
    },
    left: () => left,
    cut: () => cut,
  };
}
