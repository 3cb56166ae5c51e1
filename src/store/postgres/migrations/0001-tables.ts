import type { Migration } from './migration.ts';
import { isolateByProject } from './project-isolation.ts';

/**
 * State and batches are JSON as text, because jsonb does not support \u0000. A run's row is small and updated in place
 * (storage main, free space in the page, no index on changing columns); its batches are in the partition of the month
 * that it started in. Under row level security no index on an expression is used, so every searched value is a column.
 */
export const tables: Migration = {
  id: 1,
  name: 'tables',
  sql: `
    create table stepfast.projects (
      id int generated always as identity primary key,
      name text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
      created_at timestamptz not null default now()
    );

    create table stepfast.definitions (
      project int not null references stepfast.projects,
      hash text collate "C" not null,
      name text not null,
      body text not null,
      primary key (project, hash)
    );
    ${isolateByProject('definitions')}

    create table stepfast.runs (
      project int not null,
      run text collate "C" not null,
      backwards text collate "C" not null generated always as (reverse(run)) stored,
      began date not null,
      seq int not null,
      hash text collate "C" not null,
      definition text collate "C" not null,
      status text collate "C" not null,
      live boolean not null,
      created_ms bigint not null,
      updated_ms bigint not null,
      format int not null,
      state text not null,
      primary key (project, run)
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
    alter table stepfast.runs alter column state set storage main;
    create index runs_by_age on stepfast.runs (project, created_ms desc, run);
    create index runs_live on stepfast.runs (project, created_ms desc, run) where live;
    create index runs_by_end on stepfast.runs (project, backwards);
    create index runs_by_month on stepfast.runs (project, began);
    ${isolateByProject('runs')}

    create table stepfast.events (
      project int not null,
      run text collate "C" not null,
      began date not null,
      seq int not null,
      hash text collate "C" not null,
      body text not null,
      reply text,
      at timestamptz not null default now(),
      tx bigint not null default pg_current_xact_id()::text::bigint,
      primary key (project, run, seq, began)
    ) partition by range (began);
    create index events_by_tx on stepfast.events (project, tx);
    ${isolateByProject('events')}

    -- Callers' keys, apart from the events: to look through a partitioned table locks all its partitions. Those of a
    -- run lie together, so that a write touches few pages.
    create table stepfast.keys (
      project int not null,
      run text collate "C" not null,
      key uuid not null,
      seq int not null,
      primary key (project, run, key)
    );
    ${isolateByProject('keys')}

    create table stepfast.texts (
      project int not null,
      run text collate "C" not null,
      digest text collate "C" not null,
      body bytea not null,
      at timestamptz not null default now(),
      primary key (project, run, digest)
    );
    ${isolateByProject('texts')}

    do $$ begin
      alter table stepfast.runs alter column state set compression lz4;
      alter table stepfast.events alter column body set compression lz4;
      alter table stepfast.events alter column reply set compression lz4;
      alter table stepfast.definitions alter column body set compression lz4;
      alter table stepfast.texts alter column body set compression lz4;
    exception when feature_not_supported then null;
    end $$;
  `,
  grants: `
    grant usage on schema stepfast to stepfast_app;
    grant select on stepfast.meta, stepfast.migrations to stepfast_app;
    grant select, insert on stepfast.definitions to stepfast_app;
    grant select, insert, update, delete on stepfast.runs to stepfast_app;
    grant select, insert, delete on stepfast.events, stepfast.keys, stepfast.texts to stepfast_app;
  `,
};
