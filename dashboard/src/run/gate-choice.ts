import type { CheckPage, GatePage } from '../api-types.ts';

/** The gate whose log is shown. */
export interface Shown {
  check: string;
  gate: number;
}

/** Of the newest check, the first gate that failed; else one that runs; else its first. */
export function firstShown([newest]: readonly CheckPage[]): Shown | undefined {
  return newest && worstIn(newest);
}

export function worstIn({ id, gates }: CheckPage): Shown {
  const find = (state: GatePage['state']): number => gates.findIndex((gate) => gate.state === state);
  const index = [find('fail'), find('running'), 0].find((each) => each >= 0) ?? 0;
  return { check: id, gate: index };
}
