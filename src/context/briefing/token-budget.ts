import { costOf, firstWithin, fits, least, type Measure, minus } from './text-size.ts';

/** A room that texts are paid from, in the order in which they are taken. */
export interface TokenBudget {
  /** The text, its beginning, or nothing where not even that fits. */
  take(text: string, most?: Measure): string[];
  left(): Measure;
  /** Something was cut or left out. */
  cut(): boolean;
}

/** Less than this says nothing. */
const smallest: Measure = { tokens: 8, characters: 24 };

export function createPurse(room: Measure): TokenBudget {
  let left = room;
  let cut = false;
  return {
    take(text, most = room) {
      if (text === '') return [];
      const allowed = least(left, most);
      const whole = fits(costOf(text), allowed);
      cut ||= !whole;
      if (!whole && !fits(smallest, allowed)) return [];
      const kept = whole ? text : firstWithin(text, allowed);
      left = minus(left, costOf(kept));
      return [kept];
    },
    left: () => left,
    cut: () => cut,
  };
}
