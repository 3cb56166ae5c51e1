import { execFile } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { postgresBinaries } from '../../../scripts/install-postgres.ts';
import { migrateAll } from '../../../src/cli/serve/migrate.ts';
import { createDatabase } from '../../kit/database.ts';
import { startCluster } from '../../kit/postgres.ts';
import { begin, call } from '../../kit/server/http.ts';
import { createCli, type Served } from '../../kit/server/serve.ts';
import { ownedDatabase } from '../../kit/server/team.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const [preamble = '', ...blocks] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
  ([, text = '']) => text,
);
const rules = readFileSync(join(root, 'deploy/alerts.yaml'), 'utf8');
const run = promisify(execFile);

let cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

test('S11: docs/operations.md explains each alert, and no other', () => {
  const { groups } = parse(rules) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap((group) => group.rules.map(({ alert }) => alert));
  const explained = [...page.matchAll(/^### (Stepfast\w+)$/gm)].map(([, name]) => name);
  expect(explained.toSorted()).toEqual(alerts.toSorted());
});

const inShell = (script: string, options: { cwd: string; env: NodeJS.ProcessEnv }) =>
  run('sh', ['-eu', '-c', script], options).catch((error: unknown) => {
    throw new Error(`this block of the page fails:\n${script}\n${JSON.stringify(error)}`);
  });

describe('S11: on the PostgreSQL of the system, as an owner that is no superuser,', () => {
  test('every command of docs/operations.md works', async () => {
    const database = await createDatabase();
    cleanups.push(database[Symbol.asyncDispose]);
    const stage = await setStage(database.url);
    expect(blocks.length).toBeGreaterThan(20);
    for (const block of blocks)
      await inShell(`${stage.asHere(preamble)}\n${stage.asHere(block)}`, {
        cwd: stage.directory,
        env: stage.env,
      });
    const metrics = (await call(stage.server.metricsUrl, 'GET', '')).text;
    const named = new Set(
      [...`${rules}${page}`.matchAll(/\b((?:stepfast|nodejs|process)_[a-z0-9_]+)\b/g)].map(
        ([, name]) => name ?? '',
      ),
    );
    expect([...named].filter((name) => !prefixes.has(name) && !metrics.includes(`\n${name}`))).toEqual([]);
    expect(await stage.project('list')).toEqual('');
  });
});

test('S11: the queries of docs/operations.md work on PostgreSQL 18, as an owner that is no superuser', async () => {
  const cluster = await startCluster({ fsync: false, bin: await postgresBinaries() });
  cleanups.push(cluster.dispose);
  const { url } = await ownedDatabase(cluster, 'stepfast');
  await migrateAll(url);
  const queries = blocks.filter((block) => block.includes('psql'));
  expect(queries.length).toBeGreaterThan(2);
  const env = { PATH: process.env.PATH, STEPFAST_DATABASE_URL: url };
  const lines = queries.flatMap((block) => block.split('\n').filter((line) => line.startsWith('psql')));
  await inShell(lines.join('\n'), { cwd: cluster.directory, env });
});

/** Schemas of the database, and the beginnings of names. */
const prefixes = new Set(['stepfast_jobs', 'stepfast_queue']);

/** A server that has something to show. */
async function setStage(databaseUrl: string) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-page-')));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of ['bin', 'state']) mkdirSync(join(directory, name));
  const main = join(root, 'dist/cli.js');
  writeFileSync(join(directory, 'bin/stepfast'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755,
  });
  const own = { HOME: directory, XDG_STATE_HOME: join(directory, 'state') };
  const cli = createCli({ ...own, STEPFAST_DATABASE_URL: databaseUrl });
  cleanups.push(() => cli.dispose());
  await cli.output('project', 'create', 'shop');
  const { id, token } = JSON.parse(await cli.output('token', 'create', 'ci', '--project', 'shop', '--json'));
  const target = ['http://127.0.0.1:9/', '--allow-http', '--allow-private', '--project', 'shop', '--json'];
  const webhook = JSON.parse(await cli.output('webhook', 'add', ...target));
  const server: Served = await cli.serve();
  const log = join(directory, 'log');
  writeFileSync(log, server.log());
  server.child.stdout?.on('data', (chunk) => appendFileSync(log, chunk));
  await begin({ call: (...args) => call(server.url, ...args) }, token);
  await call(server.url, 'GET', '/v1/whoami', { token: 'bad' });
  // What is in the page, as it is here. The log is written a second late.
  const asHere = (text: string): string =>
    text
      .replace('postgres://stepfast@db.example.com/stepfast', databaseUrl)
      .replace('http://127.0.0.1:7437', server.url)
      .replace('http://127.0.0.1:9437/metrics', server.metricsUrl)
      .replace(/journalctl .*;/, `cat '${log}';`)
      .replace('sleep 2', `until grep -q "$request" '${log}'; do sleep 0.2; done`)
      .replaceAll('4f1a09c2d3e4b5a6', id)
      .replaceAll('wh_…', webhook.id);
  const env = { ...own, PATH: `${join(directory, 'bin')}:${process.env.PATH}` };
  return { directory, env, asHere, server, project: (...args: string[]) => cli.output('project', ...args) };
}
