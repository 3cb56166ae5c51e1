import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isBusy, isReadOnly, isTransient, keepsConnection, outcomeUnknown } from './postgres-errors.ts';

/** Prepared once per connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}
export type Row = readonly unknown[];
export type Query = (statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections of this process. */
  max?: number;
  /** How long a call waits for a free connection, in milliseconds. */
  wait?: number;
  /** How long a call is retried while PostgreSQL is unavailable, in milliseconds. */
  patience?: number;
  /** Statement timeout, in milliseconds. */
  limit?: number;
  /** Called for errors of idle connections. */
  onError?(error: Error): void;
}

/** Connections with the unprivileged role of servers. */
export interface Database {
  /** Retries after a lost connection, so the statement must be idempotent. */
  query: Query;
  /** Never retries. `opening` is the SQL that begins the transaction, in one round trip. */
  transaction<T>(opening: string, action: (query: Query) => Promise<T>): Promise<T>;
  /** Runs read-only SQL. */
  read(sql: string): Promise<Record<string, unknown>[]>;
  counts(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

export const appRole = 'stepfast_app';

/** Fails on a read-only node: its data may be old, and a later attempt may reach the writable one. */
const requireWritable = `do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'the database is read-only' using errcode = '25006';
  end if;
end $$`;

export function createDatabase(options: DatabaseOptions): Database {
  const { url, max = 16, wait = 5000, patience = 10_000, limit = 15_000, onError = () => {} } = options;
  // Every statement is an index lookup that costs less than its planning. Sequential scans are off: a plan made for a
  // small new month would otherwise scan the month after it has grown.
  const settings = `${requireWritable};
    set role ${appRole}; set plan_cache_mode = force_generic_plan; set enable_seqscan = off;
    set jit = off; set statement_timeout = ${limit};
    set lock_timeout = ${Math.ceil(limit / 2)}; set idle_in_transaction_session_timeout = ${2 * limit}`;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'stepfast',
    max,
    connectionTimeoutMillis: wait,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // For a peer that disappears without closing the connection.
    query_timeout: 2 * limit,
    onConnect: async (client) => {
      client.on('error', () => {});
      await client.query(settings);
    },
  });
  pool.on('error', onError);
  let closed = false;

  async function once(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const client = await pool.connect();
    try {
      const rows = await send(client, statement, values);
      client.release();
      return rows;
    } catch (error) {
      client.release(!keepsConnection(error));
      throw error;
    }
  }

  return {
    async query(statement, values) {
      const deadline = Date.now() + patience;
      let lost = false;
      for (let pause = 20; ; pause = Math.min(2 * pause, 500)) {
        try {
          return await once(statement, values);
        } catch (error) {
          if (closed || !isTransient(error) || Date.now() + pause > deadline)
            throw lost && isBusy(error) ? outcomeUnknown(error) : error;
          lost = true;
          await sleep(pause);
        }
      }
    },

    async transaction(opening, action) {
      const client = await pool.connect();
      let failure: unknown;
      try {
        await client.query(opening);
        const result = await action((statement, values) => send(client, statement, values));
        await client.query('commit');
        return result;
      } catch (error) {
        failure = error;
        await client.query('rollback').catch(() => {});
        throw error;
      } finally {
        client.release(
          failure !== undefined && (client.getTransactionStatus() !== 'I' || isReadOnly(failure)),
        );
      }
    },

    read: async (sql) => (await pool.query<Record<string, unknown>>(sql)).rows,
    counts: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      if (closed) return;
      closed = true;
      await pool.end();
    },
  };
}

async function send(
  client: pg.ClientBase,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await client.query<unknown[]>({ name, text, values: [...values], rowMode: 'array' });
  return rows;
}
