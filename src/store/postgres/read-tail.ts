import type { Query } from './database.ts';
import { statements } from './statements.ts';

/** The approximate limit of one read; streams read on as their readers do. */
const maxTailBytes = 2 ** 20;

/** One batch of a stream. */
export interface TailRow {
  /** The cursor after this row. */
  cursor: string;
  run: string;
  seq: number;
  /** JSON without key and reply. */
  batch: string;
}

export interface TailPage {
  rows: TailRow[];
  /** The cursor after all rows. */
  cursor: string;
  /** More rows are available now. */
  more?: true;
  /** The given cursor is invalid or ahead of this database. */
  reset?: true;
}

/**
 * Reads the batches of a project in the order of their transaction numbers, up to the oldest transaction in progress, so
 * that a late commit is never skipped. A cursor is always the number of a committed transaction, because numbers lost in
 * a crash are assigned again.
 */
export async function readTail(
  query: Query,
  project: number,
  after: string | undefined,
  limit: number,
): Promise<TailPage> {
  const given = after === undefined || !/^\d{1,18}$/.test(after) ? undefined : after;
  const [head, ...rows] = await query(statements.tail, [project, given ?? null, limit, maxTailBytes]);
  const fromFuture = given !== undefined && BigInt(given) > BigInt(String(head?.[0] ?? 0));
  if (given === undefined || fromFuture) {
    const cursor = String(rows[0]?.[0] ?? '0');
    return { rows: [], cursor, ...(after === undefined ? {} : { reset: true }) };
  }
  const batches = rows.map(
    ([tx, run, seq, batch]): TailRow => ({
      cursor: String(tx),
      run: String(run),
      seq: Number(seq),
      batch: String(batch),
    }),
  );
  const bytes = batches.reduce((sum, { batch }) => sum + Buffer.byteLength(batch), 0);
  const more = batches.length >= limit || bytes >= maxTailBytes;
  return { rows: batches, cursor: batches.at(-1)?.cursor ?? given, ...(more ? { more } : {}) };
}
