import pg from 'pg';
import { toStepfastError } from './postgres-errors.ts';

const connectLimit = 15_000;

/** Runs `action` on a connection of the URL's user, without the servers' role. */
export async function asOwner<T>(url: string, action: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'stepfast owner',
    connectionTimeoutMillis: connectLimit,
  });
  // The next query reports an error of the idle connection.
  client.on('error', () => {});
  try {
    await client.connect();
    return await action(client);
  } catch (error) {
    throw toStepfastError('the database', error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Sets the project, because row level security applies to the owner too. In one transaction. */
export async function asOwnerOf<T>(
  url: string,
  project: number,
  action: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return asOwner(url, (client) => inProject(client, project, () => action(client)));
}

/** A transaction that sees one project. */
export async function inProject<T>(client: pg.Client, project: number, action: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    await client.query(`select set_config('stepfast.project', $1, true)`, [String(project)]);
    const result = await action();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
