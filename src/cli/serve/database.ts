import { StepfastError } from '../../errors.ts';
import { usageError } from '../exit.ts';
import type { Io } from '../io.ts';

/** What every command about the server's database takes. */
export const databaseOptions = { 'database-url': { type: 'string' }, json: { type: 'boolean' } } as const;

/** Throws a usage error; the URL itself, which may hold a password, is in no message. */
export function databaseUrl(values: { 'database-url'?: string | undefined }, { env }: Io): string {
  const given = values['database-url'] ?? env.STEPFAST_DATABASE_URL?.trim();
  if (!given)
    throw usageError(
      'No database is named: set STEPFAST_DATABASE_URL, for instance to postgres://stepfast@127.0.0.1/stepfast.',
    );
  if (!URL.canParse(given) || !/^postgres(ql)?:$/.test(new URL(given).protocol))
    throw usageError('The address of the database must begin with postgres:// and be a whole URL.');
  return given;
}

/** Loaded only here and when it is needed: nothing else of the program pays for PostgreSQL. */
export const loadPostgres = () => import('../../store/postgres/index.ts');

/** For whoever runs the server: nothing was half done, the database is only not there. */
export async function withDatabase<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof StepfastError) || error.code !== 'store_failed') throw error;
    const why =
      error.cause instanceof Error ? (error.cause.message || 'no answer').split('\n', 1)[0] : 'no answer';
    throw new StepfastError(
      'no_database',
      `The database cannot be used (${why}): see that it runs, and that STEPFAST_DATABASE_URL is right`,
      { cause: error },
    );
  }
}
