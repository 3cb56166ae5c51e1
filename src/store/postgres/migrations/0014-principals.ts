import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const owned = `language plpgsql security definer set search_path = pg_catalog, pg_temp`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;
const functions = [
  ...['find_token_3', 'make_token_1', 'publish_1', 'publications_1', 'may_start_1'],
  ...['join_person_1', 'passphrase_1', 'make_credential_1'],
]
  .map((name) => `stepfast.${name}`)
  .join(', ');

/**
 * Tokens of runners and admins, tokens that were made with another token, workflows that persons published, and the
 * passphrases with which people decide.
 */
export const principals: Migration = {
  id: 14,
  name: 'principals',
  sql: `
    alter table stepfast.tokens drop constraint tokens_kind_check,
      add constraint tokens_kind_check check (kind in ('agent', 'runner', 'person', 'admin')),
      add column parent text collate "C" references stepfast.tokens on delete cascade,
      add column credential boolean not null default false;
    alter table stepfast.audit drop constraint audit_kind_check,
      add constraint audit_kind_check check (kind in ('operator', 'agent', 'runner', 'person', 'admin'));

    -- Until now the first start of a workflow was told, once.
    drop index stepfast.audit_publications;

    -- A token ends with the one that it was made with. Only a credential decides: a person's token of earlier versions
    -- lies on a disk.
    create function stepfast.find_token_3(p_hash text)
      returns table (id text, project int, project_name text, kind text, name text, scopes text[], expires_ms bigint,
        agents int, parent text)
      ${owned} as $$
    declare
      v_project int;
    begin
      perform set_config('stepfast.token', p_hash, true);
      select t.project into v_project from stepfast.tokens t where t.hash = p_hash;
      perform set_config('stepfast.project', coalesce(v_project::text, ''), true);
      return query select t.id, t.project, p.name, t.kind, t.name,
          case when t.credential then t.scopes else array_remove(t.scopes, 'decide') end,
          (extract(epoch from least(t.expires_at, m.expires_at)) * 1000)::bigint, t.agents,
          case when t.kind = 'agent' then m.name end
        from stepfast.tokens t join stepfast.projects p on p.id = t.project
          left join stepfast.tokens m on m.project = t.project and m.id = t.parent
        where t.hash = p_hash and t.revoked_at is null
          and (t.parent is null or (m.id is not null and m.revoked_at is null));
      perform set_config('stepfast.token', '', true);
      perform set_config('stepfast.project', '', true);
    end $$;
    -- Of a runner, for a session that it starts. False if the runner's token has ended or has too many.
    create function stepfast.make_token_1(p_project int, p_parent text, p_id text, p_hash text, p_name text,
      p_seconds int) returns boolean
      ${owned} as $$
    declare
      v_made boolean;
    begin
      ${within}
      delete from stepfast.tokens t
        where t.project = p_project and t.parent = p_parent and t.expires_at < now() - interval '1 day';
      insert into stepfast.tokens (id, project, hash, kind, name, scopes, expires_at, parent)
        select p_id, p_project, p_hash, 'agent', m.name || '/' || p_name, array['read', 'write', 'gates'],
            least(now() + make_interval(secs => p_seconds), m.expires_at), m.id
          from stepfast.tokens m
          where m.project = p_project and m.id = p_parent and m.kind = 'runner' and m.revoked_at is null
            and (m.expires_at is null or m.expires_at > now())
            and (select count(*) from stepfast.tokens t where t.project = p_project and t.parent = p_parent) < 10000;
      v_made := found;
      perform set_config('stepfast.project', '', true);
      return v_made;
    end $$;

    alter table stepfast.projects add column published_only boolean not null default false;

    -- The digest leaves prose out, so that a change of it needs no new publication.
    create table stepfast.publications (
      project int not null references stepfast.projects on delete cascade,
      name text collate "C" not null,
      digest text collate "C" not null,
      hash text collate "C" not null,
      body text not null,
      published_by text not null,
      published_at timestamptz not null default now(),
      primary key (project, name, hash)
    );
    create index publications_by_digest on stepfast.publications (project, digest);
    ${isolateByProject('publications')}

    create function stepfast.publish_1(p_project int, p_name text, p_digest text, p_hash text, p_body text, p_by text)
      returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.publications (project, name, digest, hash, body, published_by)
        values (p_project, p_name, p_digest, p_hash, p_body, p_by)
        on conflict (project, name, hash) do update set published_by = p_by, published_at = now();
    end $$;

    create function stepfast.publications_1(p_project int, p_name text, p_limit int)
      returns table (body text) ${invoked} as $$
    begin
      ${within}
      return query select u.body from (
          select distinct on (p.name) p.name, p.body, p.published_at from stepfast.publications p
            where p.project = p_project and (p_name is null or p.name = p_name)
            order by p.name, p.published_at desc
        ) u order by u.published_at desc limit p_limit;
    end $$;

    -- Projects cannot be read by servers.
    create function stepfast.may_start_1(p_project int, p_digest text) returns boolean ${owned} as $$
    begin
      ${within}
      return not coalesce((select p.published_only from stepfast.projects p where p.id = p_project), true)
        or exists (select from stepfast.publications p where p.project = p_project and p.digest = p_digest);
    end $$;

    create table stepfast.people (
      project int not null references stepfast.projects on delete cascade,
      name text collate "C" not null,
      secret text not null,
      set_at timestamptz not null default now(),
      primary key (project, name)
    );
    ${isolateByProject('people')}

    -- An invitation is used once: it sets the passphrase and becomes a token for the person's agents. Others for the
    -- same person end with it.
    create function stepfast.join_person_1(p_project int, p_invitation text, p_secret text, p_id text, p_hash text,
      p_seconds int) returns boolean
      ${owned} as $$
    declare
      v_name text;
    begin
      ${within}
      update stepfast.tokens t set revoked_at = now()
        where t.project = p_project and t.id = p_invitation and t.scopes = array['join'] and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > now())
        returning t.name into v_name;
      if v_name is not null then
        insert into stepfast.people (project, name, secret) values (p_project, v_name, p_secret)
          on conflict (project, name) do update set secret = p_secret, set_at = now();
        delete from stepfast.tokens t where t.project = p_project and t.name = v_name and t.credential;
        update stepfast.tokens t set revoked_at = now()
          where t.project = p_project and t.name = v_name and t.scopes = array['join'] and t.revoked_at is null;
        insert into stepfast.tokens (id, project, hash, kind, name, scopes, expires_at)
          values (p_id, p_project, p_hash, 'agent', v_name, array['read', 'write', 'gates'],
            now() + make_interval(secs => p_seconds));
      end if;
      perform set_config('stepfast.project', '', true);
      return v_name is not null;
    end $$;

    create function stepfast.passphrase_1(p_project int, p_name text) returns text ${owned} as $$
    declare
      v_secret text;
    begin
      ${within}
      select p.secret into v_secret from stepfast.people p where p.project = p_project and p.name = p_name;
      perform set_config('stepfast.project', '', true);
      return v_secret;
    end $$;

    -- For a person whose passphrase was just checked. A person whom an issuer knows only reads with it. False if the
    -- token that asks has ended, or there are too many.
    create function stepfast.make_credential_1(p_project int, p_name text, p_parent text, p_id text, p_hash text,
      p_scopes text[], p_seconds int) returns boolean
      ${owned} as $$
    declare
      v_made boolean;
    begin
      ${within}
      delete from stepfast.tokens t
        where t.project = p_project and t.name = p_name and t.credential and t.expires_at < now();
      insert into stepfast.tokens (id, project, hash, kind, name, scopes, expires_at, parent, credential)
        select p_id, p_project, p_hash, 'person', p_name, p_scopes, now() + make_interval(secs => p_seconds),
            p_parent, true
          where (p_scopes = array['read']
              or exists (select from stepfast.people p where p.project = p_project and p.name = p_name))
            and (p_parent is null or exists (select from stepfast.tokens m where m.project = p_project
              and m.id = p_parent and m.revoked_at is null and (m.expires_at is null or m.expires_at > now())))
            and (select count(*) from stepfast.tokens t
              where t.project = p_project and t.name = p_name and t.credential) < 100;
      v_made := found;
      perform set_config('stepfast.project', '', true);
      return v_made;
    end $$;

    revoke execute on function ${functions} from public;
  `,
  grants: `
    grant select, insert, update on stepfast.publications to stepfast_app;
    grant execute on function ${functions} to stepfast_app;
  `,
};
