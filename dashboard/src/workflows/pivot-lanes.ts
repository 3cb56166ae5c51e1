import type { Pivot } from '../api-types.ts';

/** All pivots to one step: a trunk up to it, with a branch from each step that may go back. */
export interface Trunk {
  to: number;
  /** The last step with a branch. */
  last: number;
  /** How far from the cards it is: 0 is the nearest. */
  lane: number;
  branches: Branch[];
}

export interface Branch extends Pick<Pivot, 'from' | 'causes'> {
  /** Tells the branches of one step apart: 0 is the lowest. */
  slot: number;
}

/** Short trunks are inside long ones, and no two in one lane share a step. */
export function trunksOf(pivots: readonly Pivot[]): Trunk[] {
  const branchesOf = (to: number): Branch[] =>
    pivots
      .filter((pivot) => pivot.to === to)
      .map((pivot) => ({
        from: pivot.from,
        causes: pivot.causes,
        slot: pivots.filter(({ from }) => from === pivot.from).indexOf(pivot),
      }));
  const all = [...new Set(pivots.map(({ to }) => to))].map((to) => {
    const branches = branchesOf(to);
    return { to, last: Math.max(...branches.map(({ from }) => from)), branches };
  });
  const placed: Trunk[] = [];
  for (const trunk of all.sort((a, b) => a.last - a.to - (b.last - b.to) || a.to - b.to)) {
    const taken = new Set(placed.filter((each) => overlap(each, trunk)).map(({ lane }) => lane));
    let lane = 0;
    while (taken.has(lane)) lane++;
    placed.push({ ...trunk, lane });
  }
  return placed;
}

const overlap = (a: Pick<Trunk, 'to' | 'last'>, b: Pick<Trunk, 'to' | 'last'>): boolean =>
  a.to <= b.last && b.to <= a.last;
