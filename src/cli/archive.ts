import { createHash } from 'node:crypto';
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
  /** Of everything else in the document. */
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

/** Throws `bad_archive`, naming what is wrong. */
export function readArchive(text: string, file: string): Archive {
  const bad = (what: string): StepfastError => new StepfastError('bad_archive', `'${file}' ${what}`);
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw bad('is no JSON: export the run again.');
  }
  if (!isObject(read) || read.stepfast !== 'run')
    throw bad('is no exported run. Make one with: stepfast export');
  if (read.version !== 1)
    throw bad(`has version ${String(read.version)}, and 1 is known here: update Stepfast.`);
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
  if (!whole) throw bad('is not whole: export the run again.');
  // Its parts were looked at just now; what the machine makes of them is seen when it replays.
  const archive = read as unknown as Archive;
  if (!matchesHash(archive)) throw bad('has another workflow than its hash says: it was edited.');
  const unknown = unknownEvent(archive.entries);
  if (unknown !== undefined) throw bad(`tells of '${unknown}', which is not known here: update Stepfast.`);
  const missing = digestsIn(entries).find((digest) => !Object.hasOwn(archive.texts, digest));
  if (missing !== undefined) throw bad(`lacks the text ${missing.slice(0, 19)}…: export the run again.`);
  if (digest !== digestOf(document)) throw bad('was changed after it was written: export the run again.');
  return archive;
}

/** The state after each entry. Throws `bad_archive` where the machine cannot follow. */
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
