import type { Loaded, RunInfo, StoredEntry } from '../../store/index.ts';
import type { Executed } from '../engine.ts';

/** Of a start and a command. A refusal of the machine is a 200 with the refusal as `reply`. */
export interface ExecutedAnswer extends Omit<Executed, 'view'> {
  view?: ViewAnswer;
}

/** The run after a call, for a caller that asks for it with the header `Prefer`. The client has the definition. */
export type ViewAnswer = Pick<Loaded, 'hash' | 'state' | 'version'>;

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

/** `GET /v1/runs/:run/watch?after=&ms=`: the sequence number when the run has changed, or after `ms`. */
export interface WatchAnswer {
  seq: number;
  view?: ViewAnswer;
}
