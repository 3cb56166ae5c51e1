import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;

/** For clients without a worktree: the runs of a session and the workflows of a project. */
export const sessions: Migration = {
  id: 5,
  name: 'sessions',
  sql: `
    create table stepfast.session_runs (
      project int not null,
      run text collate "C" not null,
      session text collate "C" not null,
      at_ms bigint not null,
      primary key (project, run, session),
      foreign key (project, run) references stepfast.runs on delete cascade
    );
    create index session_runs_by_session on stepfast.session_runs (project, session, at_ms desc);
    ${isolateByProject('session_runs')}
    create index runs_by_definition on stepfast.runs (project, definition, created_ms desc);

    create function stepfast.join_session_1(p_project int, p_run text, p_session text, p_ms bigint)
      returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.session_runs (project, run, session, at_ms)
        values (p_project, p_run, p_session, p_ms) on conflict do nothing;
    end $$;

    create function stepfast.session_runs_1(p_project int, p_session text, p_limit int)
      returns table (run text, definition text, created_ms bigint, format int, state text) ${invoked} as $$
    begin
      ${within}
      return query select r.run, r.definition, r.created_ms, r.format, r.state
        from stepfast.session_runs s join stepfast.runs r on r.project = s.project and r.run = s.run
        where s.project = p_project and s.session = p_session
        order by s.at_ms desc limit p_limit;
    end $$;

    -- The definition that was pinned last under the name, or under each name.
    create function stepfast.used_definitions_1(p_project int, p_name text, p_limit int)
      returns table (body text) ${invoked} as $$
    begin
      ${within}
      return query select u.body from (
          select distinct on (d.name) d.body, n.created_ms
            from stepfast.definitions d cross join lateral (
              select r.created_ms from stepfast.runs r
                where r.project = p_project and r.definition = d.hash order by r.created_ms desc limit 1
            ) n
            where d.project = p_project and (p_name is null or d.name = p_name)
            order by d.name, n.created_ms desc
        ) u order by u.created_ms desc limit p_limit;
    end $$;

    revoke execute on function stepfast.join_session_1, stepfast.session_runs_1, stepfast.used_definitions_1
      from public;
  `,
  grants: `
    grant select, insert on stepfast.session_runs to stepfast_app;
    grant execute on function stepfast.join_session_1, stepfast.session_runs_1, stepfast.used_definitions_1
      to stepfast_app;
  `,
};
