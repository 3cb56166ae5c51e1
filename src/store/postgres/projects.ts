import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StepfastError } from '../../errors.ts';
import { recordAsOwner, wholeServer } from './audit.ts';
import { asOwner, inProject } from './owner-connection.ts';
import { channel } from './wake-channel.ts';

export interface ProjectRecord {
  id: number;
  name: string;
}

export interface Projects {
  /** Throws `project_taken`, `bad_project_name`. */
  create(name: string): Promise<ProjectRecord>;
  named(name: string): Promise<ProjectRecord | undefined>;
  list(): Promise<ProjectRecord[]>;
  /** Throws `project_taken`, `bad_project_name`. */
  rename(project: ProjectRecord, name: string): Promise<void>;
  /** Whether only what a person published may be started. */
  publishOnly(project: ProjectRecord, isOn: boolean): Promise<void>;
  /** Records that a copy was taken. */
  exported(project: ProjectRecord, runs: number): Promise<void>;
  /**
   * Removes the project with everything in it. Its tokens end first; `graceMs` is how long servers may still accept
   * them. A removal that was interrupted is finished by removing the project `removed-<id>`. Returns the number of runs.
   */
  remove(project: ProjectRecord, graceMs?: number): Promise<number>;
}

const pattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Longer than servers remember a token and the longest statement of a request that has begun. */
const defaultGraceMs = 5000;
const runsAtOnce = 200;

/** Requires the owner of the database. */
export function createProjects(url: string): Projects {
  return {
    async create(name) {
      requireName(name);
      return asOwner(url, (client) =>
        inProject(client, wholeServer, async () => {
          const { rows } = await client.query<ProjectRecord>(
            'insert into stepfast.projects (name) values ($1) on conflict do nothing returning id, name',
            [name],
          );
          const [created] = rows;
          if (!created) throw taken(name);
          await recordAsOwner(client, wholeServer, { action: 'project.created', subject: name });
          return created;
        }),
      );
    },
    named: (name) =>
      asOwner(url, async (client) => {
        const { rows } = await client.query<ProjectRecord>(
          'select id, name from stepfast.projects where name = $1',
          [name.replaceAll('\0', '')],
        );
        return rows[0];
      }),
    list: () =>
      asOwner(url, async (client) => {
        const { rows } = await client.query<ProjectRecord>(
          'select id, name from stepfast.projects order by name',
        );
        return rows;
      }),
    async rename(project, name) {
      requireName(name);
      await asOwner(url, (client) =>
        inProject(client, wholeServer, async () => {
          const { rowCount } = await client.query(
            `update stepfast.projects p set name = $2 where p.id = $1
              and not exists (select from stepfast.projects o where o.name = $2)`,
            [project.id, name],
          );
          if (rowCount === 0) throw taken(name);
          const details = { from: project.name };
          await recordAsOwner(client, wholeServer, { action: 'project.renamed', subject: name, details });
          await wakeServers(client);
        }),
      );
    },
    publishOnly: (project, isOn) =>
      asOwner(url, (client) =>
        inProject(client, project.id, async () => {
          await client.query('update stepfast.projects set published_only = $2 where id = $1', [
            project.id,
            isOn,
          ]);
          const action = { action: 'project.publish-only', subject: project.name, details: { isOn } };
          await recordAsOwner(client, project.id, action);
        }),
      ),
    exported: (project, runs) =>
      asOwner(url, (client) =>
        inProject(client, wholeServer, () =>
          recordAsOwner(client, wholeServer, {
            action: 'project.exported',
            subject: project.name,
            details: { runs },
          }),
        ),
      ),
    remove: (project, graceMs = defaultGraceMs) =>
      asOwner(url, async (client) => {
        await client.query('set statement_timeout = 0');
        await inProject(client, project.id, async () => {
          await client.query('update stepfast.projects set name = $2 where id = $1', [
            project.id,
            `removed-${project.id}`,
          ]);
          await client.query('delete from stepfast.tokens where project = $1', [project.id]);
          await wakeServers(client);
        });
        await sleep(graceMs);
        const runs = await removeRuns(client, project.id);
        await inProject(client, project.id, () => removeRest(client, project.id));
        await inProject(client, wholeServer, async () => {
          await client.query('delete from stepfast.projects where id = $1', [project.id]);
          const details = { runs };
          await recordAsOwner(client, wholeServer, {
            action: 'project.removed',
            subject: project.name,
            details,
          });
        });
        return runs;
      }),
  };
}

function requireName(name: string): void {
  if (pattern.test(name)) return;
  throw new StepfastError(
    'bad_project_name',
    `'${name}' is not a project name: use at most 63 lowercase letters, digits and hyphens`,
  );
}

const taken = (name: string): StepfastError =>
  new StepfastError('project_taken', `project '${name}' already exists: choose another name`);

const wakeServers = (client: pg.Client) => client.query('select pg_notify($1, $2)', [channel, 'tokens']);

/** In small transactions, so that a removal that stops halfway has not been for nothing. */
async function removeRuns(client: pg.Client, project: number): Promise<number> {
  for (let total = 0; ; ) {
    const removed = await inProject(client, project, async () => {
      const { rowCount } = await client.query(
        `select stepfast.remove_1($1, r.run)
          from (select run from stepfast.runs where project = $1 limit ${runsAtOnce}) r`,
        [project],
      );
      return rowCount ?? 0;
    });
    total += removed;
    if (removed === 0) return total;
  }
}

/** Every table of the schema that has projects, whatever version made it. */
async function removeRest(client: pg.Client, project: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'project' and not a.attisdropped
      where c.relnamespace = 'stepfast'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  for (const { name } of rows) await client.query(`delete from ${name} where project = $1`, [project]);
  const jobs = await client.query<{ there: boolean }>(
    `select to_regclass('stepfast_jobs.job') is not null as there`,
  );
  if (jobs.rows[0]?.there)
    await client.query('delete from stepfast_jobs.job where data @> $1::jsonb', [
      JSON.stringify({ project }),
    ]);
}
