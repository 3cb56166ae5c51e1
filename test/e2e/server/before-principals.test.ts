/** A database of the version before principals: migrated, its runs go on. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { call } from '../../kit/server/http.ts';
import { becomePerson } from '../../kit/server/person.ts';
import { type Cli, createCli, type Served } from '../../kit/server/serve.ts';

/** Made by `pg_dump` of PostgreSQL 15 from a server of that version, with one agent, one person and two runs. */
const dump = join(import.meta.dirname, 'fixtures/before-principals.sql.gz');
/** Tokens in that database. */
const robot = 'sf_276472a2b3aa3790_4GSCpfchE5y4iJ2Zl-WEuEaSnOk9EEEI1SmASYU94EECuekOq';
const oldAda = 'sf_6e4a69eddabecb07_5tTxxFyBa9PgLUhdqfsU1jDf798NcmSDE5SDsv4iqcg_2WfeH';
const waiting = '/v1/runs/waiting-20261118-aaaaaaaa';
const looping = '/v1/runs/looping-20261118-bbbbbbbb';

let cluster: Cluster;
let cli: Cli;
let server: Served;

beforeAll(async () => {
  cluster = await startCluster({ fsync: false });
  for (const role of ['stepfast login createrole', 'stepfast_app nologin'])
    await cluster.query('postgres', `create role ${role}`);
  await cluster.query('postgres', 'grant stepfast_app to stepfast with admin option');
  await cluster.query('postgres', 'create database before owner stepfast');
  await cluster.query('before', 'alter schema public owner to stepfast');
  execFileSync('psql', ['-qX', '-v', 'ON_ERROR_STOP=1', '-d', cluster.url('before', 'stepfast')], {
    input: gunzipSync(readFileSync(dump)),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  cli = createCli({ HOME: cluster.directory, STEPFAST_DATABASE_URL: cluster.url('before', 'stepfast') });
});
afterAll(async () => {
  cli?.dispose();
  await cluster?.dispose();
});

const send = (token: string, run: string, command: object) =>
  call(server.url, 'POST', `${run}/commands`, { token, body: { command } });

test('is migrated, its runs go on, and old entries are of an unknown agent', async () => {
  expect((await cli.run(['serve', '--port', '0'])).stderr).toContain('stepfast migrate');
  await cli.output('migrate');
  server = await cli.serve('--no-jobs');

  const { entries } = (await call(server.url, 'GET', `${waiting}/journal`, { token: robot })).body;
  expect(entries.map(({ by }: { by: string }) => by)).toContain('unknown agent');
  expect((await call(server.url, 'GET', '/v1/whoami', { token: oldAda })).body).toMatchObject({
    kind: 'person',
    scopes: ['read', 'write', 'gates'],
  });
  const approve = { type: 'review', verdict: 'approve', actor: { kind: 'person' } };
  expect((await send(oldAda, waiting, approve)).body.code).toBe('credential_required');
  const invitation = await cli.output('token', 'create', 'Ada', '--project', 'shop', '--kind', 'person');
  const { credential } = await becomePerson(server.url, invitation);
  expect((await send(credential, waiting, approve)).body.reply).toMatchObject({ step: 'build' });
  const build = { type: 'advance', output: 'built', session: 'old-session' };
  expect((await send(robot, waiting, build)).body.reply).toMatchObject({ status: 'complete' });

  // The session and its task belonged to nobody: the one that had them goes on.
  const { state } = (await call(server.url, 'GET', looping, { token: robot })).body;
  expect(JSON.stringify(state)).toContain('old-session');
  const done = { type: 'advance', output: 'done', session: 'old-session' };
  expect((await send(robot, looping, done)).body.reply).toMatchObject({ status: 'running' });
  await send(robot, looping, { type: 'claim', holder: 'old-session', session: 'old-session' });
  expect((await send(robot, looping, { ...done, output: 'done too' })).body.reply).toMatchObject({
    status: 'complete',
  });
  const journal = (await call(server.url, 'GET', `${looping}/journal`, { token: robot })).body.entries;
  expect(new Set(journal.map(({ by }: { by: string }) => by))).toEqual(
    new Set(['unknown agent', 'agent robot']),
  );
});
