import { count } from '../../messages/index.ts';
import { readArgs } from '../args.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson } from '../perform.ts';
import { databaseOptions, databaseUrl, loadPostgres, withDatabase } from './database.ts';

export const options = databaseOptions;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const { applied, renewed } = await migrateAll(databaseUrl(values, io));
  if (values.json) return printJson(io, { applied, renewed }, exit.ok);
  const done =
    applied.length === 0
      ? 'The database is up to date.'
      : `Applied ${count(applied.length, 'migration')}: ${applied.join(', ')}`;
  io.stdout.write(`${done}\n`);
  if (renewed)
    io.stdout.write('The database was restored from another cluster: event streams restart automatically.\n');
  return exit.ok;
}

/** Migrates the store first: the job tables grant rights to a role that it creates. */
export async function migrateAll(url: string): Promise<{ applied: string[]; renewed: boolean }> {
  const [{ migrate }, { installJobs }] = await Promise.all([loadPostgres(), import('../../jobs/index.ts')]);
  const migrated = await withDatabase(() => migrate(url));
  await installJobs({ url });
  return migrated;
}
