import type { Loaded, RunInfo, StoredEntry } from '../../store/index.ts';

/** `GET /v1/runs/:run`, with `ETag: "<version.hash>"`; 304 for `If-None-Match`. */
export type RunAnswer = Omit<Loaded, 'repeated'>;

/** `GET /v1/runs?live=&after=&limit=`, newest first; `next` is the `after` of the following page. */
export interface RunsAnswer {
  runs: RunInfo[];
  next?: string;
}

/** `GET /v1/runs/:run/entries?after=`. */
export interface EntriesAnswer {
  entries: StoredEntry[];
}
