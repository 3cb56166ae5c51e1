import { createHash } from 'node:crypto';
import { commandName } from '../command-name.ts';
import { StepfastError } from '../errors.ts';
import type { Definition, State } from '../machine/index.ts';
import { digestsIn, type LocalRuntime, matchesHash, unknownEvent, verifiedStates } from '../runtime/index.ts';

type Store = LocalRuntime['store'];
type StoredEntry = Awaited<ReturnType<Store['entries']>>[number];
type Entry = Omit<StoredEntry, 'seq' | 'hash'>;

/** A run as one JSON document. */
export interface Archive {
  stepfast: 'run';
  version: 1;
  run: string;
  hash: string;
  definition: Definition;
  entries: Entry[];
  /** Long texts by their digest. */
  texts: Record<string, string>;
  /** Hash of everything else in the document. */
  digest: string;
}

export function archiveOf(
  run: string,
  { definition, hash }: { definition: Definition; hash: string },
  entries: readonly StoredEntry[],
  texts: Record<string, string>,
): Archive {
  const bare = entries.map(({ seq: _, hash: __, ...entry }) => entry);
  const archive = {
    stepfast: 'run' as const,
    version: 1 as const,
    run,
    hash,
    definition,
    entries: bare,
    texts,
  };
  return { ...archive, digest: digestOf(archive) };
}

const digestOf = (document: object): string =>
  `sha256:${createHash('sha256').update(JSON.stringify(document)).digest('hex')}`;

/** Throws `bad_archive` with the problem. */
export function readArchive(text: string, file: string): Archive {
  const bad = (what: string): StepfastError => new StepfastError('bad_archive', `'${file}' ${what}`);
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw bad('is not JSON: export the run again.');
  }
  if (!isObject(read) || read.stepfast !== 'run')
    throw bad(`is not an exported run. Create one with: ${commandName()} export`);
  if (read.version !== 1)
    throw bad(`has version ${String(read.version)}, but only 1 is supported: update Stepfast.`);
  const { digest, ...document } = read;
  const { run, hash, definition, entries, texts } = document;
  const whole =
    typeof run === 'string' &&
    typeof hash === 'string' &&
    isObject(definition) &&
    Array.isArray(entries) &&
    entries.length > 0 &&
    entries.every(
      (entry) => isObject(entry) && Array.isArray(entry.events) && typeof entry.now === 'number',
    ) &&
    isObject(texts) &&
    Object.values(texts).every((each) => typeof each === 'string');
  if (!whole) throw bad('is incomplete: export the run again.');
  // Its parts were checked above; the replay validates the events.
  const archive = read as unknown as Archive;
  if (!matchesHash(archive)) throw bad('has a workflow that does not match its hash: it was edited.');
  const unknown = unknownEvent(archive.entries);
  if (unknown !== undefined) throw bad(`has the unknown event '${unknown}': update Stepfast.`);
  const missing = digestsIn(entries).find((digest) => !Object.hasOwn(archive.texts, digest));
  if (missing !== undefined) throw bad(`misses the text ${missing.slice(0, 19)}…: export the run again.`);
  if (digest !== digestOf(document)) throw bad('was edited after the export: export the run again.');
  return archive;
}

/** The state after each entry. Throws `bad_archive` if the entries do not replay. */
export function replayArchive({ run, entries, ...pinned }: Archive, file: string): State[] {
  try {
    return verifiedStates(run, pinned, entries);
  } catch (cause) {
    if (!(cause instanceof StepfastError)) throw cause;
    throw new StepfastError('bad_archive', `'${file}' ${cause.message}`, { cause });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
