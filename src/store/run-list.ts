import type { Definition, State } from '../machine/index.ts';
import type { RunInfo } from './store.ts';

export const infoOf = (run: string, { keep }: Definition, state: State): RunInfo => ({ run, state, keep });

/** Sorted by start time; runs that cannot be loaded come last. */
export const newestFirst = (runs: RunInfo[]): RunInfo[] =>
  runs.sort((a, b) => (b.state?.createdAt ?? -1) - (a.state?.createdAt ?? -1) || (a.run < b.run ? -1 : 1));
