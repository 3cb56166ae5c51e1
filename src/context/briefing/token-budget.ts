import { costOf, fits, smaller, subtract, type TextSize, truncate } from './text-size.ts';

/** A room that texts are paid from, in the order in which they are taken. */
export interface TokenBudget {
  /** The text, its beginning, or nothing where not even that fits. */
  take(text: string, most?: TextSize): string[];
  left(): TextSize;
  /** Something was cut or left out. */
  cut(): boolean;
}

/** Less than this says nothing. */
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
