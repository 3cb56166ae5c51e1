import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { owner } from '../../test/kit/clusters.ts';
import { createDatabase } from '../../test/kit/database.ts';
import {
  begin,
  type Receiver,
  reviewed,
  type Stage,
  setStage,
  startReceiver,
  twoSteps,
  until,
} from '../../test/kit/server/jobs.ts';
import { createTokens } from '../store/postgres/index.ts';
import {
  createJobs,
  createWebhooks,
  installJobs,
  type Jobs,
  type JobsOptions,
  openDatabase,
  type Webhooks,
} from './index.ts';

let stage: Stage;
let webhooks: Webhooks;
let receiver: Receiver;
const running: Jobs[] = [];
const allow = { http: true, privateAddresses: true };
const hour = 3_600_000;

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
  await stage.sql('delete from stepfast.webhooks');
});

async function start(options: Partial<JobsOptions> = {}): Promise<Jobs> {
  const { timing, ...rest } = options;
  const jobs = createJobs({
    url: stage.url,
    allow,
    ...rest,
    timing: { poll: 200, supervise: 1000, ...timing },
  });
  running.push(jobs);
  await jobs.start();
  return jobs;
}

const done = (queue: string): Promise<number> =>
  stage
    .sql<{ count: number }>(
      `select count(*)::int from stepfast_jobs.job where name = $1 and state = 'completed'`,
      [queue],
    )
    .then(([row]) => row?.count ?? 0);

const person = { kind: 'person', name: 'Ada' } as const;

test('an approval that waits is told, again the next day, and three times at most', async () => {
  const project = await stage.project('waiting');
  await webhooks.add(project, { url: receiver.url, events: ['approval.waiting'] });
  const engine = stage.engine(project);
  await start({ timing: { remindAfter: 1000, remindEvery: 1000 } });
  const run = await begin(engine, reviewed);
  await engine.execute(run, { type: 'advance', output: 'look', now: Date.now() });
  await until(() => receiver.got.length >= 3, 'three reminders');
  await until(async () => (await done('reminder')) === 3, 'the last job');
  await until(async () => (await done('webhook')) === 3, 'the deliveries');
  const [left] = await stage.sql(
    `select from stepfast_jobs.job where state <> 'completed' and name <> 'sweep'`,
  );
  expect(left).toBeUndefined();
  const told = receiver.got.map(({ told }) => told);
  expect(told.map(({ type, data }) => [type, data.run, data.reminder]).sort()).toEqual([
    ['approval.waiting', run, 1],
    ['approval.waiting', run, 2],
    ['approval.waiting', run, 3],
  ]);
  expect(told[0]?.data.status).toBe('waiting');
  expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
});

test('a reminder that comes after the approval does nothing, and a later wait has its own', async () => {
  const project = await stage.project('approved');
  await webhooks.add(project, { url: receiver.url, events: ['approval.waiting'] });
  const engine = stage.engine(project);
  await start({ timing: { remindAfter: 600_000, remindEvery: 600_000 } });
  const first = await begin(engine, reviewed);
  await engine.execute(first, { type: 'advance', output: 'look', now: Date.now() });
  await engine.execute(first, {
    type: 'review',
    verdict: 'revise',
    feedback: 'no',
    actor: person,
    now: Date.now(),
  });
  await sleep(2);
  await engine.execute(first, { type: 'advance', output: 'look again', now: Date.now() });
  const second = await begin(engine, reviewed);
  await engine.execute(second, { type: 'advance', output: 'look', now: Date.now() });
  await engine.execute(second, { type: 'review', verdict: 'approve', actor: person, now: Date.now() });
  const reminders = `select id from stepfast_jobs.job where name = 'reminder'`;
  await until(async () => (await stage.sql(reminders)).length === 3, 'three reminders');
  await stage.sql(`update stepfast_jobs.job set start_after = now() where name = 'reminder'`);
  await until(async () => (await done('reminder')) === 3, 'three looks');
  await until(() => receiver.got.length > 0, 'one reminder');
  await until(async () => (await done('webhook')) === 1, 'its delivery');
  expect(receiver.got.map(({ told }) => [told.data.run, told.data.reminder])).toEqual([[first, 1]]);
});

