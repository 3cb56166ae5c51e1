import type { SharedCluster } from '../test/kit/postgres.ts';

/** Inserts the rows that `from` yields into a table of the store, with these columns changed. */
export async function copyRows(
  cluster: SharedCluster,
  database: string,
  table: string,
  changed: Readonly<Record<string, string>>,
  from: string,
): Promise<void> {
  const columns = await cluster.query<{ name: string }>(
    database,
    `select attname as name from pg_attribute where attrelid = 'stepfast.${table}'::regclass and attnum > 0
      and not attisdropped and attgenerated = '' and attidentity = ''`,
  );
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => changed[name] ?? name);
  await cluster.query(
    database,
    `insert into stepfast.${table} (${names.join(', ')}) select ${values.join(', ')} from ${from}`,
  );
}
