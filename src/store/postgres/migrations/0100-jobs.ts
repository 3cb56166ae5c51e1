import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const owned = `language plpgsql security definer set search_path = pg_catalog, pg_temp`;
const within = `perform set_config('stepfast.project', v_project::text, true);`;

/** Webhooks, their delivery positions, and the runs that wait for a worker. */
export const jobs: Migration = {
  id: 100,
  name: 'jobs',
  sql: `
    create table stepfast.webhooks (
      project int not null references stepfast.projects on delete cascade,
      id text collate "C" not null,
      url text not null,
      secret text not null,
      events text[] not null,
      since bigint not null,
      created_at timestamptz not null default now(),
      failing_since timestamptz,
      failure text,
      disabled_at timestamptz,
      primary key (project, id)
    );
    ${isolateByProject('webhooks')}

    create table stepfast.dispatch (
      project int primary key references stepfast.projects on delete cascade,
      tx bigint not null
    );
    ${isolateByProject('dispatch')}

    -- epoch is null while nobody has it; until is then the time from which it may be taken
    create table stepfast.work (
      project int not null references stepfast.projects on delete cascade,
      run text collate "C" not null,
      until timestamptz not null default now(),
      epoch bigint,
      worker text,
      again boolean not null default false,
      primary key (project, run)
    );
    create index work_by_time on stepfast.work (project, until);
    create sequence stepfast.work_epoch;
    ${isolateByProject('work')}

    create index runs_ended on stepfast.runs (project, definition) where not live;

    -- Projects that have somebody to tell and something that was not told: ids only.
    create function stepfast.undispatched_1() returns table (project int) ${invoked} as $$
    declare
      v_project int;
      v_tx bigint;
    begin
      for v_project in select id from stepfast.project_ids_1() id loop
        ${within}
        select d.tx into v_tx from stepfast.dispatch d where d.project = v_project;
        if found
          and exists (select from stepfast.webhooks w where w.project = v_project and w.disabled_at is null)
          and (v_tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
            or exists (select from stepfast.events e where e.project = v_project and e.tx > v_tx))
        then
          project := v_project;
          return next;
        end if;
      end loop;
    end $$;

    create function stepfast.project_name_1() returns text ${owned} as $$
    begin
      return (select p.name from stepfast.projects p
        where p.id = nullif(current_setting('stepfast.project', true), '')::int);
    end $$;

    -- Tokens that ended before the date; how many.
    create function stepfast.forget_tokens_1(p_before timestamptz) returns int ${owned} as $$
    declare
      v_project int;
      v_some int;
      v_all int := 0;
    begin
      for v_project in select id from stepfast.projects loop
        ${within}
        delete from stepfast.tokens t where t.project = v_project
          and least(t.expires_at, t.revoked_at) < least(p_before, now());
        get diagnostics v_some = row_count;
        v_all := v_all + v_some;
      end loop;
      return v_all;
    end $$;

    -- The oldest month that began more than so many months ago, where all its runs have ended so long ago.
    create function stepfast.forget_month_1(p_months int) returns date ${owned} as $$
    declare
      v_before timestamptz := now() - make_interval(months => p_months);
      v_month date;
    begin
      if p_months < 1 then
        raise exception 'months are kept for one at least, not %', p_months;
      end if;
      for v_month in
        select to_date(right(c.relname, 7), 'YYYY_MM') from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'stepfast.events'::regclass and c.relname ~ '^events_\\d{4}_\\d{2}$' order by 1
      loop
        exit when v_month + interval '1 month' > v_before at time zone 'utc';
        if stepfast.drop_month_1(v_month, v_before) then
          return v_month;
        end if;
      end loop;
      return null;
    end $$;

    -- Keys of some runs that ended more than so many months ago, so that to forget their month takes no hour. Goes on
    -- after the run that it answered before (project, day, run), from '' on; null at the end.
    create function stepfast.forget_keys_1(p_months int, p_after text) returns text ${owned} as $$
    declare
      v_before timestamptz := now() - make_interval(months => p_months);
      v_project int := coalesce(nullif(split_part(p_after, '/', 1), '')::int, 0);
      v_began date := coalesce(nullif(split_part(p_after, '/', 2), '')::date, '-infinity');
      v_run text := split_part(p_after, '/', 3);
      v_runs text[];
    begin
      ${within}
      -- By day, which has an index: runs that are younger are not looked at.
      select array_agg(o.run), max(o.began), (array_agg(o.run order by o.began desc, o.run desc))[1]
        into v_runs, v_began, v_run
        from (
          select r.run, r.began from stepfast.runs r
            where r.project = v_project and r.began < date_trunc('month', v_before at time zone 'utc')::date
              and r.began >= v_began and (r.began > v_began or r.run > v_run collate "C")
              and not r.live and r.updated_ms < (extract(epoch from v_before) * 1000)::bigint
            order by r.began, r.run limit 500
        ) o;
      if v_runs is null then
        return (select p.id || '/' from stepfast.projects p where p.id > v_project order by p.id limit 1);
      end if;
      delete from stepfast.keys k where k.project = v_project and k.run = any(v_runs);
      return v_project || '/' || v_began || '/' || v_run;
    end $$;

    revoke execute on function stepfast.undispatched_1, stepfast.project_name_1, stepfast.forget_tokens_1,
      stepfast.forget_month_1, stepfast.forget_keys_1 from public;
  `,
  grants: `
    grant select, insert, update, delete on stepfast.webhooks, stepfast.dispatch, stepfast.work to stepfast_app;
    grant usage on sequence stepfast.work_epoch to stepfast_app;
    grant execute on function stepfast.undispatched_1, stepfast.project_name_1, stepfast.forget_tokens_1,
      stepfast.forget_month_1, stepfast.forget_keys_1 to stepfast_app;
  `,
};
