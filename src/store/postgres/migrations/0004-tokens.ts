import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const owned = `language plpgsql security definer set search_path = pg_catalog, pg_temp`;

/** A token is looked up before its project is known, so a function returns the one row with its hash. */
export const tokens: Migration = {
  id: 4,
  name: 'tokens',
  sql: `
    create table stepfast.tokens (
      id text collate "C" primary key,
      project int not null references stepfast.projects,
      hash text collate "C" not null unique,
      kind text not null check (kind in ('agent', 'person')),
      name text not null,
      scopes text[] not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      revoked_at timestamptz
    );
    create index tokens_by_project on stepfast.tokens (project, created_at);
    ${isolateByProject('tokens')}
    create policy presented on stepfast.tokens for select
      using (hash = nullif(current_setting('stepfast.token', true), ''));

    create function stepfast.find_token_1(p_hash text)
      returns table (id text, project int, project_name text, kind text, name text, scopes text[], expires_ms bigint)
      ${owned} as $$
    begin
      perform set_config('stepfast.token', p_hash, true);
      return query select t.id, t.project, p.name, t.kind, t.name, t.scopes,
          (extract(epoch from t.expires_at) * 1000)::bigint
        from stepfast.tokens t join stepfast.projects p on p.id = t.project
        where t.hash = p_hash and t.revoked_at is null;
      perform set_config('stepfast.token', '', true);
    end $$;

    create function stepfast.project_named_1(p_name text) returns int ${owned} as $$
    begin
      return (select p.id from stepfast.projects p where p.name = p_name);
    end $$;

    create function stepfast.project_ids_1() returns setof int ${owned} as $$
    begin
      return query select p.id from stepfast.projects p order by p.id;
    end $$;

    revoke execute on function stepfast.find_token_1, stepfast.project_named_1, stepfast.project_ids_1 from public;
  `,
  grants: `
    grant execute on function stepfast.find_token_1, stepfast.project_named_1, stepfast.project_ids_1
      to stepfast_app;
  `,
};
