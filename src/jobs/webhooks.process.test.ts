import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  begin,
  expectSigned,
  type Receiver,
  type Stage,
  setStage,
  startReceiver,
  until,
} from '../../test/kit/server/jobs.ts';
import { createJobs, createWebhooks, type Jobs, type JobsOptions, type Webhooks } from './index.ts';

let stage: Stage;
let webhooks: Webhooks;
let receiver: Receiver;
const running: Jobs[] = [];
const allow = { http: true, privateAddresses: true };

beforeAll(async () => {
  stage = await setStage();
  webhooks = createWebhooks({ url: stage.url, allow });
});
afterAll(async () => {
  await webhooks?.close();
  await stage?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  await stage.sql('delete from stepfast_jobs.job');
  await stage.sql(
    'update stepfast_jobs.queue set retry_limit = 14, retry_delay = 10, expire_seconds = 30 where name = $1',
    ['webhook'],
  );
  await stage.sql('delete from stepfast.webhooks');
});

async function start(options: Partial<JobsOptions> = {}): Promise<Jobs> {
  const { timing, ...rest } = options;
  const jobs = createJobs({
    url: stage.url,
    allow,
    publicUrl: 'https://stepfast.example',
    ...rest,
    timing: { poll: 200, supervise: 1000, ...timing },
  });
  running.push(jobs);
  await jobs.start();
  return jobs;
}

const quickRetries = (limit: number) =>
  stage.sql('update stepfast_jobs.queue set retry_limit = $1, retry_delay = 1 where name = $2', [
    limit,
    'webhook',
  ]);

test('what happens is told to those who asked for it, signed, small and with a link', async () => {
  const project = await stage.project('told');
  const { secret } = await webhooks.add(project, { url: receiver.url, events: ['run.*', 'step.completed'] });
  const engine = stage.engine(project);
  await start({ onWake: (listener) => stage.postgres.onWake(listener) });
  const run = await begin(engine);
  await engine.execute(run, { type: 'note', kind: 'decision', text: 'secret thoughts', now: Date.now() });
  await engine.execute(run, { type: 'advance', output: 'secret output', now: Date.now() });
  await engine.execute(run, { type: 'advance', output: 'done', now: Date.now() });
  await until(() => receiver.got.length >= 3, 'three deliveries');
  const told = receiver.got.map(({ told }) => told).sort((a, b) => Number(a.data.seq) - Number(b.data.seq));
  expect(told.map(({ data }) => [data.seq, data.events])).toEqual([
    [1, ['run.started']],
    [3, ['step.completed']],
    [4, ['step.completed', 'run.completed']],
  ]);
  expect(told[0]).toMatchObject({ type: 'run.changed', data: { project: 'told', run } });
  expect(told[2]?.data).toMatchObject({ status: 'complete', url: `https://stepfast.example/v1/runs/${run}` });
  for (const got of receiver.got) {
    await expectSigned(got, secret);
    expect(got.body.length).toBeLessThan(1000);
    expect(got.body).not.toContain('secret');
    expect(got.headers['content-type']).toBe('application/json');
  }
  const kept = await stage.sql<{ data: string }>('select data::text from stepfast_jobs.job');
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.map(({ data }) => data).join()).not.toContain('secret');
});

test('a webhook gets no events of another project and none from before it was added', async () => {
  const mine = await stage.project('mine');
  const theirs = await stage.project('theirs');
  const [late, other] = [await startReceiver(), await startReceiver()];
  await begin(stage.engine(mine));
  await webhooks.add(mine, { url: receiver.url, events: ['*'] });
  await webhooks.add(theirs, { url: other.url, events: ['*'] });
  const first = await begin(stage.engine(mine));
  await webhooks.add(mine, { url: late.url, events: ['*'] });
  const second = await begin(stage.engine(mine));
  const there = await begin(stage.engine(theirs));
  const jobs = await start();
  await until(() => jobs.health().delivered === 4, 'all deliveries');
  const runsOf = ({ got }: Receiver) => got.map(({ told }) => told.data.run).sort();
  expect(runsOf(receiver)).toEqual([first, second].sort());
  expect(runsOf(late)).toEqual([second]);
  expect(runsOf(other)).toEqual([there]);
  await Promise.all([late.close(), other.close()]);
});

test('a delivery that fails is tried again with the same id, and a success ends the trouble', async () => {
  const project = await stage.project('again');
  const { id, secret } = await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await quickRetries(5);
  receiver.answer = () => (receiver.got.length < 3 ? 500 : 200);
  const jobs = await start();
  await begin(stage.engine(project));
  await until(() => receiver.got.length === 2, 'the second attempt');
  expect((await webhooks.list(project))[0]).toMatchObject({ id, failure: 'HTTP status 500', dead: 0 });
  await until(() => jobs.health().delivered === 1, 'the success');
  expect(receiver.got).toHaveLength(3);
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const got of receiver.got) await expectSigned(got, secret);
  expect((await webhooks.list(project))[0]?.failingSince).toBeUndefined();
  expect(jobs.health()).toMatchObject({ running: true, failed: 2 });
});

