import type { BareKind } from './bare.ts';
import type { Measured } from './load.ts';

export const clientCounts = [1, 16, 64] as const;

/** `either`: any call of a run may go to any of the two servers. */
export type Way = BareKind | 'inProcess' | 'http' | 'either';
export const ways: readonly Way[] = ['bare', 'append', 'inProcess', 'http', 'either'];
export type Figures = Record<Way, Record<number, Measured>>;

/** A database of some size. */
export interface Point {
  runs: number;
  /** A thousand runs are worked on, spread over all. */
  spread: Measured;
  /** Any of all runs. */
  anywhere: Measured;
}
