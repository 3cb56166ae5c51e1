import { existsSync } from 'node:fs';
import { StepfastError } from '../../errors.ts';
import type { ProjectRecord } from '../../store/postgres/index.ts';
import { notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';

/** Options shared by the commands that use the server's database. */
export const databaseOptions = { 'database-url': { type: 'string' }, json: { type: 'boolean' } } as const;

/** Throws a usage error. Messages never contain the URL, which may hold a password. */
export function databaseUrl(values: { 'database-url'?: string | undefined }, { env }: Io): string {
  const given = values['database-url'] ?? env.STEPFAST_DATABASE_URL?.trim();
  if (!given)
    throw usageError(
      'No database given: set STEPFAST_DATABASE_URL, for example postgres://stepfast@127.0.0.1/stepfast.',
    );
  if (!URL.canParse(given) || !/^postgres(ql)?:$/.test(new URL(given).protocol))
    throw usageError('The database URL must be a full URL that starts with postgres://.');
  const rootCertificate = new URL(given).searchParams.get('sslrootcert');
  if (rootCertificate !== null && !existsSync(rootCertificate))
    throw usageError(`The certificate file of the database URL does not exist: ${rootCertificate}`);
  // As the driver treats them, except that it prints a warning each time.
  return given.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, 'verify-full');
}

/** Codes of Node.js for a certificate that cannot be verified. */
const untrusted = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const advice = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && untrusted.test(String(cause.code))
    ? 'add the certificate of its authority to the URL: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem'
    : 'check that it is running and that STEPFAST_DATABASE_URL is correct';

/** Loaded on demand: no other command pays for PostgreSQL. */
export const loadPostgres = () => import('../../store/postgres/index.ts');

export async function findProject(name: string | undefined, url: string): Promise<ProjectRecord> {
  if (!name) throw usageError('Missing --project <name>. Run: stepfast project list');
  const found = await (await loadPostgres()).createProjects(url).named(name);
  if (!found) throw notFound(`Project '${name.slice(0, 80)}' not found. Run: stepfast project list`);
  return found;
}

/** Reports a failing database as `no_database`, with its cause. */
export async function withDatabase<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof StepfastError) || error.code !== 'store_failed') throw error;
    const why =
      error.cause instanceof Error ? (error.cause.message || 'no response').split('\n', 1)[0] : 'no response';
    throw new StepfastError('no_database', `Cannot use the database (${why}): ${advice(error.cause)}`, {
      cause: error,
    });
  }
}