test('what fails for good lies in the dead letter queue until it is redelivered, under its old id', async () => {
  const project = await stage.project('dead');
  const { id } = await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await quickRetries(1);
  receiver.answer = () => 503;
  await start();
  await begin(stage.engine(project));
  await until(async () => (await webhooks.list(project))[0]?.dead === 1, 'the dead letter');
  const attempts = receiver.got.length;
  expect(attempts).toBe(2);
  receiver.answer = () => 200;
  expect(await webhooks.redeliver(project, id)).toBe(1);
  await until(() => receiver.got.length === 3, 'the redelivery');
  expect(receiver.got[2]?.headers['webhook-id']).toBe(receiver.got[0]?.headers['webhook-id']);
  expect(receiver.got[2]?.told.data).toEqual(receiver.got[0]?.told.data);
  expect((await webhooks.list(project))[0]?.dead).toBe(0);
  expect(await webhooks.redeliver(project, id)).toBe(0);
});

test('a webhook that has failed for days is disabled, and enabled again by a redelivery', async () => {
  const project = await stage.project('disabled');
  const { id } = await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await stage.sql(`update stepfast.webhooks set failing_since = now() - interval '6 days'`);
  await quickRetries(3);
  receiver.answer = () => 500;
  await start();
  const engine = stage.engine(project);
  await begin(engine);
  await until(async () => (await webhooks.list(project))[0]?.disabledAt !== undefined, 'the end');
  await until(async () => (await webhooks.list(project))[0]?.dead === 1, 'the dead letter');
  const attempts = receiver.got.length;
  expect(attempts).toBeLessThan(3);
  await begin(engine);
  receiver.answer = () => 200;
  expect(await webhooks.redeliver(project, id)).toBe(1);
  await until(() => receiver.got.length > attempts, 'the redelivery');
  expect((await webhooks.list(project))[0]?.disabledAt).toBeUndefined();
});

