import { hash } from 'node:crypto';
import { StepfastError } from '../../errors.ts';
import { genesis } from '../file/journal.ts';
import { journalVersion, migrateLine, newerError } from '../journal-version.ts';
import type { Entry, StoredEntry, Version } from '../store.ts';

/** A batch as a row. `answered` is a separate column, because streams do not include it. */
export interface Batch extends Version {
  body: string;
  /** JSON of the caller's key, fingerprint and reply. */
  answered: string | null;
}

/** `nonce` makes every batch unique, so that its hash identifies the call. */
export function encodeBatch(prev: Version, entry: Entry, nonce: string): Batch {
  const { now, actor, session, events, key, fingerprint, reply } = entry;
  const body = JSON.stringify({ v: journalVersion, nonce, now, actor, session, events });
  const answered =
    key === undefined && reply === undefined ? null : JSON.stringify({ key, fingerprint, reply });
  const seq = prev.seq + 1;
  return { seq, hash: sum(prev.hash, seq, body, answered), body, answered };
}

export const beforeFirst = (run: string): Version => ({ seq: 0, hash: genesis(run) });

/** Verifies and decodes the batches that follow `from`; `last` is the version in the run's row, if they reach it. */
export function decodeBatches(
  run: string,
  batches: readonly Batch[],
  { from = beforeFirst(run), last }: { from?: Version; last?: Version | undefined },
): StoredEntry[] {
  let before = from;
  const entries = batches.map(({ seq, hash: found, body, answered }) => {
    if (seq !== before.seq + 1 || found !== sum(before.hash, seq, body, answered))
      throw corrupt(run, `batch ${before.seq + 1} is missing or was modified`);
    before = { seq, hash: found };
    return { ...before, ...contentOf(run, body), ...answerOf(answered) };
  });
  if (last && before.hash !== last.hash) throw corrupt(run, `batches after ${before.seq} are missing`);
  return entries;
}

export const answerOf = (answered: string | null): Pick<Entry, 'key' | 'fingerprint' | 'reply'> =>
  answered === null ? {} : JSON.parse(answered);

function contentOf(run: string, body: string): Entry {
  const content = JSON.parse(body);
  const line = migrateLine(content);
  if (!line) throw newerError(run, Number(content.v));
  const { v: _v, nonce: _nonce, ...entry } = line;
  // The hash shows that Stepfast wrote it, and the version defines its shape.
  return entry as unknown as Entry;
}

export const corrupt = (run: string, what: string): StepfastError =>
  new StepfastError(
    'store_corrupt',
    `run '${run}' is damaged in the database: ${what}: restore it from a backup`,
    { data: { run, home: 'server' } },
  );

const sum = (prev: string, seq: number, body: string, answered: string | null): string =>
  hash('sha256', `${prev}\n${seq}\n${body}\n${answered ?? ''}`, 'hex').slice(0, 32);

/** Keys may have any length and any character, columns may not. */
export const keyDigest = (key: string): string =>
  // UTF-16, because UTF-8 maps different lone surrogates to the same bytes.
  hash('sha256', Buffer.from(key, 'utf16le'), 'hex').slice(0, 32);
