import { StepfastError } from '../../errors.ts';
import { asOwner } from './owner-connection.ts';

export interface ProjectRecord {
  id: number;
  name: string;
}

export interface Projects {
  /** Throws `project_taken`, `bad_project_name`. */
  create(name: string): Promise<ProjectRecord>;
  named(name: string): Promise<ProjectRecord | undefined>;
  list(): Promise<ProjectRecord[]>;
}

const pattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Requires the owner of the database. */
export function createProjects(url: string): Projects {
  return {
    async create(name) {
      if (!pattern.test(name))
        throw new StepfastError(
          'bad_project_name',
          `'${name}' is not a project name: use at most 63 lowercase letters, digits and hyphens`,
        );
      return asOwner(url, async (client) => {
        const { rows } = await client.query<ProjectRecord>(
          'insert into stepfast.projects (name) values ($1) on conflict do nothing returning id, name',
          [name],
        );
        const [created] = rows;
        if (created) return created;
        throw new StepfastError('project_taken', `project '${name}' already exists: choose another name`);
      });
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
  };
}
