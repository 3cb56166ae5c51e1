import type { Engine } from '../../engine/index.ts';
import {
  createPages,
  createRowProjection,
  createRuntime,
  knownWorkflows,
  type PageSource,
} from '../../runtime/index.ts';
import type { Postgres } from '../../store/postgres/index.ts';
import { serverWorkspace } from './server-workspace.ts';

type Database = Pick<Postgres, 'store' | 'publications' | 'rows' | 'tail' | 'onWake'>;

/** Batches that are read at once to bring lists up to date. */
const maxChanges = 500;

/** The pages of a project in PostgreSQL. */
export function createDatabasePages(postgres: Database, engine: Engine, project: number): PageSource {
  const { load, entries } = postgres.store(project);
  const workspace = serverWorkspace(postgres.publications(project));
  const { briefings } = createRuntime({ engine, workspace, clock: Date.now });
  const rows = createRowProjection({
    ...postgres.rows(project),
    async changes(after) {
      const { rows: batches, ...rest } = await postgres.tail(project, after, maxChanges);
      return { ...rest, runs: [...new Set(batches.map(({ run }) => run))] };
    },
    onChange: (listener) =>
      postgres.onWake((wake, projects) => {
        if (wake === 'runs' && (projects?.has(project) ?? true)) listener();
      }),
  });
  return createPages({
    load,
    entries,
    rows,
    briefings,
    workspace,
    workflows: () => knownWorkflows(workspace),
  });
}
