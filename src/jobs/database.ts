import { Pool, type QueryResult, type QueryResultRow } from 'pg';
import type { Db } from 'pg-boss';

export interface Queries {
  rows<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Lets pg-boss run its statements on the same connection. */
  boss: Db;
}

/** A pool with the server role, which owns nothing and sees no project until one is set. */
export interface Database extends Queries {
  /** Runs a transaction that sees one project. Rolls back if `action` throws. */
  within<T>(project: number, action: (tx: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  url: string;
  connections: number;
  report(error: unknown): void;
}

/** Fails on a read-only node: its data may be old, so that a delivery would be dropped as one of a removed run. */
const requireWritable = `do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'the database is read-only' using errcode = '25006';
  end if;
end $$`;
/** A server that dies in a transaction must not hold its locks for long. */
const settings = `${requireWritable}; set role stepfast_app; set statement_timeout = '60s'; set lock_timeout = '30s';
  set idle_in_transaction_session_timeout = '30s'`;

export function openDatabase({ url, connections, report }: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    application_name: 'stepfast jobs',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    onConnect: async (client) => {
      client.on('error', report);
      await client.query(settings);
    },
  });
  pool.on('error', report);
  return {
    ...queriesOf(runOnce),
    async within(project, action) {
      const client = await pool.connect();
      let broken: Error | undefined;
      const onError = (error: Error): void => {
        broken = error;
      };
      client.on('error', onError);
      try {
        await client.query(`begin; set local stepfast.project = '${Math.trunc(project)}'`);
        const result = await action(queriesOf((text, values) => client.query(text, values)));
        await client.query('commit');
        return result;
      } catch (error) {
        // The next connection may lead to a writable node.
        if (error instanceof Error && 'code' in error && error.code === '25006') broken = error;
        await client.query('rollback').catch(onError);
        throw error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },
    close: () => pool.end(),
  };

  /** A failed statement may leave a transaction open, so its connection is not reused. */
  async function runOnce(text: string, values?: unknown[]): Promise<QueryResult> {
    const client = await pool.connect();
    try {
      const result = await client.query(text, values);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

type Send = (text: string, values?: unknown[]) => Promise<QueryResult>;

function queriesOf(send: Send): Queries {
  return {
    // The caller knows the row type of its statement.
    rows: async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await send(text, [...values])).rows as Row[],
    // Without values, pg allows several statements per query, which pg-boss needs.
    boss: { executeSql: send },
  };
}
