import type { Engine, RunsAnswer } from '../engine/index.ts';
import type { Definition } from '../machine/index.ts';
import type { Scope } from '../schema/index.ts';

/** A stored token. The secret itself is not stored. */
export interface TokenRecord {
  id: string;
  project: { id: number; name: string };
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

/** One batch of one run in the event stream. */
export interface TailRow {
  /** The stream resumes after this cursor. */
  cursor: string;
  run: string;
  seq: number;
  /** The batch as one line of JSON, without key and reply. */
  batch: string;
}

export interface Tail {
  rows: TailRow[];
  /** Everything up to this cursor has been read. */
  cursor: string;
  /** The given cursor is ahead of this database, so it came from another one. */
  reset?: true;
  /** The page is full and more rows follow. */
  more?: true;
}

export interface Page {
  live?: boolean | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** `runs`: a batch was committed. `tokens`: a token was created or revoked. */
export type Wake = 'runs' | 'tokens';
/** Without `projects`, any project may have changed. */
export type WakeListener = (wake: Wake, projects?: ReadonlySet<number>) => void;

/** Session records for callers without a working tree. */
export interface ProjectSessions {
  /** Records that a session takes part in a run. Idempotent. */
  join(session: string, run: string, now: number): Promise<void>;
  /** The runs of a session, most recently joined first. */
  runsOf(session: string, limit: number): Promise<RunsAnswer['runs']>;
  /** The latest pinned definition of each workflow name, or of the given name only. */
  definitions(limit: number, name?: string): Promise<Definition[]>;
}

/** Storage for the HTTP server, across projects. Queries for one project never return data of another. */
export interface Backend {
  engine(project: number): Engine;
  /** Newest first. */
  page(project: number, page: Page): Promise<RunsAnswer>;
  sessions(project: number): ProjectSessions;
  /** Batches after the cursor in stream order. Without a cursor, returns only the current one. */
  tail(project: number, after: string | undefined, limit: number): Promise<Tail>;
  /** The listener is also called every few seconds without a change. Returns an unsubscribe function. */
  onWake(listener: WakeListener): () => void;
  /** Looks up a token by its SHA-256 in hex. Revoked tokens are not found. */
  findToken(hash: string): Promise<TokenRecord | undefined>;
  projectNamed(name: string): Promise<{ id: number; name: string } | undefined>;
  /** Throws StepfastError if the database or its schema is unusable. */
  ready(): Promise<void>;
  /** Connection counts, if the backend uses a pool. */
  pool?(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}
