import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PrivateDatabase, startDatabase } from '../../test/kit/database.ts';
import {
  begin,
  type Receiver,
  type Stage,
  setStage,
  startReceiver,
  until,
} from '../../test/kit/server/jobs.ts';
import { createWebhooks, type Webhooks } from './index.ts';

const program = fileURLToPath(new URL('../../test/kit/server/jobs-process.ts', import.meta.url));

let database: PrivateDatabase;
let stage: Stage;
let webhooks: Webhooks;
let receiver: Receiver;
const started: ChildProcess[] = [];

beforeAll(async () => {
  database = await startDatabase({ fsync: false });
  stage = await setStage(database);
  webhooks = createWebhooks({ url: stage.url, allow: { http: true, privateAddresses: true } });
  await stage.sql(`update stepfast_jobs.queue set retry_limit = 100, retry_delay = 1, retry_delay_max = 1
    where name = 'webhook'`);
});
afterAll(async () => {
  await webhooks?.close();
  await stage?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map(kill));
  await receiver.close();
  await stage.sql('delete from stepfast_jobs.job');
  await stage.sql('delete from stepfast.webhooks');
});

/** When a delivery whose server died is tried again. */
const expiry = (seconds: number) =>
  stage.sql(`update stepfast_jobs.queue set expire_seconds = $1 where name = 'webhook'`, [seconds]);

async function startServer(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, stage.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  child.stdout.setEncoding('utf8');
  const [said] = await once(child.stdout, 'data');
  expect(said).toBe('ready\n');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** How many batches it dispatched. */
async function stop(child: ChildProcess): Promise<number> {
  const exit = once(child, 'exit');
  const said = child.stdout ? once(child.stdout, 'data') : undefined;
  child.kill('SIGTERM');
  const [count] = (await said) ?? [];
  await exit;
  return Number(count);
}

const idsOf = ({ got }: Receiver): Map<string, Set<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const { told, headers } of got) {
    const batch = `${told.data.run}/${told.data.seq}`;
    ids.set(batch, (ids.get(batch) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return ids;
};

test('a server killed between the cursor and the delivery loses nothing: another delivers, under the same id', async () => {
  const project = await stage.project('killed');
  await expiry(3);
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  receiver.answer = () => 'hang';
  const first = await startServer();
  const run = await begin(stage.engine(project));
  await until(() => receiver.got.length === 1, 'the first attempt');
  await kill(first);
  const [cursor] = await stage.sql<{ told: boolean }>(
    `select d.tx >= (select max(tx) from stepfast.events e where e.project = d.project) as told
     from stepfast.dispatch d where project = $1`,
    [project],
  );
  expect(cursor?.told).toBe(true);
  receiver.answer = () => 204;
  await startServer();
  await until(() => receiver.got.length >= 2, 'the second attempt');
  expect(receiver.got.map(({ told }) => told.data.run)).toEqual([run, run]);
  expect(idsOf(receiver).get(`${run}/1`)?.size).toBe(1);
});

test('of two servers one dispatches each batch, and every delivery is made once', async () => {
  const project = await stage.project('two');
  await expiry(120);
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  const servers = await Promise.all([startServer(), startServer()]);
  const engine = stage.engine(project);
  const runs: string[] = [];
  for (let round = 0; round < 10; round += 1)
    runs.push(...(await Promise.all(Array.from({ length: 10 }, () => begin(engine)))));
  await until(() => receiver.got.length >= runs.length, 'all deliveries');
  const dispatched = await Promise.all(servers.map(stop));
  expect(dispatched.reduce((sum, count) => sum + count, 0)).toBe(runs.length);
  expect(receiver.got.map(({ told }) => told.data.run).sort()).toEqual(runs.sort());
});

test('a database that goes away and comes back delays deliveries, and that is all', async () => {
  const project = await stage.project('away');
  await expiry(3);
  await webhooks.add(project, { url: receiver.url, events: ['*'] });
  await startServer();
  const engine = stage.engine(project);
  const runs = [await begin(engine)];
  for (let round = 0; round < 2; round += 1) {
    await database.cluster.stop('immediate');
    await database.cluster.start();
    await until(async () => {
      try {
        runs.push(await begin(engine));
        return true;
      } catch {
        return false;
      }
    }, 'the database');
  }
  await until(() => runs.every((run) => idsOf(receiver).has(`${run}/1`)), 'all deliveries');
  expect(started.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null)).toBe(true);
});
