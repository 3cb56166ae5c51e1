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

/** For the owner of the database. */
export function createProjects(url: string): Projects {
  return {
    async create(name) {
      if (!pattern.test(name))
        throw new StepfastError(
          'bad_project_name',
          `'${name}' is no project name: use lower-case letters, digits and hyphens, at most 63`,
        );
      return asOwner(url, async (client) => {
        const { rows } = await client.query<ProjectRecord>(
          'insert into stepfast.projects (name) values ($1) on conflict do nothing returning id, name',
          [name],
        );
        const [made] = rows;
        if (made) return made;
        throw new StepfastError('project_taken', `there is a project '${name}' already: choose another name`);
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
