import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { until } from '../../kit/server/jobs.ts';
import { cliOf, ownedDatabase, startTeam } from '../../kit/server/team.ts';

let cluster: Cluster;
let url: string;
const file = (name: string): string => join(cluster.directory, name);

/** The superuser of tests connects without TLS, all others must not. */
const rules = `
hostssl all all 127.0.0.1/32 trust
hostnossl all postgres 127.0.0.1/32 trust
hostnossl all all 127.0.0.1/32 reject
`;

beforeAll(async () => {
  cluster = await startCluster({ fsync: false });
  for (const name of ['ca', 'other-ca']) makeAuthority(name);
  makeCertificate();
  writeFileSync(join(cluster.directory, 'data', 'pg_hba.conf'), rules);
  for (const [name, value] of Object.entries({
    ssl_cert_file: file('server.pem'),
    ssl_key_file: file('server.key'),
    ssl: 'on',
  }))
    await cluster.query('postgres', `alter system set ${name} = '${value}'`);
  await cluster.query('postgres', 'select pg_reload_conf()');
  const isOn = async () => (await cluster.query<{ ssl: string }>('postgres', 'show ssl'))[0]?.ssl === 'on';
  await until(isOn, 'TLS');
  ({ url } = await ownedDatabase(cluster, 'encrypted'));
});
afterAll(() => cluster?.dispose());

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: cluster.directory, stdio: 'pipe' });
}

function makeAuthority(name: string): void {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  openssl('req', '-x509', ...key, '-out', `${name}.pem`, '-days', '2', '-subj', `/CN=${name}`);
}

function makeCertificate(): void {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'server.key'];
  openssl('req', ...key, '-out', 'server.csr', '-subj', '/CN=database');
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem');
  const { uid, gid } = cluster.account;
  chmodSync(file('server.key'), 0o600);
  if (uid !== undefined && gid !== undefined) chownSync(file('server.key'), uid, gid);
}

test.each(['verify-full', 'require'])(
  'S9: with sslmode=%s and the authority every connection is encrypted',
  async (mode) => {
    const name = mode.replace('-', '_');
    const { url: own } = await ownedDatabase(cluster, name);
    await using team = await startTeam(`${own}?sslmode=${mode}&sslrootcert=${file('ca.pem')}`);
    await team.completesRun();
    expect(await team.call('GET', '/readyz')).toMatchObject({ status: 200 });
    const connections = await cluster.query<{ ssl: boolean; application_name: string }>(
      'postgres',
      'select distinct s.ssl, a.application_name from pg_stat_ssl s join pg_stat_activity a using (pid) where datname = $1',
      [name],
    );
    expect(connections.map(({ application_name }) => application_name).sort()).toEqual([
      'stepfast',
      'stepfast jobs',
      'stepfast wake',
    ]);
    expect(connections.every(({ ssl }) => ssl)).toBe(true);
    expect(team.server.stderr()).not.toContain('WARNING');
  },
);

test.each([
  ['another authority', () => `?sslmode=verify-full&sslrootcert=${file('other-ca.pem')}`, 'sslrootcert'],
  ['no authority', () => '?sslmode=require', 'sslrootcert'],
  ['another name', () => `?sslmode=verify-full&sslrootcert=${file('ca.pem')}`, 'localhost'],
  ['no encryption', () => '?sslmode=disable', 'no encryption'],
])('S9: %s is refused by commands and servers', async (what, query, words) => {
  const host = what === 'another name' ? url.replace('127.0.0.1', 'localhost') : url;
  using cli = cliOf(`${host}${query()}`);
  for (const args of [['migrate'], ['serve', '--port', '0'], ['project', 'list']]) {
    const { code, stderr } = await cli.run(args);
    expect({ args, code }).toEqual({ args, code: 1 });
    expect(stderr).toContain(words);
  }
});

test('S9: a certificate file that is missing is refused before anything is asked', async () => {
  using cli = cliOf(`${url}?sslmode=verify-full&sslrootcert=${file('none.pem')}`);
  expect(await cli.run(['migrate'])).toMatchObject({ code: 2 });
});
