import type { Migration } from './migration.ts';

const owned = `language plpgsql security definer set search_path = pg_catalog, pg_temp`;

/** Monthly partitions of events: servers create them ahead of time, only the owner drops them. */
export const months: Migration = {
  id: 3,
  name: 'months',
  sql: `
    -- The months from this one on; how many of them were missing. Writers go on meanwhile.
    create function stepfast.make_months_1(p_ahead int) returns int ${owned} as $$
    declare
      v_month date;
      v_name text;
      v_made int := 0;
      v_schema oid := 'stepfast'::regnamespace;
    begin
      for v_offset in 0 .. least(greatest(p_ahead, 0), 24) loop
        v_month := (date_trunc('month', now() at time zone 'utc') + make_interval(months => v_offset))::date;
        v_name := 'events_' || to_char(v_month, 'YYYY_MM');
        continue when exists (select from pg_class c where c.relnamespace = v_schema and c.relname = v_name);
        perform pg_advisory_xact_lock(hashtext('stepfast months'));
        continue when exists (select from pg_class c where c.relnamespace = v_schema and c.relname = v_name);
        execute format('create table stepfast.%I (like stepfast.events including defaults including storage
          including compression)', v_name);
        execute format('alter table stepfast.%I enable row level security', v_name);
        execute format('alter table stepfast.%I force row level security', v_name);
        execute format('create policy project on stepfast.%I
          using (project = nullif(current_setting(''stepfast.project'', true), '''')::int)
          with check (project = nullif(current_setting(''stepfast.project'', true), '''')::int)', v_name);
        execute format('alter table stepfast.events attach partition stepfast.%I for values from (%L) to (%L)',
          v_name, v_month, v_month + interval '1 month');
        v_made := v_made + 1;
      end loop;
      return v_made;
    end $$;

    -- Forgets every run that began in the month, where all of them have ended before the date; whether it did. A run
    -- that goes on meanwhile is not deleted, since its row is looked at again; then nothing is. The history is locked
    -- last and briefly: everybody's reading waits for it.
    create function stepfast.drop_month_1(p_month date, p_before timestamptz) returns boolean
      ${owned} set lock_timeout = '1s' as $$
    declare
      v_from date := date_trunc('month', p_month)::date;
      v_to date := (date_trunc('month', p_month) + interval '1 month')::date;
      v_name text := 'events_' || to_char(v_from, 'YYYY_MM');
      v_ms bigint := (extract(epoch from p_before) * 1000)::bigint;
      v_project int;
    begin
      if v_to > (now() at time zone 'utc')::date or to_regclass(format('stepfast.%I', v_name)) is null then
        return false;
      end if;
      for v_project in select id from stepfast.projects loop
        perform set_config('stepfast.project', v_project::text, true);
        if exists (select from stepfast.runs r where r.project = v_project and r.began >= v_from and r.began < v_to
          and (r.live or r.updated_ms >= v_ms)) then
          return false;
        end if;
      end loop;
      for v_project in select id from stepfast.projects loop
        perform set_config('stepfast.project', v_project::text, true);
        with gone as (
          delete from stepfast.runs r where r.project = v_project and r.began >= v_from and r.began < v_to
              and not r.live and r.updated_ms < v_ms
            returning r.run
        ), keys as (
          delete from stepfast.keys k using gone where k.project = v_project and k.run = gone.run
        ) delete from stepfast.texts t using gone where t.project = v_project and t.run = gone.run;
      end loop;
      execute format('drop table stepfast.%I', v_name);
      for v_project in select id from stepfast.projects loop
        perform set_config('stepfast.project', v_project::text, true);
        if exists (select from stepfast.runs r where r.project = v_project and r.began >= v_from and r.began < v_to)
        then
          raise exception 'a run of the month goes on' using errcode = 'SF001';
        end if;
      end loop;
      return true;
    exception when sqlstate 'SF001' then
      return false;
    end $$;

    revoke execute on function stepfast.make_months_1, stepfast.drop_month_1 from public;
    select stepfast.make_months_1(3);
  `,
  grants: `grant execute on function stepfast.make_months_1 to stepfast_app;`,
};