test('a question reminds too, an agent that reviews does not', async () => {
  const project = await stage.project('kinds');
  await webhooks.add(project, { url: receiver.url, events: ['approval.waiting'] });
  const engine = stage.engine(project);
  await start({ timing: { remindAfter: 1000, remindEvery: 600_000 } });
  const asking = await begin(engine);
  const { reply } = await engine.execute(asking, { type: 'ask', text: 'which?', now: Date.now() });
  expect(reply).not.toHaveProperty('code');
  const peer = { ...reviewed, steps: reviewed.steps.map((step) => ({ ...step, review: { by: 'critic' } })) };
  const judged = await begin(engine, { ...peer, name: 'peer' });
  await engine.execute(judged, { type: 'advance', output: 'look', now: Date.now() });
  await until(async () => (await done('reminder')) === 2, 'two looks');
  await until(() => receiver.got.length > 0, 'one reminder');
  expect(receiver.got.map(({ told }) => told.data.run)).toEqual([asking]);
});

test('ended runs that are not kept go after an hour, others stay', async () => {
  const project = await stage.project('kept');
  const engine = stage.engine(project);
  const fleeting = { ...twoSteps, name: 'fleeting', keep: false };
  const [live, gone, kept] = [
    await begin(engine, fleeting),
    await begin(engine, fleeting),
    await begin(engine),
  ];
  for (const run of [gone, kept])
    await engine.execute(run, { type: 'cancel', reason: 'enough', actor: person, now: Date.now() });
  await start();
  await until(async () => (await done('sweep')) === 3, 'the sweeps');
  expect((await engine.ids()).sort()).toEqual([live, gone, kept].sort());
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  await stage.sql('delete from stepfast_jobs.job');
  await start({ clock: () => Date.now() + 2 * hour });
  await until(async () => !(await engine.ids()).includes(gone), 'the sweep');
  await until(async () => (await done('sweep')) === 3, 'the sweeps');
  expect((await engine.ids()).sort()).toEqual([live, kept].sort());
  const left = await stage.sql('select run from stepfast.events where run = $1', [gone]);
  expect(left).toEqual([]);
});

test('tokens that ended a month ago go, and the coming months are there', async () => {
  const project = await stage.project('tokens');
  const tokens = createTokens(stage.url);
  const make = (name: string) => tokens.create(project, { kind: 'agent', name, scopes: ['read'] });
  for (const name of ['live', 'new', 'old']) await make(name);
  await stage.sql(`update stepfast.tokens set expires_at = now() - interval '1 day' where name = 'new'`);
  await stage.sql(`update stepfast.tokens set revoked_at = now() - interval '31 days' where name = 'old'`);
  await stage.sql(`drop table stepfast.${await lastMonth()}`);
  await start();
  await until(async () => (await done('sweep')) === 3, 'the sweeps');
  const left = await stage.sql<{ name: string }>('select name from stepfast.tokens order by name');
  expect(left.map(({ name }) => name)).toEqual(['live', 'new']);
  const months = await stage.sql<{ name: string }>(monthsQuery);
  expect(months).toHaveLength(4);
});

test('months whose runs ended long ago are dropped, those with a live run stay, and none without being told to', async () => {
  const project = await stage.project('months');
  const engine = stage.engine(project);
  for (const month of ['2025-01-01', '2025-02-01']) await makeMonth(month);
  const [old, live] = [await begin(engine), await begin(engine)];
  const older = await begin(engine);
  for (const run of [old, older])
    await engine.execute(run, { type: 'cancel', reason: 'enough', actor: person, now: Date.now() }, 'cancel');
  await engine.execute(live, { type: 'note', kind: 'decision', text: 'on', now: Date.now() }, 'note');
  await moveTo(old, '2025-01-15');
  for (const run of [older, live]) await moveTo(run, '2025-02-15');
  await stage.sql('update stepfast.runs set updated_ms = 0 where run = any($1)', [[old, older, live]]);
  const keysOf = (run: string) => stage.sql('select from stepfast.keys where run = $1', [run]);
  await start();
  await until(async () => (await done('sweep')) === 3, 'the sweeps');
  expect(await engine.view(old)).toBeDefined();
  expect(await keysOf(old)).not.toEqual([]);
  expect(await keysOf(live)).not.toEqual([]);
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  await stage.sql('delete from stepfast_jobs.job');
  await start({ retentionMonths: 12 });
  await until(async () => (await done('sweep')) === 3, 'the sweeps');
  expect(await engine.view(old)).toBeUndefined();
  expect(await engine.view(live)).toBeDefined();
  // Those that ended so long ago go before their month does.
  expect(await keysOf(older)).toEqual([]);
  expect(await keysOf(old)).toEqual([]);
  expect(await keysOf(live)).not.toEqual([]);
  const months = (await stage.sql<{ name: string }>(monthsQuery)).map(({ name }) => name);
  expect(months).not.toContain('events_2025_01');
  expect(months).toContain('events_2025_02');
});

