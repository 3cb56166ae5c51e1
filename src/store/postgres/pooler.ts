import type pg from 'pg';
import { StepfastError } from '../../errors.ts';
import { asOwner } from './owner-connection.ts';

const rounds = 3;

/**
 * Throws `pooler_unusable` if connections change their backend between transactions, as with a pooler in transaction mode:
 * it would lose notifications, prepared statements and the role of servers.
 */
export async function refuseTransactionPooler(url: string): Promise<void> {
  await asOwner(url, (one) =>
    asOwner(url, async (other) => {
      const backend = await backendOf(one);
      for (let round = 0; round < rounds; round += 1) {
        // While `one` is idle between transactions, only a pooler gives its backend to another client.
        await other.query('begin');
        if ((await backendOf(other)) === backend) throw unusable();
        const same = (await backendOf(one)) === backend;
        await other.query('commit');
        if (!same || (await backendOf(one)) !== backend) throw unusable();
      }
    }),
  );
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

const unusable = (): StepfastError =>
  new StepfastError(
    'pooler_unusable',
    "The database URL leads to a connection pooler in transaction mode, which loses notifications and roles: use the database's direct URL, or the pooler in session mode",
  );
