import { StepfastError } from '../../errors.ts';
import type { Pinned, StoredEntry } from '../store.ts';
import { entryOf } from './accept-lines.ts';
import { genesis, parseLines, type ValidLine } from './journal.ts';

/** A batch with its bytes, which other machines must keep as they are: every hash hangs on them. */
export interface HistoryLine extends StoredEntry {
  machine: string;
  bytes: Uint8Array;
}

/** A run's accepted history, and nothing of what races and crashes left. */
export interface RunHistory {
  run: string;
  pinned: Pinned;
  lines: HistoryLine[];
}

/** `behind`: theirs goes on where mine ends; `ahead`: mine does; `foreign`: not even the first batch is the same. */
export type HistoryRelation = 'equal' | 'behind' | 'ahead' | 'diverged' | 'foreign';

/** How two histories of one run relate; `common` is how many batches both have. */
export function compareHistories(
  mine: readonly { hash: string }[],
  theirs: readonly { hash: string }[],
): { relation: HistoryRelation; common: number } {
  const shorter = Math.min(mine.length, theirs.length);
  let common = 0;
  // A hash stands for all that came before it, but only where it was checked: every one is compared.
  while (common < shorter && mine[common]?.hash === theirs[common]?.hash) common += 1;
  if (common < shorter) return { relation: common === 0 ? 'foreign' : 'diverged', common };
  if (mine.length === theirs.length) return { relation: 'equal', common };
  return { relation: mine.length < theirs.length ? 'behind' : 'ahead', common };
}

/** One line a batch: the same bytes on every machine. */
export const encodeHistory = (lines: readonly HistoryLine[]): Uint8Array =>
  Buffer.concat(lines.flatMap(({ bytes }) => [bytes, newline]));

const newline = Buffer.from('\n');

/**
 * A history that came from elsewhere: nothing in it is taken on trust, and nothing but the accepted lines may be there.
 * Throws `bad_history`.
 */
export function parseHistory(run: string, bytes: Uint8Array): RunHistory {
  const lines: HistoryLine[] = [];
  let pinned: Pinned | undefined;
  let last = genesis(run);
  for (const found of parseLines(bytes)) {
    const { number } = found;
    if (found.kind === 'newer') throw bad(`line ${number} was made by a newer Stepfast: update Stepfast`);
    if (found.kind === 'bad') throw bad(`line ${number} is not whole`);
    if (found.line.seq !== lines.length + 1 || found.line.prev !== last)
      throw bad(`line ${number} does not follow on the one before`);
    if (!hasShape(found.line, lines.length)) throw bad(`line ${number} is no batch`);
    pinned ??= found.line.pinned;
    last = found.hash;
    lines.push(historyLine(found, bytes));
  }
  if (!pinned) throw bad('it is empty');
  return { run, pinned, lines };
}

export const historyLine = (found: ValidLine, bytes: Uint8Array): HistoryLine => ({
  ...entryOf(found),
  machine: found.line.machine,
  bytes: bytes.subarray(found.offset, found.end),
});

const bad = (why: string): StepfastError => new StepfastError('bad_history', why);

/** A checksum is easily made: what a line says of itself is looked at. */
function hasShape(line: unknown, index: number): boolean {
  if (!isObject(line)) return false;
  const { v, machine, nonce, pinned } = line;
  return (
    Number.isSafeInteger(v) &&
    isWord(machine) &&
    isWord(nonce) &&
    (index === 0 ? isPinned(pinned) : pinned === undefined) &&
    isBatch(line)
  );
}

/** Has the parts of a batch; its events are known only by their type then. */
export function isBatch(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const { now, actor, session, key, fingerprint, reply, events } = entry;
  return (
    typeof now === 'number' &&
    Math.abs(now) <= latest &&
    (actor === undefined || isActor(actor)) &&
    (session === undefined || isWord(session)) &&
    (key === undefined || isWord(key)) &&
    (fingerprint === undefined || isWord(fingerprint)) &&
    (reply === undefined || isReply(reply)) &&
    Array.isArray(events) &&
    events.every((event) => isObject(event) && typeof event.type === 'string')
  );
}

/** Every date until then can be shown. */
const latest = Date.UTC(2126, 0);

const isWord = (value: unknown): boolean => typeof value === 'string' && value.length <= 1000;

/** What whoever repeats a key is answered: a refusal or a status, as far as every reader looks into it. */
function isReply(reply: unknown): boolean {
  if (!isObject(reply)) return false;
  const texts = (...names: string[]): boolean => names.every((name) => typeof reply[name] === 'string');
  if ('code' in reply) return texts('code', 'message', 'next');
  return texts('run', 'status', 'step', 'next') && isObject(reply.phase) && isObject(reply.progress);
}

const isActor = (actor: unknown): boolean =>
  isObject(actor) &&
  ['agent', 'person', 'engine'].includes(String(actor.kind)) &&
  (actor.name === undefined || isWord(actor.name));

const isPinned = (pinned: unknown): boolean =>
  isObject(pinned) && typeof pinned.hash === 'string' && isObject(pinned.definition);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
