import { StepfastError } from '../../errors.ts';
import type { Pinned, StoredEntry } from '../store.ts';
import { entryOf } from './accept-lines.ts';
import { genesis, parseLines, type ValidLine } from './journal.ts';

/** A batch with its original bytes. Other machines must keep them unchanged, because the hashes cover them. */
export interface HistoryLine extends StoredEntry {
  machine: string;
  bytes: Uint8Array;
  /** What the batch says, without its place in a chain: an imported run has other hashes and the same content. */
  content: string;
}

/** A run's accepted history, without lost races and torn lines. */
export interface RunHistory {
  run: string;
  pinned: Pinned;
  lines: HistoryLine[];
}

/** `behind`: theirs continues mine; `ahead`: mine continues theirs; `foreign`: even the first batch differs. */
export type HistoryRelation = 'equal' | 'behind' | 'ahead' | 'diverged' | 'foreign';

type ComparedLine = Pick<HistoryLine, 'hash'> & Partial<Pick<HistoryLine, 'content'>>;

/** Compares two histories of a run; `common` is the number of shared batches. */
export function compareHistories(
  mine: readonly ComparedLine[],
  theirs: readonly ComparedLine[],
): { relation: HistoryRelation; common: number } {
  const shorter = Math.min(mine.length, theirs.length);
  let common = 0;
  // The last common hash would be enough only if both chains were verified, so every hash is compared.
  while (common < shorter && isSameBatch(mine[common], theirs[common])) common += 1;
  if (common < shorter) return { relation: common === 0 ? 'foreign' : 'diverged', common };
  if (mine.length === theirs.length) return { relation: 'equal', common };
  return { relation: mine.length < theirs.length ? 'behind' : 'ahead', common };
}

const isSameBatch = (one: ComparedLine | undefined, other: ComparedLine | undefined): boolean =>
  one?.hash === other?.hash || (one?.content !== undefined && one.content === other?.content);

/** One line per batch: the same bytes on every machine. */
export const encodeHistory = (lines: readonly HistoryLine[]): Uint8Array =>
  Buffer.concat(lines.flatMap(({ bytes }) => [bytes, newline]));

const newline = Buffer.from('\n');

/** Parses an untrusted history, which must consist of accepted lines only. Throws `bad_history`. */
export function parseHistory(run: string, bytes: Uint8Array): RunHistory {
  const lines: HistoryLine[] = [];
  let pinned: Pinned | undefined;
  let last = genesis(run);
  for (const found of parseLines(bytes)) {
    const { number } = found;
    if (found.kind === 'newer')
      throw bad('newer', `line ${number} was written by a newer Stepfast: update Stepfast`, number);
    if (found.kind === 'bad') throw bad('incomplete', `line ${number} is incomplete`, number);
    if (found.line.seq !== lines.length + 1 || found.line.prev !== last)
      throw bad('order', `line ${number} does not continue the line before it`, number);
    if (!hasShape(found.line, lines.length)) throw bad('shape', `line ${number} is not a batch`, number);
    pinned ??= found.line.pinned;
    last = found.hash;
    lines.push(historyLine(found, bytes));
  }
  if (!pinned) throw bad('empty', 'the history is empty');
  return { run, pinned, lines };
}

export const historyLine = (found: ValidLine, bytes: Uint8Array): HistoryLine => ({
  ...entryOf(found),
  machine: found.line.machine,
  bytes: bytes.subarray(found.offset, found.end),
  content: contentOf(found.line),
});

const contentOf = ({
  now,
  actor,
  session,
  key,
  fingerprint,
  reply,
  pinned,
  events,
}: ValidLine['line']): string =>
  JSON.stringify([now, actor, session, key, fingerprint, reply, pinned?.hash, events]);

const bad = (problem: string, message: string, line?: number): StepfastError =>
  new StepfastError('bad_history', message, { data: { problem, line } });

/** A valid checksum proves nothing about an untrusted line, so its fields are checked. */
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

/** Whether the value has the fields of a batch. Of events only the type is checked. */
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

/** Later times are refused, so that every time can be formatted. */
const latest = Date.UTC(2126, 0);

const isWord = (value: unknown): boolean => typeof value === 'string' && value.length <= 1000;

/** A stored reply: a refusal or a status, checked as far as readers use it. */
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
