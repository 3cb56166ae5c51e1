import type { Migration } from './migration.ts';

/** Stable: all its queries see the same moment. */
const invoked = `language plpgsql stable security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;
const functions = 'stepfast.entries_2, stepfast.run_list_1';

/** Reads that cost what they return, however long a history and however large a state is. */
export const growth: Migration = {
  id: 12,
  name: 'growth',
  sql: `
    -- An advance of a large run leaves its old state to vacuum, which should not take longer than it took to write.
    alter table stepfast.runs set (autovacuum_vacuum_cost_limit = 2000);

    -- The first row has no body: the run's last seq and hash, and as reply the hash of the batch p_after.
    create function stepfast.entries_2(p_project int, p_run text, p_after int, p_limit int)
      returns table (seq int, hash text, body text, reply text) ${invoked} as $$
    declare v_began date;
    begin
      ${within}
      select r.began, r.seq, r.hash into v_began, seq, hash
        from stepfast.runs r where r.project = p_project and r.run = p_run;
      if not found then return; end if;
      select e.hash into reply from stepfast.events e
        where e.project = p_project and e.run = p_run and e.began = v_began and e.seq = p_after;
      return next;
      return query select e.seq, e.hash, e.body, e.reply from stepfast.events e
        where e.project = p_project and e.run = p_run and e.began = v_began and e.seq > p_after
        order by e.seq limit p_limit;
    end $$;

    -- A page of runs, newest first, with their summaries; with the state instead where the summary is missing or of an
    -- earlier batch. Ends with the row that makes it p_bytes long.
    create function stepfast.run_list_1(
      p_project int, p_live boolean, p_ms bigint, p_run text, p_limit int, p_bytes int
    ) returns table (
      run text, seq int, hash text, definition text, format int, state text, created_ms bigint, body text
    ) ${invoked} as $$
    declare v_bytes bigint := 0;
    begin
      ${within}
      for run, seq, hash, definition, format, state, created_ms, body in
        select r.run, r.seq, r.hash, r.definition, r.format, case when w.run is null then r.state end, r.created_ms,
            w.body
          from stepfast.runs r left join stepfast.rows w
            on w.project = p_project and w.run = r.run and w.seq = r.seq
          where r.project = p_project and (p_live is null or r.live = p_live)
            and r.created_ms <= p_ms and (r.created_ms < p_ms or r.run > p_run collate "C")
          order by r.created_ms desc, r.run limit p_limit
      loop
        return next;
        v_bytes := v_bytes + octet_length(coalesce(body, state));
        exit when v_bytes >= p_bytes;
      end loop;
    end $$;

    revoke execute on function ${functions} from public;
  `,
  grants: `grant execute on function ${functions} to stepfast_app;`,
};
