import pg from 'pg';
import { toStepfastError } from './postgres-errors.ts';

const connectLimit = 15_000;

/** One connection as whoever the URL names, without the role of servers; closed when `action` is over. */
export async function asOwner<T>(url: string, action: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'stepfast owner',
    connectionTimeoutMillis: connectLimit,
  });
  // What breaks while nothing is asked is told by the next question.
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

/** Row security binds the owner as everybody. */
export async function asOwnerOf<T>(
  url: string,
  project: number,
  action: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return asOwner(url, async (client) => {
    await client.query(`select set_config('stepfast.project', $1, false)`, [String(project)]);
    return action(client);
  });
}
