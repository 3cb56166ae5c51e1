import type { State } from '../../machine/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
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
  runs: ListedRun[];
  next?: string;
}

/** A run in a list: some hundred bytes, however large its state is. */
export interface ListedRun {
  run: string;
  /** Absent if the run cannot be read. `cursors` is for clients that expect some, and empty. */
  state?: Pick<State, 'run' | 'workflow' | 'status' | 'step' | 'createdAt' | 'updatedAt'> & {
    summary?: string | undefined;
    cursors: object;
  };
  /** Where it stands, in a few words. Older servers do not say it, nor what follows. */
  position?: string;
  /** One sentence: what happens now, or how it ended. */
  now?: string;
  tone?: string;
  /** How many things wait for a person. */
  needs?: number;
  /** Of the current loop. */
  tasks?: { done: number; total: number };
  problem?: string;
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
