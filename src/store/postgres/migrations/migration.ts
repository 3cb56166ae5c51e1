/**
 * One step of the schema, forward only, in a transaction of its own. What is released never changes: a function whose
 * arguments or answer change gets a new number in its name, so that servers of two versions work side by side.
 */
export interface Migration {
  /** Ascending; those from 100 on belong to jobs. */
  id: number;
  name: string;
  sql: string;
  /** What the role of servers may do; given again where the role is new, as after a restore elsewhere. */
  grants?: string;
}

/** Forced row security with the one policy that every table with a `project` has. */
export const isolateByProject = (table: string): string => `
  alter table stepfast.${table} enable row level security;
  alter table stepfast.${table} force row level security;
  create policy project on stepfast.${table}
    using (project = nullif(current_setting('stepfast.project', true), '')::int)
    with check (project = nullif(current_setting('stepfast.project', true), '')::int);`;
