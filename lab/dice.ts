/** Seeded random numbers from 0 to 1. */
export function createDice(...seeds: readonly number[]): () => number {
  let state = seeds.reduce((sum, seed) => Math.imul(sum ^ (seed + 0x9e3779b9), 0x85ebca6b) >>> 0, 1);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
