/** Random numbers from a seed (mulberry32). */
export class Dice {
  #seed: number;
  constructor(seed: number) {
    this.#seed = seed;
  }
  roll(sides: number): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }
  pick<T>(items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : items[this.roll(items.length)];
  }
  one(sides: number): boolean {
    return this.roll(sides) === 0;
  }
}
