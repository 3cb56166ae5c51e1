import type { Migration } from './migration.ts';

/** How many agents use a token; without a number the server decides. */
export const tokenAgents: Migration = {
  id: 11,
  name: 'token-agents',
  sql: `
    alter table stepfast.tokens add column agents int check (agents > 0);

    create function stepfast.find_token_2(p_hash text)
      returns table (id text, project int, project_name text, kind text, name text, scopes text[], expires_ms bigint,
        agents int)
      language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    begin
      perform set_config('stepfast.token', p_hash, true);
      return query select t.id, t.project, p.name, t.kind, t.name, t.scopes,
          (extract(epoch from t.expires_at) * 1000)::bigint, t.agents
        from stepfast.tokens t join stepfast.projects p on p.id = t.project
        where t.hash = p_hash and t.revoked_at is null;
      perform set_config('stepfast.token', '', true);
    end $$;
    revoke execute on function stepfast.find_token_2 from public;
  `,
  grants: 'grant execute on function stepfast.find_token_2 to stepfast_app;',
};
