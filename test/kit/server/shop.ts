import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type OwnedDatabase } from '../database.ts';
import { type Cli, createCli, type Served } from './serve.ts';

/** A migrated database with the project `shop`. */
export interface Shop extends AsyncDisposable {
  database: OwnedDatabase;
  cli: Cli;
  /** For the files of a test. */
  directory: string;
  /** Queries the database as the superuser. */
  sql<R extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
  /** Creates a token of this kind. */
  token(name: string, kind?: string, project?: string): Promise<string>;
}

export async function openShop({
  projects = [],
  env = {},
}: {
  projects?: readonly string[];
  env?: NodeJS.ProcessEnv;
} = {}): Promise<Shop> {
  const database = await createDatabase();
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-shop-')));
  const state = join(directory, 'state');
  mkdirSync(state);
  const home = { HOME: directory, XDG_STATE_HOME: state, STEPFAST_DATABASE_URL: database.url };
  const cli = createCli({ ...home, ...env });
  for (const project of ['shop', ...projects]) await cli.output('project', 'create', project);
  return {
    database,
    cli,
    directory,
    sql: (text, values) => database.cluster.query(database.name, text, values),
    token: (name, kind = 'agent', project = 'shop') =>
      cli.output('token', 'create', name, '--project', project, '--kind', kind),
    async [Symbol.asyncDispose]() {
      await cli.dispose();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** With a real server. */
export async function serveShop(): Promise<Shop & { server: Served }> {
  const shop = await openShop();
  return { ...shop, server: await shop.cli.serve('--no-jobs') };
}
