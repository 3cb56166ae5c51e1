import type { Caller, Definition, Event, LongText, State } from '../machine/index.ts';

/** The last accepted batch of a run. */
export interface Version {
  seq: number;
  hash: string;
}

/** The batch of one command. */
export interface Entry {
  now: number;
  actor?: NonNullable<Caller['actor']>;
  session?: string;
  events: Event[];
  /** The caller's idempotency key, with the fingerprint and the reply of its call. */
  key?: string;
  /** Absent in batches of older versions. */
  fingerprint?: string | undefined;
  reply?: unknown;
}

export interface StoredEntry extends Entry, Version {}

/** The resolved definition that a run is pinned to. */
export interface Pinned {
  definition: Definition;
  hash: string;
}

export type Repeated = Pick<Entry, 'fingerprint' | 'reply'>;

export const repeatedIn = ({ fingerprint, reply }: Entry): Repeated => ({ reply, fingerprint });

export interface Loaded extends Pinned {
  run: string;
  state: State;
  version: Version;
  /** The earlier use of the given key. */
  repeated?: Repeated;
}

/** A run in a list; `problem` is set if it cannot be loaded. */
export interface RunInfo {
  run: string;
  state?: State;
  /** Whether the workflow keeps ended runs; absent means yes. */
  keep?: boolean | undefined;
  problem?: string;
}

/**
 * Stores runs. Only `execute` may use it: it bypasses all checks of the machine.
 * Results are durable before they are returned. Throws StepfastError: `store_forked`, `store_corrupt`, `store_newer`,
 * `store_failed` (the outcome is unknown: repeat the call with its handle or key).
 */
export interface Store {
  /** Creates a run with its first batch; `taken` if the id exists. */
  create(run: string, pinned: Pinned, entry: Entry, state: State): Promise<Version | 'taken'>;
  /** undefined if there is no such run. */
  load(run: string, key?: string): Promise<Loaded | undefined>;
  /**
   * `state` is the loaded state after the events. `conflict`: another writer was first, or the run came from `recent`
   * and the key was used before; nothing was written.
   */
  append(loaded: Loaded, entry: Entry, state: State): Promise<Version | 'conflict'>;
  /**
   * The last seen state of a run, synchronously and frozen. It may be outdated, which only `append` detects. After a
   * conflict it is the state that `append` found, if any.
   */
  recent?(run: string): Loaded | undefined;
  /** Accepted batches after `after`, in order, at most `most`. Verifies the chain of what it returns. */
  entries(run: string, after?: number, most?: number): Promise<StoredEntry[]>;
  /** Ids of all runs, or of runs that are `name` or end with `-name`; unsorted; cheap. */
  ids(name?: string): Promise<string[]>;
  /** All runs, newest first. */
  list(): Promise<RunInfo[]>;
  remove(run: string): Promise<void>;
  /** Stores a long text, durably before the batch that refers to it. */
  keep(run: string, text: string): Promise<LongText>;
  text(run: string, digest: string): Promise<string | undefined>;
  /** Resolves when the run has a batch after `seq`, or after `ms`, or on abort: some stores wait on. */
  watch(run: string, seq: number, ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Runs one action at a time per run in this process, in order, so that its writers never conflict. `shared`: another
   * process has just written to the run too, so a writer should lock it at once.
   */
  inTurn?<T>(run: string, action: (shared: boolean) => Promise<T>): Promise<T>;
  /** Runs `action` with a store that holds the run's lock, for runs with writers in several processes. */
  locked?<T>(run: string, action: (store: Store) => Promise<T>): Promise<T>;
}