test('a receiver that answers 410 is left alone at once, and a redirect is a failure that leads nowhere', async () => {
  const project = await stage.project('gone');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  receiver.answer = () => 302;
  await quickRetries(1);
  await start();
  const engine = stage.engine(project);
  await begin(engine);
  await until(async () => (await webhooks.list(project))[0]?.dead === 1, 'the dead letter');
  expect(receiver.got.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  receiver.answer = () => 410;
  await begin(engine);
  await until(async () => (await webhooks.list(project))[0]?.disabledAt !== undefined, 'the end');
  await until(async () => (await webhooks.list(project))[0]?.dead === 2, 'the dead letter');
  expect(receiver.got).toHaveLength(3);
});

test('a name that leads to this machine is refused when it is connected to, and addresses when they are added', async () => {
  const project = await stage.project('inner');
  const { port } = new URL(receiver.url);
  const strict = createWebhooks({ url: stage.url, allow: { http: true } });
  await expect(strict.add(project, { url: receiver.url, events: ['*'] })).rejects.toThrow(
    'not a public address',
  );
  await strict.add(project, { url: `http://localhost:${port}/`, events: ['*'] });
  await strict.close();
  await quickRetries(0);
  await start({ allow: { http: true } });
  await begin(stage.engine(project));
  await until(async () => (await webhooks.list(project))[0]?.dead === 1, 'the dead letter');
  expect((await webhooks.list(project))[0]?.failure).toMatch(
    /localhost resolves to (127\.0\.0\.1|::1), which is not/,
  );
  expect(receiver.connections()).toBe(0);
});

test('http is refused unless it is allowed, also for a webhook that was added before', async () => {
  const project = await stage.project('plain');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await quickRetries(0);
  await start({ allow: {} });
  await begin(stage.engine(project));
  await until(async () => (await webhooks.list(project))[0]?.dead === 1, 'the dead letter');
  expect((await webhooks.list(project))[0]?.failure).toContain('is not https');
  expect(receiver.connections()).toBe(0);
});

test('a receiver that does not answer does not delay the others', async () => {
  const project = await stage.project('slow');
  const quick = await startReceiver();
  receiver.answer = () => 'hang';
  await stage.sql(`update stepfast_jobs.queue set expire_seconds = 600 where name = 'webhook'`);
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await webhooks.add(project, { url: quick.url, events: ['*'] });
  const jobs = await start({ timing: { attempt: 60_000 } });
  const engine = stage.engine(project);
  const runs = await Promise.all(Array.from({ length: 40 }, () => begin(engine)));
  await until(() => quick.got.length >= runs.length, 'all for the quick one');
  expect(new Set(quick.got.map(({ told }) => told.data.run))).toEqual(new Set(runs));
  expect(receiver.got.length).toBeGreaterThan(0);
  expect(receiver.got.length).toBeLessThanOrEqual(4);
  await until(() => jobs.health().delivered === runs.length, 'the end of all of them');
  expect(receiver.got.length).toBeLessThanOrEqual(4);
  await quick.close();
});

test('a job that comes late does nothing: the run or the webhook is gone, or it is disabled', async () => {
  const project = await stage.project('late');
  const { id } = await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const engine = stage.engine(project);
  const [first, second] = [await begin(engine), await begin(engine)];
  const late = (data: object) =>
    stage.sql(
      `insert into stepfast_jobs.job (name, data, dead_letter) values ('webhook', $1, 'webhook-dead')`,
      [data],
    );
  await late({ project, webhook: id, run: first, seq: 1 });
  await late({ project, webhook: id, run: second, seq: 99 });
  await late({ project, webhook: 'wh_gone', run: second, seq: 1 });
  await late({ project: project + 1000, webhook: id, run: second, seq: 1 });
  await late({ project, webhook: id, run: second, seq: 1, reminder: { of: 'position', since: 1, count: 1 } });
  await engine.remove(first);
  await stage.sql('update stepfast.dispatch set tx = (select max(tx) from stepfast.events)');
  const jobs = await start();
  await until(() => jobs.health().delivered === 5, 'all of them');
  expect(receiver.got).toHaveLength(0);
  expect((await webhooks.list(project))[0]?.dead).toBe(0);
});

test('a batch that is committed after a younger one is told too', async () => {
  const project = await stage.project('order');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const engine = stage.engine(project);
  const jobs = await start();
  const sample = await begin(engine);
  await until(() => receiver.got.length === 1, 'the first run');
  const client = new pg.Client({ connectionString: stage.cluster.url(stage.name) });
  await client.connect();
  await client.query('begin');
  await client.query(
    `insert into stepfast.events (project, run, began, seq, hash, body)
     select project, run, began, 2, hash, body from stepfast.events where run = $1`,
    [sample],
  );
  const younger = await begin(engine);
  // It looks twice: at the second time, all that the first has begun is done.
  for (let look = 0; look < 2; look += 1) {
    const { lookedAt } = jobs.health();
    await until(() => jobs.health().lookedAt !== lookedAt, 'another look');
  }
  await client.query('commit');
  await client.end();
  await until(() => receiver.got.length >= 3, 'both');
  const told = receiver.got.map(({ told: { data } }) => `${data.run}/${data.seq}`);
  expect(told.sort()).toEqual([`${sample}/1`, `${sample}/2`, `${younger}/1`].sort());
});

test('more batches than are read at once are all told, whatever the numbers of their transactions', async () => {
  const project = await stage.project('numbers');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const engine = stage.engine(project);
  const runs: string[] = [];
  for (let round = 0; round < 25; round += 1)
    runs.push(...(await Promise.all(Array.from({ length: 10 }, () => begin(engine)))));
  await stage.sql(
    `update stepfast.events e set tx = n.number
     from (select run, row_number() over (order by tx) as number from stepfast.events where project = $1) n
     where e.project = $1 and e.run = n.run`,
    [project],
  );
  await stage.sql('update stepfast.webhooks set since = 0');
  await stage.sql('update stepfast.dispatch set tx = 0 where project = $1', [project]);
  const jobs = await start();
  await until(() => jobs.health().delivered >= runs.length, 'all deliveries');
  expect(receiver.got.map(({ told }) => told.data.run).sort()).toEqual(runs.sort());
});

test('a project whose history cannot be read does not delay the others', async () => {
  const [broken, other] = [await stage.project('broken'), await stage.project('beside')];
  for (const project of [broken, other]) await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const run = await begin(stage.engine(broken));
  await stage.sql('update stepfast.events set body = $1 where project = $2 and run = $3', ['{', broken, run]);
  const told = await begin(stage.engine(other));
  const jobs = await start();
  await until(() => receiver.got.length > 0, 'the delivery of the other project');
  expect(receiver.got[0]?.told.data).toMatchObject({ run: told });
  expect(jobs.health().lastError).toBeDefined();
});

test('what is removed takes its deliveries along, and bad webhooks are refused with a reason', async () => {
  const project = await stage.project('removed');
  const { id } = await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await expect(webhooks.add(project, { url: receiver.url, events: ['nonsense'] })).rejects.toThrow(
    "'nonsense' is not an event filter",
  );
  await expect(webhooks.add(project, { url: receiver.url, events: [] })).rejects.toThrow('1 to 50');
  await expect(webhooks.add(project, { url: 'what', events: ['*'] })).rejects.toMatchObject({
    code: 'bad_webhook',
  });
  await webhooks.remove(project, id);
  await expect(webhooks.remove(project, id)).rejects.toMatchObject({ code: 'no_webhook' });
  await expect(webhooks.redeliver(project, id)).rejects.toMatchObject({ code: 'no_webhook' });
  expect(await webhooks.list(project)).toEqual([]);
});
