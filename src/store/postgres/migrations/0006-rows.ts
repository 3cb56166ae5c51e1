import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;
const functions = `stepfast.views_1, stepfast.scan_1, stepfast.put_rows_1, stepfast.row_cursor_1, stepfast.rows_1,
      stepfast.row_counts_1, stepfast.row_needs_1`;

/**
 * Summaries of runs for lists, written by servers that show them, never by the calls that change a run. A cursor of the
 * stream of batches says how far they are.
 */
export const rows: Migration = {
  id: 6,
  name: 'rows',
  sql: `
    create table stepfast.rows (
      project int not null,
      run text collate "C" not null,
      seq int not null,
      tone text collate "C" not null,
      created_ms bigint not null,
      -- Since when it has needed a person.
      since_ms bigint,
      searched text not null,
      body text not null,
      primary key (project, run),
      foreign key (project, run) references stepfast.runs on delete cascade
    ) with (fillfactor = 70);
    create index rows_by_age on stepfast.rows (project, created_ms desc, run);
    create index rows_by_tone on stepfast.rows (project, tone, created_ms desc, run);
    create index rows_by_wait on stepfast.rows (project, since_ms) where since_ms is not null;
    ${isolateByProject('rows')}

    create table stepfast.row_cursors (
      project int primary key references stepfast.projects,
      tx bigint not null
    );
    ${isolateByProject('row_cursors')}

    create function stepfast.views_1(p_project int, p_runs text[])
      returns table (run text, seq int, hash text, definition text, format int, state text) ${invoked} as $$
    begin
      ${within}
      return query select r.run, r.seq, r.hash, r.definition, r.format, r.state from stepfast.runs r
        where r.project = p_project and r.run = any(p_runs);
    end $$;

    create function stepfast.scan_1(p_project int, p_ms bigint, p_run text, p_limit int)
      returns table (run text, seq int, hash text, definition text, format int, state text, created_ms bigint)
      ${invoked} as $$
    begin
      ${within}
      return query select r.run, r.seq, r.hash, r.definition, r.format, r.state, r.created_ms from stepfast.runs r
        where r.project = p_project
          and r.created_ms <= p_ms and (r.created_ms < p_ms or r.run > p_run collate "C")
        order by r.created_ms desc, r.run limit p_limit;
    end $$;

    -- An older summary never replaces a newer one, and that of a run that is gone is not kept.
    create function stepfast.put_rows_1(
      p_project int, p_runs text[], p_seqs int[], p_tones text[], p_created bigint[], p_since bigint[],
      p_searched text[], p_bodies text[], p_cursor bigint
    ) returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.rows as w (project, run, seq, tone, created_ms, since_ms, searched, body)
        select p_project, n.run, n.seq, n.tone, n.created_ms, n.since_ms, n.searched, n.body
          from unnest(p_runs, p_seqs, p_tones, p_created, p_since, p_searched, p_bodies)
            as n (run, seq, tone, created_ms, since_ms, searched, body)
          where exists (select from stepfast.runs r where r.project = p_project and r.run = n.run for key share)
          order by n.run
        on conflict (project, run) do update
          set seq = excluded.seq, tone = excluded.tone, created_ms = excluded.created_ms,
            since_ms = excluded.since_ms, searched = excluded.searched, body = excluded.body
          where w.seq < excluded.seq;
      if p_cursor is not null then
        insert into stepfast.row_cursors as c (project, tx) values (p_project, p_cursor)
          on conflict (project) do update set tx = excluded.tx;
      end if;
    end $$;

    create function stepfast.row_cursor_1(p_project int) returns bigint ${invoked} as $$
    begin
      ${within}
      return (select c.tx from stepfast.row_cursors c where c.project = p_project);
    end $$;

    -- The first row has the number of all that match.
    create function stepfast.rows_1(p_project int, p_tone text, p_words text[], p_offset int, p_limit int)
      returns table (total bigint, body text) ${invoked} as $$
    begin
      ${within}
      return query select count(*), null::text from stepfast.rows w
        where w.project = p_project and (p_tone is null or w.tone = p_tone)
          and (cardinality(p_words) = 0
            or not exists (select from unnest(p_words) as t (word) where position(t.word in w.searched) = 0));
      return query select null::bigint, w.body from stepfast.rows w
        where w.project = p_project and (p_tone is null or w.tone = p_tone)
          and (cardinality(p_words) = 0
            or not exists (select from unnest(p_words) as t (word) where position(t.word in w.searched) = 0))
        order by w.created_ms desc, w.run offset p_offset limit p_limit;
    end $$;

    create function stepfast.row_counts_1(p_project int) returns table (tone text, number bigint) ${invoked} as $$
    begin
      ${within}
      return query select w.tone, count(*) from stepfast.rows w where w.project = p_project group by w.tone;
    end $$;

    create function stepfast.row_needs_1(p_project int, p_limit int) returns table (body text) ${invoked} as $$
    begin
      ${within}
      return query select w.body from stepfast.rows w
        where w.project = p_project and w.since_ms is not null order by w.since_ms, w.run limit p_limit;
    end $$;

    revoke execute on function ${functions} from public;
  `,
  grants: `
    grant select, insert, update on stepfast.rows, stepfast.row_cursors to stepfast_app;
    grant execute on function ${functions} to stepfast_app;
  `,
};
