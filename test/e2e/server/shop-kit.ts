import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { type Cli, createCli, type Served } from './serve-kit.ts';

/** A real server with the project `shop`. */
export interface Shop extends AsyncDisposable {
  cluster: Cluster;
  cli: Cli;
  server: Served;
  /** For the files of a test. */
  directory: string;
}

export async function openShop(database: string): Promise<Shop> {
  const cluster = await startCluster({ fsync: false });
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-shop-')));
  const cli = createCli({ HOME: directory, STEPFAST_DATABASE_URL: await cluster.createDatabase(database) });
  await cli.output('migrate');
  await cli.output('project', 'create', 'shop');
  const server = await cli.serve('--no-jobs');
  return {
    cluster,
    cli,
    server,
    directory,
    async [Symbol.asyncDispose]() {
      cli.dispose();
      await cluster.dispose();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
