import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../../scripts/ensure-built.ts';
import { migrateAll } from '../../../src/cli/serve/migrate.ts';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import {
  createPostgres,
  createProjects,
  createTokens,
  type DatabaseOptions,
  type Postgres,
} from '../../../src/store/postgres/index.ts';
import { hashToken } from '../../../src/token-format.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../../../test/kit/postgres.ts';
import { type ServerOptions, type ServerProcess, startServer } from './servers.ts';

export interface Database {
  cluster: Cluster;
  databaseName: string;
  project: number;
  /** An engine in this process, outside the servers. */
  engine: Engine;
}

/** A migrated database with a project, servers in front of it, and an agent's token. */
export interface Team extends Database {
  servers: readonly ServerProcess[];
  token: string;
  /** Creates another database in the same cluster, without servers. */
  another(name: string): Promise<Database>;
  /** Tokens of so many agents, with so many of them in one project. */
  tokens(agents: number, together: number): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TeamOptions extends ClusterOptions {
  servers: number;
  server?: Pick<ServerOptions, 'args' | 'env'>;
  /** Database URL for the servers, if different. */
  route?(cluster: Cluster, database: string): Promise<string>;
  pool?: Partial<DatabaseOptions>;
}

// Stops all child processes, however this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

export async function createTeam(options: TeamOptions): Promise<Team> {
  ensureBuilt();
  const cluster = await startCluster(options);
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-team-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  stack.use(cluster);
  const opened: Postgres[] = [];
  stack.defer(async () => void (await Promise.all(opened.map((each) => each.close()))));
  const first = await open('team');
  const url = cluster.url('team');
  const scopes = ['read', 'write'];
  const { token } = await createTokens(url).create(first.project, { kind: 'agent', name: 'bench', scopes });
  const databaseUrl = (await options.route?.(cluster, 'team')) ?? url;
  const starting = Array.from({ length: options.servers }, async () => {
    const server = await startServer({ databaseUrl, directory, ...options.server });
    stack.defer(() => server.stop());
    return server;
  });
  const servers = await Promise.all(starting);
  const all = stack.move();
  return {
    ...{ ...first, servers, token, another: open, tokens },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };

  async function open(name: string): Promise<Database> {
    const url = await cluster.createDatabase(name);
    await migrateAll(url);
    const { id: project } = await createProjects(url).create('bench');
    const postgres = createPostgres({ url, ...options.pool });
    opened.push(postgres);
    const engine = createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition });
    return { cluster, databaseName: name, project, engine };
  }

  /** In bulk, because ten thousand calls of `stepfast token` would take longer than the measurement. */
  async function tokens(agents: number, together: number): Promise<string[]> {
    const made = Array.from({ length: agents }, (_, number) => {
      const id = `a${String(number).padStart(7, '0')}`;
      const token = `sf_${id}_${randomBytes(32).toString('base64url')}`;
      return { id, project: 2 + Math.floor(number / together), token };
    });
    await cluster.query(
      'team',
      `insert into stepfast.projects (name) select 'project-' || n from generate_series(2, $1::int) n`,
      [1 + Math.ceil(agents / together)],
    );
    await cluster.query(
      'team',
      `insert into stepfast.tokens (id, project, hash, kind, name, scopes)
        select id, project, hash, 'agent', id, '{read,write}' from unnest($1::text[], $2::int[], $3::text[]) as t (id, project, hash)`,
      [
        made.map(({ id }) => id),
        made.map(({ project }) => project),
        made.map(({ token }) => hashToken(token)),
      ],
    );
    return made.map(({ token }) => token);
  }
}
