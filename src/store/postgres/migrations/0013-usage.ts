import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;
const functions = 'stepfast.count_usage_1, stepfast.add_usage_1, stepfast.remove_1';

/**
 * What a project has stored, for quotas. Servers add what they wrote every few seconds, so that no call waits for the row
 * of its project. A state is not counted: it grows with its batches.
 */
export const usage: Migration = {
  id: 13,
  name: 'usage',
  sql: `
    create table stepfast.usage (
      project int primary key references stepfast.projects on delete cascade,
      runs bigint not null,
      bytes bigint not null
    ) with (fillfactor = 50);
    ${isolateByProject('usage')}

    create function stepfast.count_usage_1(p_project int) returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.usage as u (project, runs, bytes)
        values (
          p_project,
          (select count(*) from stepfast.runs r where r.project = p_project),
          (select coalesce(sum(octet_length(e.body) + coalesce(octet_length(e.reply), 0)), 0)
            from stepfast.events e where e.project = p_project)
          + (select coalesce(sum(octet_length(t.body)), 0) from stepfast.texts t where t.project = p_project)
          + (select coalesce(sum(octet_length(d.body)), 0) from stepfast.definitions d where d.project = p_project)
        )
        on conflict (project) do update set runs = excluded.runs, bytes = excluded.bytes;
    end $$;

    create function stepfast.add_usage_1(p_project int, p_runs bigint, p_bytes bigint)
      returns table (runs bigint, definitions bigint, bytes bigint) ${invoked} as $$
    begin
      ${within}
      return query
        insert into stepfast.usage as u (project, runs, bytes) values (p_project, p_runs, p_bytes)
          on conflict (project) do update set runs = u.runs + excluded.runs, bytes = u.bytes + excluded.bytes
          returning u.runs,
            (select count(*) from stepfast.definitions d where d.project = p_project),
            u.bytes;
    end $$;

    create or replace function stepfast.remove_1(p_project int, p_run text) returns void ${invoked} as $$
    declare
      v_began date;
      v_runs int := 0;
      v_bytes bigint := 0;
    begin
      ${within}
      delete from stepfast.runs r where r.project = p_project and r.run = p_run returning r.began into v_began;
      if found then
        v_runs := 1;
        with gone as (
          delete from stepfast.events e where e.project = p_project and e.run = p_run and e.began = v_began
            returning octet_length(e.body) + coalesce(octet_length(e.reply), 0) as bytes
        ) select coalesce(sum(gone.bytes), 0) into v_bytes from gone;
      end if;
      delete from stepfast.keys k where k.project = p_project and k.run = p_run;
      with gone as (
        delete from stepfast.texts t where t.project = p_project and t.run = p_run
          returning octet_length(t.body) as bytes
      ) select v_bytes + coalesce(sum(gone.bytes), 0) into v_bytes from gone;
      -- Below zero for a moment, if the servers have not added the run yet.
      update stepfast.usage u set runs = u.runs - v_runs, bytes = u.bytes - v_bytes
        where u.project = p_project and (v_runs > 0 or v_bytes > 0);
    end $$;

    do $$
    declare v_project int;
    begin
      for v_project in select id from stepfast.projects loop
        perform stepfast.count_usage_1(v_project);
      end loop;
      perform set_config('stepfast.project', '', true);
    end $$;
    revoke execute on function ${functions} from public;
  `,
  grants: `
    grant select, insert, update on stepfast.usage to stepfast_app;
    grant execute on function ${functions} to stepfast_app;
  `,
};
