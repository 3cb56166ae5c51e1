import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMovingEndpoint } from '../../kit/moving-endpoint.ts';
import { type Cluster, startCluster } from '../../kit/postgres.ts';
import { ownedDatabase, startTeam, type Team } from '../../kit/server/team.ts';

let primary: Cluster;
let standby: Cluster;

beforeAll(async () => {
  primary = await startCluster({ fsync: false });
  standby = await startCluster({ fsync: false, standbyOf: primary });
});
afterAll(async () => {
  await standby?.dispose();
  await primary?.dispose();
});

const ready = async ({ call }: Team): Promise<number> => (await call('GET', '/readyz')).status;

/** As many reads at once tell it as a server has connections, and more. */
async function statuses({ call }: Team, run: string): Promise<Set<string>> {
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('GET', `/v1/runs/${run}`)));
  return new Set(answers.map(({ status, body }) => (status === 200 ? body.state.status : status)));
}

/** As clients do it: the same call with the same key until it is answered. */
async function advanced(team: Team, { run, at }: { run: string; at: string }): Promise<void> {
  const key = `key of ${run}`;
  await expect
    .poll(async () => (await team.advance(run, at, key)).body)
    .toMatchObject({ reply: { status: 'complete' } });
}

async function caughtUp(): Promise<void> {
  const [{ at } = { at: '' }] = await primary.query<{ at: string }>(
    'postgres',
    'select pg_current_wal_lsn()::text as at',
  );
  const reached = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done';
  await expect.poll(() => standby.query('postgres', reached, [at])).toEqual([{ done: true }]);
}

test('S9: a server survives a failover to a read-only node and back, and the promotion of that node', async () => {
  const { url } = await ownedDatabase(primary, 'moved');
  using endpoint = await startMovingEndpoint(primary.port);
  await using team = await startTeam(url.replace(`:${primary.port}/`, `:${endpoint.port}/`));
  await team.completesRun();
  const begun = await team.begin();
  await caughtUp();

  // A node that may be old answers nothing.
  await standby.query('postgres', 'select pg_wal_replay_pause()');
  endpoint.moveTo(standby.port);
  endpoint.cut();
  await expect.poll(() => ready(team)).toBe(503);
  const refused = await Promise.all([
    team.advance(begun.run, begun.at),
    team.call('GET', `/v1/runs/${begun.run}`),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([503, 503]);

  endpoint.moveTo(primary.port);
  await advanced(team, begun);
  expect(await statuses(team, begun.run)).toEqual(new Set(['complete']));
  await expect.poll(() => ready(team)).toBe(200);
  await team.completesRun();

  // The node takes over.
  const last = await team.begin();
  await standby.query('postgres', 'select pg_wal_replay_resume()');
  await primary.stop();
  endpoint.moveTo(standby.port);
  await expect.poll(() => ready(team)).toBe(503);
  await standby.query('postgres', 'select pg_promote()');
  await advanced(team, last);
  await expect.poll(() => ready(team)).toBe(200);
  await team.completesRun();
  for (const run of [begun.run, last.run])
    await expect
      .poll(() =>
        team.receiver.got.flatMap(({ told: { data } }) => (data.run === run ? [data.seq] : [])).sort(),
      )
      .toEqual([1, 2]);
});
