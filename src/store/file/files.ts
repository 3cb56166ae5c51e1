import type { FileWatch } from '../../watch-file.ts';

/**
 * The file system calls of the file store. Small steps, so that a test can simulate a crash between any two of them.
 * Errors are Node's own, with their `code`.
 */
export interface Files {
  /** The bytes starting at an offset; undefined if the file does not exist. */
  read(path: string, from?: number): Promise<Uint8Array | undefined>;
  /** The size in bytes; undefined if the file does not exist. */
  size(path: string): Promise<number | undefined>;
  /**
   * One `O_APPEND` write; creates the file. Returns the number of bytes written, which may be fewer. With `only` it
   * creates nothing and returns -1 if the condition is false; checks and writes the same open file, even if another file
   * replaces it meanwhile.
   */
  append(path: string, bytes: Uint8Array, only?: AppendCondition): Promise<number>;
  /** Creates the file; EEXIST if it exists. Returns the number of bytes written. */
  create(path: string, bytes: Uint8Array): Promise<number>;
  /** Makes the file's bytes durable. */
  sync(path: string): Promise<void>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Creates a hard link; EEXIST if the name is taken. Not every file system supports it. */
  link(from: string, to: string): Promise<void>;
  /** Not recursive; EEXIST if it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory; empty if it does not exist. */
  names(path: string): Promise<string[]>;
  /** Removes a file or directory with its content; no error if it does not exist. */
  remove(path: string): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** Absent where nothing reports changes. */
  watch?(path: string): FileWatch;
}

/** A condition on the content of a file, starting at an offset. */
export interface AppendCondition {
  from: number;
  holds(bytes: Uint8Array): boolean;
}

export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
