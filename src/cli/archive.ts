import { createHash } from 'node:crypto';
import { hashDefinition } from '../definition/index.ts';
import { StepfastError } from '../errors.ts';
import { type Definition, type EventType, replay, type State } from '../machine/index.ts';
import type { Runtime } from '../runtime/index.ts';

type Store = Runtime['store'];
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

/** Complete by its type: what the machine does not know it would pass over in silence. */
const eventTypes: Record<EventType, true> = {
  'run.started': true,
  'run.adopted': true,
  'run.imported': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'run.blocked': true,
  'run.rewound': true,
  'run.pivoted': true,
  'step.entered': true,
  'step.completed': true,
  'position.entered': true,
  'position.completed': true,
  'position.failed': true,
  'position.blocked': true,
  'tasks.set': true,
  'task.ended': true,
  'lease.renewed': true,
  'gates.requested': true,
  'gates.started': true,
  'gates.finished': true,
  'gates.interrupted': true,
  'review.requested': true,
  'review.decided': true,
  'budget.spent': true,
  'budget.exhausted': true,
  'budget.extended': true,
  'question.asked': true,
  'question.answered': true,
  'note.added': true,
  'todo.replaced': true,
  'file.read': true,
  'boundary.requested': true,
  'boundary.reset': true,
  'boundary.released': true,
  'briefing.delivered': true,
  'session.started': true,
  'session.ended': true,
  'session.reset': true,
  'stop.held': true,
};

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

/** Every long text that the entries name. */
export function digestsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('opening' in value && 'digest' in value && typeof value.digest === 'string') return [value.digest];
  return [...new Set(Object.values(value).flatMap(digestsIn))];
}

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
  // Trust hangs on the hash, so it is never taken from a file.
  if (hashDefinition(archive.definition) !== hash)
    throw bad('has another workflow than its hash says: it was edited.');
  const types = archive.entries.flatMap(({ events }) => events.map((event) => String(event?.type)));
  const unknown = types.find((type) => !Object.hasOwn(eventTypes, type));
  if (unknown !== undefined)
    throw bad(`tells of '${unknown.slice(0, 40)}', which is not known here: update Stepfast.`);
  const missing = digestsIn(entries).find((digest) => !Object.hasOwn(archive.texts, digest));
  if (missing !== undefined) throw bad(`lacks the text ${missing.slice(0, 19)}…: export the run again.`);
  if (digest !== digestOf(document)) throw bad('was changed after it was written: export the run again.');
  return archive;
}

/** The state after each entry. Throws `bad_archive` where the machine cannot follow. */
export function replayArchive({ run, definition, entries }: Archive, file: string): State[] {
  let state: State | null = null;
  return entries.map(({ events }, index) => {
    try {
      state = replay(definition, state, events);
      if (state.run !== run) throw new Error(`it is the run ${state.run}`);
      return state;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `'${file}' does not replay, entry ${index + 1} of ${entries.length}: ${why}`;
      throw new StepfastError('bad_archive', message, { cause });
    }
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
