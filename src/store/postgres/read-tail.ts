import type { Query } from './database.ts';
import { maxPageBytes } from './run-pages.ts';
import { statements } from './statements.ts';

/** One batch of one run, as a stream tells it. */
export interface TailRow {
  /** Where the stream goes on after it. */
  cursor: string;
  run: string;
  seq: number;
  /** The batch as JSON text, without key and reply. */
  batch: string;
}

export interface TailPage {
  rows: TailRow[];
  /** Where the stream goes on after all of them. */
  cursor: string;
  /** What follows is read at once: this was all that is read at a time. */
  more?: true;
  /** The cursor that was given is none of this database: it is from the future. */
  reset?: true;
}

/**
 * The batches of a project in the order of their transactions' numbers; of those, only numbers below which none is
 * under way, so that one that commits late is never skipped. A cursor is always the number of a transaction that was
 * seen committed: numbers that were given out and lost in a crash are given out again.
 */
export async function readTail(
  query: Query,
  project: number,
  after: string | undefined,
  limit: number,
): Promise<TailPage> {
  const given = after === undefined || !/^\d{1,18}$/.test(after) ? undefined : after;
  const [head, ...rows] = await query(statements.tail, [project, given ?? null, limit, maxPageBytes]);
  const fromFuture = given !== undefined && BigInt(given) > BigInt(String(head?.[0] ?? 0));
  if (given === undefined || fromFuture) {
    const cursor = String(rows[0]?.[0] ?? '0');
    return { rows: [], cursor, ...(after === undefined ? {} : { reset: true }) };
  }
  const told = rows.map(
    ([tx, run, seq, batch]): TailRow => ({
      cursor: String(tx),
      run: String(run),
      seq: Number(seq),
      batch: String(batch),
    }),
  );
  const bytes = told.reduce((sum, { batch }) => sum + Buffer.byteLength(batch), 0);
  const more = told.length >= limit || bytes >= maxPageBytes;
  return { rows: told, cursor: told.at(-1)?.cursor ?? given, ...(more ? { more } : {}) };
}
