/**
 * What the file store asks of a file system, one call at a time, so that a test can crash between any two of them.
 * Errors are Node's own, with their `code`.
 */
export interface Files {
  /** The bytes from an offset on; undefined where there is no such file. */
  read(path: string, from?: number): Promise<Uint8Array | undefined>;
  /** The size in bytes; undefined where there is no such file. */
  size(path: string): Promise<number | undefined>;
  /**
   * One `O_APPEND` write; creates the file. Answers how many bytes were taken, which may be fewer. With `only` it creates
   * nothing and answers -1 where the file does not hold: the one that was looked at is the one that is written, also
   * where another takes its name in between.
   */
  append(path: string, bytes: Uint8Array, only?: AppendCondition): Promise<number>;
  /** Creates the file with these bytes; EEXIST where it is there. Answers how many were taken. */
  create(path: string, bytes: Uint8Array): Promise<number>;
  /** Makes the file's bytes durable. */
  sync(path: string): Promise<void>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for the same file; EEXIST where the name is taken. Not every file system has them. */
  link(from: string, to: string): Promise<void>;
  /** Not recursive; EEXIST where it is there. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory; empty where there is none. */
  names(path: string): Promise<string[]>;
  /** A file, or a directory with all it holds; nothing where there is none. */
  remove(path: string): Promise<void>;
  sleep(ms: number): Promise<void>;
}

/** What a file has to say from an offset on. */
export interface AppendCondition {
  from: number;
  holds(bytes: Uint8Array): boolean;
}

export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
