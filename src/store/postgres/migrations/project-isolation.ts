/**
 * Row level security that isolates the rows of a project. Forced, so that it also applies to the owner. Every table with
 * a `project` column uses this policy. The SQL is part of released migrations and must not change.
 */
export const isolateByProject = (table: string): string => `
  alter table stepfast.${table} enable row level security;
  alter table stepfast.${table} force row level security;
  create policy project on stepfast.${table}
    using (project = nullif(current_setting('stepfast.project', true), '')::int)
    with check (project = nullif(current_setting('stepfast.project', true), '')::int);`;
