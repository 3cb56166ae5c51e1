import type { Migration } from './migration.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;

/** Streams and webhooks no longer wait for transactions in other databases of the cluster. */
export const tailEnd: Migration = {
  id: 9,
  name: 'tail-end',
  sql: `
    -- 'stop': all transactions of this database below it have ended; 'next': the number that the cluster assigns next.
    -- Transactions in progress count unless they are known to belong to another database. Activity is read after the
    -- snapshot, so that a number in both belongs to the database that is shown for it. A standby does not list them.
    -- Stable, so that the snapshot is that of the calling statement.
    create function stepfast.tail_end_1(out stop bigint, out next bigint) stable ${invoked} as $$
    declare
      v_now pg_snapshot := pg_current_snapshot();
    begin
      stop := pg_snapshot_xmin(v_now)::text::bigint;
      next := pg_snapshot_xmax(v_now)::text::bigint;
      if stop = next or pg_is_in_recovery() then
        return;
      end if;
      select least(coalesce(min(x::text::bigint), next), pg_current_xact_id_if_assigned()::text::bigint) into stop
        from pg_snapshot_xip(v_now) x
        where not exists (
            select from pg_stat_activity a where a.backend_xid = x::xid
              and a.datid <> (select d.oid from pg_database d where d.datname = current_database()))
          and not exists (
            select from pg_prepared_xacts p where p.transaction = x::xid and p.database <> current_database());
    end $$;

    -- As before, except for the end. The first row has no run: its tx is the highest that a cursor can have.
    create or replace function stepfast.tail_1(p_project int, p_after bigint, p_limit int, p_bytes int)
      returns table (tx bigint, run text, seq int, body text) ${invoked} as $$
    declare
      v_end bigint;
      v_next bigint;
      v_bytes bigint := 0;
      v_last bigint;
      v_row record;
    begin
      ${within}
      select e.stop, e.next into v_end, v_next from stepfast.tail_end_1() e;
      return query select v_next - 1, null::text, null::int, null::text;
      if p_after is null or p_after >= v_next then
        return query select e.tx, null::text, null::int, null::text from stepfast.events e
          where e.project = p_project and e.tx < v_end order by e.tx desc limit 1;
      else
        for v_row in select e.tx, e.run, e.seq, e.body from stepfast.events e
          where e.project = p_project and e.tx > p_after and e.tx < v_end
          order by e.tx fetch first p_limit rows with ties
        loop
          exit when v_bytes >= p_bytes and v_row.tx <> v_last;
          v_last := v_row.tx;
          v_bytes := v_bytes + octet_length(v_row.body);
          tx := v_row.tx;
          run := v_row.run;
          seq := v_row.seq;
          body := v_row.body;
          return next;
        end loop;
      end if;
    end $$;

    revoke execute on function stepfast.tail_end_1 from public;
  `,
  grants: `grant execute on function stepfast.tail_end_1 to stepfast_app;`,
};
