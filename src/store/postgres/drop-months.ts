import { asOwner } from './owner-connection.ts';

/**
 * Drops the months whose runs all ended before the time (milliseconds since the epoch), with their batches, keys and
 * texts; returns them oldest first. A run that is active or ended later keeps its whole month.
 */
export async function dropMonths(url: string, before: number): Promise<string[]> {
  return asOwner(url, async (client) => {
    const { rows } = await client.query<{ month: string }>(
      `select replace(substr(c.relname, 8), '_', '-') as month
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'stepfast.events'::regclass order by c.relname`,
    );
    const dropped: string[] = [];
    for (const { month } of rows) {
      const answer = await client.query<{ gone: boolean }>(
        'select stepfast.drop_month_1($1::date, to_timestamp($2::float8 / 1000)) as gone',
        [`${month}-01`, before],
      );
      if (answer.rows[0]?.gone === true) dropped.push(month);
    }
    if (dropped.length > 0)
      await client.query('select stepfast.count_usage_1(id) from (select id from stepfast.projects) p');
    return dropped;
  });
}