test('keys of runs that ended long ago go round by round, of every project, and no others', async () => {
  const columns = 'project, seq, hash, definition, status, created_ms, updated_ms, format, state';
  for (const project of [await stage.project('many'), await stage.project('few')]) {
    const run = await begin(stage.engine(project));
    for (const [name, began, live, count] of [
      ['old', `date '2025-01-10' + n / 700`, false, 1600],
      ['live', `date '2025-01-10'`, true, 5],
      ['young', 'current_date', false, 700],
    ] as const)
      await stage.sql(
        `insert into stepfast.runs (run, began, live, ${columns})
          select '${name}-' || n, ${began}, ${live}, ${columns.replace('updated_ms', '0')}
            from stepfast.runs, generate_series(1, ${count}) n where project = $1 and run = $2`,
        [project, run],
      );
    await stage.sql(
      `insert into stepfast.keys (project, run, key, seq)
        select project, run, gen_random_uuid(), 1 from stepfast.runs where project = $1 and run ~ '^(old|live|young)-'`,
      [project],
    );
  }
  let rounds = 0;
  for (let after: string | null = ''; after !== null && rounds < 100; rounds += 1) {
    const [row]: { next: string | null }[] = await stage.sql(
      'select stepfast.forget_keys_1(12, $1) as next',
      [after],
    );
    after = row?.next ?? null;
  }
  expect(rounds).toBeGreaterThanOrEqual(8);
  expect(rounds).toBeLessThan(100);
  const left = await stage.sql(
    `select split_part(run, '-', 1) as kind, count(*)::int as count from stepfast.keys
      where run ~ '^(old|live|young)-' group by 1 order by 1`,
  );
  expect(left).toEqual([
    { kind: 'live', count: 10 },
    { kind: 'young', count: 1400 },
  ]);
});

test('sweeps are done once a slot, however many servers start', async () => {
  await Promise.all([start(), start(), start()]);
  // Each schedules its sweeps before it stops.
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  const [row] = await stage.sql<{ count: number }>(
    `select count(*)::int from stepfast_jobs.job where name = 'sweep'`,
  );
  expect(row?.count).toBe(3);
});

test('a cursor of another cluster is renewed by the migration, and nothing is told twice', async () => {
  const project = await stage.project('restored');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const engine = stage.engine(project);
  await begin(engine);
  await stage.sql('update stepfast.dispatch set tx = 1000000000');
  await stage.sql('update stepfast.webhooks set since = 1000000000');
  await installJobs({ url: stage.url });
  await start();
  const fresh = await begin(engine);
  await until(() => receiver.got.length > 0, 'the new run');
  expect(receiver.got.map(({ told }) => told.data.run)).toEqual([fresh]);
});

test('servers neither make nor change the job tables, and say what to do where they are missing', async () => {
  await using bare = await createDatabase('template0');
  const jobs = createJobs({ url: bare.url });
  await expect(jobs.start()).rejects.toThrow('stepfast migrate');
  const app = (sql: string) => stage.cluster.query(stage.name, `set role stepfast_app; ${sql}`);
  await expect(app('create table stepfast_jobs.x ()')).rejects.toThrow('permission denied');
  await expect(app('select * from stepfast_jobs.schedule')).rejects.toThrow('permission denied');
  await expect(app(`select stepfast_jobs.create_queue('x', '{}')`)).rejects.toThrow('permission denied');
  await expect(app('select stepfast.forget_month_1(0)')).rejects.toThrow('one at least');
  const project = await stage.project('unseen');
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const database = openDatabase({ url: stage.url, connections: 1, report: () => undefined });
  const count = 'select count(*)::int from stepfast.webhooks';
  expect(await database.rows(count)).toEqual([{ count: 0 }]);
  expect(await database.within(project, (tx) => tx.rows(count))).toEqual([{ count: 1 }]);
  expect(await database.within(project + 1, (tx) => tx.rows(count))).toEqual([{ count: 0 }]);
  await database.close();
});

const monthsQuery = `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'stepfast.events'::regclass order by 1`;

async function lastMonth(): Promise<string> {
  const months = await stage.sql<{ name: string }>(monthsQuery);
  return months.at(-1)?.name ?? '';
}

async function makeMonth(month: string): Promise<void> {
  const name = `events_${month.slice(0, 7).replace('-', '_')}`;
  await stage.sql(`create table stepfast.${name} partition of stepfast.events
    for values from ('${month}') to (date '${month}' + interval '1 month')`);
  await stage.sql(`alter table stepfast.${name} owner to ${owner}`);
}

async function moveTo(run: string, day: string): Promise<void> {
  await stage.sql('update stepfast.runs set began = $2 where run = $1', [run, day]);
  await stage.sql('update stepfast.events set began = $2 where run = $1', [run, day]);
}
