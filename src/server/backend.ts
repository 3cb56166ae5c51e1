import type { Engine, RunsAnswer } from '../engine/index.ts';
import type { Definition } from '../machine/index.ts';
import type { Scope } from '../schema/index.ts';

/** A token as it is known: the secret itself is nowhere. */
export interface TokenRecord {
  id: string;
  project: { id: number; name: string };
  kind: 'agent' | 'person';
  name: string;
  scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

/** One batch of one run, as the stream tells it. */
export interface TailRow {
  /** Where the stream goes on after it. */
  cursor: string;
  run: string;
  seq: number;
  /** The batch as JSON text of one line, without key and reply. */
  batch: string;
}

export interface Tail {
  rows: TailRow[];
  /** Everything up to here was told, rows or not. */
  cursor: string;
  /** The cursor that was given is none of this database: it is from the future. */
  reset?: true;
  /** What follows did not fit. */
  more?: true;
}

export interface Page {
  live?: boolean;
  /** The `next` of the page before. */
  after?: string;
  limit: number;
}

/** What woke somebody: a batch was committed somewhere, or a token was made or revoked. */
export type Wake = 'runs' | 'tokens';
/** Without projects: any may be meant. */
export type WakeListener = (wake: Wake, projects?: ReadonlySet<number>) => void;

/** What is asked by those who have no tree. */
export interface ProjectSessions {
  /** Remembers that a session takes part in a run; a second time changes nothing. */
  join(session: string, run: string, now: number): Promise<void>;
  /** The runs of a session, the one that it joined last first. */
  runsOf(session: string, limit: number): Promise<RunsAnswer['runs']>;
  /** The definitions that runs have pinned last, one a name; only that of the name where one is given. */
  definitions(limit: number, name?: string): Promise<Definition[]>;
}

/** Everything below the HTTP server, of all projects. What is asked of one project never tells of another. */
export interface Backend {
  engine(project: number): Engine;
  /** Newest first. */
  page(project: number, page: Page): Promise<RunsAnswer>;
  sessions(project: number): ProjectSessions;
  /** Batches after the cursor, in the order of the stream; without one only where the stream stands now. */
  tail(project: number, after: string | undefined, limit: number): Promise<Tail>;
  /** Also called every few seconds though nothing happened; answers how to stop listening. */
  onWake(listener: WakeListener): () => void;
  /** By the SHA-256 of the whole token, in hex; what is revoked is not found. */
  findToken(hash: string): Promise<TokenRecord | undefined>;
  projectNamed(name: string): Promise<{ id: number; name: string } | undefined>;
  /** Throws StepfastError where the database or its schema cannot be used. */
  ready(): Promise<void>;
  /** Connections, where there is a pool of them. */
  pool?(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}
