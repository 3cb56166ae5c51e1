import type { Migration } from './migration.ts';

/** Tokens of runners and admins, and tokens that were made with another token. */
export const principals: Migration = {
  id: 14,
  name: 'principals',
  sql: `
    alter table stepfast.tokens drop constraint tokens_kind_check,
      add constraint tokens_kind_check check (kind in ('agent', 'runner', 'person', 'admin')),
      add column parent text collate "C" references stepfast.tokens on delete cascade;
    alter table stepfast.audit drop constraint audit_kind_check,
      add constraint audit_kind_check check (kind in ('operator', 'agent', 'runner', 'person', 'admin'));

    -- A token ends with the one that it was made with.
    create function stepfast.find_token_3(p_hash text)
      returns table (id text, project int, project_name text, kind text, name text, scopes text[], expires_ms bigint,
        agents int, parent text)
      language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    declare
      v_project int;
    begin
      perform set_config('stepfast.token', p_hash, true);
      select t.project into v_project from stepfast.tokens t where t.hash = p_hash;
      perform set_config('stepfast.project', coalesce(v_project::text, ''), true);
      return query select t.id, t.project, p.name, t.kind, t.name, t.scopes,
          (extract(epoch from least(t.expires_at, m.expires_at)) * 1000)::bigint, t.agents, m.name
        from stepfast.tokens t join stepfast.projects p on p.id = t.project
          left join stepfast.tokens m on m.project = t.project and m.id = t.parent
        where t.hash = p_hash and t.revoked_at is null
          and (t.parent is null or (m.id is not null and m.revoked_at is null));
      perform set_config('stepfast.token', '', true);
      perform set_config('stepfast.project', '', true);
    end $$;
    revoke execute on function stepfast.find_token_3 from public;
  `,
  grants: 'grant execute on function stepfast.find_token_3 to stepfast_app;',
};
