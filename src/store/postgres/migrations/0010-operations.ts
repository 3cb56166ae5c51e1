import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const owned = `language plpgsql security definer set search_path = pg_catalog, pg_temp`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;
const functions = 'stepfast.use_token_1, stepfast.audit_1, stepfast.backlog_1';

/** What operators ask for: when a token was last used, who did what, and what waits. */
export const operations: Migration = {
  id: 10,
  name: 'operations',
  sql: `
    alter table stepfast.tokens add column used_at timestamptz;

    create function stepfast.use_token_1(p_project int, p_id text) returns void ${owned} as $$
    begin
      ${within}
      update stepfast.tokens t set used_at = now()
        where t.project = p_project and t.id = p_id
          and (t.used_at is null or t.used_at < now() - interval '1 minute');
    end $$;

    -- Project 0 has what concerns the whole server. Without a reference: the removal of a project is told there.
    create table stepfast.audit (
      id bigint generated always as identity primary key,
      project int not null,
      at timestamptz not null default now(),
      action text collate "C" not null,
      subject text not null,
      actor text not null,
      kind text collate "C" not null check (kind in ('operator', 'person', 'agent')),
      token text collate "C",
      address text,
      request text,
      details text not null default '{}'
    );
    create index audit_by_project on stepfast.audit (project, id desc);
    -- A workflow is told of once.
    create unique index audit_publications on stepfast.audit (project, subject) where action = 'workflow.published';
    ${isolateByProject('audit')}

    create function stepfast.audit_1(p_project int, p_action text, p_subject text, p_actor text, p_kind text,
      p_token text, p_address text, p_request text, p_details text) returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.audit (project, action, subject, actor, kind, token, address, request, details)
        values (p_project, p_action, p_subject, p_actor, p_kind, p_token, p_address, p_request, p_details)
        on conflict do nothing;
    end $$;

    -- Numbers over all projects, for metrics.
    create function stepfast.backlog_1(out ok int, out failing int, out disabled int, out work int)
      ${invoked} as $$
    declare
      v_project int;
      v_counts bigint[];
    begin
      ok := 0;
      failing := 0;
      disabled := 0;
      work := 0;
      for v_project in select id from stepfast.project_ids_1() id loop
        perform set_config('stepfast.project', v_project::text, true);
        select array[count(*) filter (where w.disabled_at is null and w.failing_since is null),
            count(*) filter (where w.disabled_at is null and w.failing_since is not null),
            count(*) filter (where w.disabled_at is not null)]
          into v_counts from stepfast.webhooks w where w.project = v_project;
        ok := ok + v_counts[1];
        failing := failing + v_counts[2];
        disabled := disabled + v_counts[3];
        work := work + (select count(*) from stepfast.work w
          where w.project = v_project and w.epoch is null and w.until <= now());
      end loop;
      perform set_config('stepfast.project', '', true);
    end $$;

    revoke execute on function ${functions} from public;
  `,
  grants: `
    grant insert on stepfast.audit to stepfast_app;
    grant execute on function ${functions} to stepfast_app;
  `,
};
