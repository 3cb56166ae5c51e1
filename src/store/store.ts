import type { Caller, Definition, Event, LongText, State } from '../machine/index.ts';

/** The last accepted batch of a run. */
export interface Version {
  seq: number;
  hash: string;
}

/** What one command leaves behind. */
export interface Entry {
  now: number;
  actor?: NonNullable<Caller['actor']>;
  session?: string;
  events: Event[];
  /** The caller's idempotency key, with what it was used for and what it was answered. */
  key?: string;
  /** Absent in batches from before it was kept. */
  fingerprint?: string;
  reply?: unknown;
}

export interface StoredEntry extends Entry, Version {}

/** The resolved definition that a run holds on to. */
export interface Pinned {
  definition: Definition;
  hash: string;
}

export type Repeated = Pick<Entry, 'fingerprint' | 'reply'>;

export const repeatedIn = ({ fingerprint, reply }: Entry): Repeated => ({
  reply,
  ...(fingerprint === undefined ? {} : { fingerprint }),
});

export interface Loaded extends Pinned {
  run: string;
  state: State;
  version: Version;
  /** What the given key was used for and answered before. */
  repeated?: Repeated;
}

/** A run in a list; `problem` where it cannot be loaded. */
export interface RunInfo {
  run: string;
  state?: State;
  /** Whether its workflow keeps a run that has ended; absent means yes. */
  keep?: boolean;
  problem?: string;
}

/**
 * Where runs live. Below `execute` only: whoever holds a store decides for everybody.
 * Every answer is durable before it is given. Throws StepfastError: `store_forked`, `store_corrupt`, `store_newer`,
 * `store_failed` (the outcome is unknown: repeat the call with its handle or key).
 */
export interface Store {
  /** Makes a run with its first batch; `taken` where the id exists. */
  create(run: string, pinned: Pinned, entry: Entry, state: State): Promise<Version | 'taken'>;
  /** undefined where there is no such run. */
  load(run: string, key?: string): Promise<Loaded | undefined>;
  /**
   * `state` is what the events make of the loaded one. `conflict`: somebody else was first, or where it was not loaded
   * but recent, its key was used before; nothing was written.
   */
  append(loaded: Loaded, entry: Entry, state: State): Promise<Version | 'conflict'>;
  /**
   * The run as it was seen last, at once. It may be old: only `append` can tell, so that nothing else may rest on it.
   * Frozen. After a conflict it is what was found, or nothing.
   */
  recent?(run: string): Loaded | undefined;
  /** Accepted batches after `seq`, in order, the whole chain verified. */
  entries(run: string, after?: number): Promise<StoredEntry[]>;
  /** Ids of all runs, or of those that are `name` or end with `-name`; in no order; cheap. */
  ids(name?: string): Promise<string[]>;
  /** All runs, newest first. */
  list(): Promise<RunInfo[]>;
  remove(run: string): Promise<void>;
  /** Keeps a long text; durable before the batch that names it. */
  keep(run: string, text: string): Promise<LongText>;
  text(run: string, digest: string): Promise<string | undefined>;
  /** Resolves when the run has moved beyond `seq`, or after `ms`. */
  watch(run: string, seq: number, ms: number): Promise<void>;
  /** While `action` works on the run with the store that it is given, everybody else waits: for a run that many change. */
  locked?<T>(run: string, action: (store: Store) => Promise<T>): Promise<T>;
}
