import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type PrivateDatabase, startDatabase } from '../../../test/kit/database.ts';
import { begin, mustLoad, note, noteCommand, send } from '../../../test/kit/sample-run.ts';
import { createPostgres, type Postgres } from './index.ts';

let database: PrivateDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

function open(options: Partial<Parameters<typeof createPostgres>[0]> = {}): Postgres {
  const postgres = createPostgres({ url: database.url, ...options });
  onTestFinished(() => postgres.close());
  return postgres;
}

/** A way to PostgreSQL that can swallow an answer and hang up. */
async function startProxy(): Promise<{ url: string; swallow(): void; swallowed(): boolean }> {
  let swallowing = false;
  let done = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(database.cluster.port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    let sent = '';
    near.on('data', (data) => {
      sent = data.toString('latin1');
      far.write(data);
    });
    far.on('data', (data) => {
      if (swallowing && sent.includes('_1')) {
        swallowing = false;
        done = true;
        near.destroy();
      } else near.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const swallow = (): void => {
    swallowing = true;
  };
  return { url: database.url.replace(/:\d+\//, `:${port}/`), swallow, swallowed: () => done };
}

test('a batch that was committed, but whose answer was lost, is there once and is answered as written', async () => {
  const proxy = await startProxy();
  const store = open({ url: proxy.url, max: 1 }).store(await database.project());
  await begin(store, 'a-run');
  const loaded = await mustLoad(store, 'a-run');
  proxy.swallow();
  const version = await send(store, loaded, noteCommand(loaded, 'one'));
  expect(proxy.swallowed()).toBe(true);
  expect(version).toMatchObject({ seq: 2 });
  expect((await store.entries('a-run')).map(({ seq }) => seq)).toEqual([1, 2]);
  expect((await mustLoad(store, 'a-run')).version).toEqual(version);
});

test('a run that was created, but whose reply was lost, is not taken for a run of another caller', async () => {
  const proxy = await startProxy();
  const store = open({ url: proxy.url, max: 1 }).store(await database.project());
  await begin(store, 'before');
  proxy.swallow();
  expect(await begin(store, 'a-run')).toMatchObject({ seq: 1 });
  expect(proxy.swallowed()).toBe(true);
  expect(await begin(store, 'a-run')).toBe('taken');
});

test('an append whose connection is ended while it waits is sent again, and another one’s batch is still a conflict', async () => {
  const project = await database.project();
  const { postgres } = database;
  const holder = postgres.store(project);
  const store = open({ max: 1 }).store(project);
  await begin(store, 'a-run');
  const loaded = await mustLoad(store, 'a-run');
  let outcome: Promise<unknown> | undefined;
  await holder.locked?.('a-run', async (within) => {
    outcome = send(store, loaded, noteCommand(loaded, 'waits'));
    await waitUntil(async () => (await ended('Lock')) > 0);
    const held = await mustLoad(within, 'a-run');
    await send(within, held, noteCommand(held, 'first'));
  });
  expect(await outcome).toBe('conflict');
  expect((await mustLoad(store, 'a-run')).state.variables).toEqual({ said: 'first' });
});

test('PostgreSQL crashes again and again, and what was answered is there, once, in order', async () => {
  const project = await database.project();
  const runs = Array.from({ length: 6 }, (_, index) => `run-${index}`);
  const first = open({ max: 4, patience: 60_000 });
  const second = open({ max: 4, patience: 60_000 });
  for (const run of runs) await begin(first.store(project), run);
  let writing = true;
  const answered = await Promise.all([
    ...runs.map(async (run, index) => {
      const store = (index % 2 ? first : second).store(project);
      const said: string[] = [];
      for (let count = 0; writing && count < 5000; count += 1) {
        const version = await note(store, run, `${run} ${count}`);
        expect(version).not.toBe('conflict');
        said.push(`${run} ${count}`);
      }
      return said;
    }),
    (async () => {
      for (let crash = 0; crash < 4; crash += 1) {
        await sleep(300);
        await (crash % 2 ? database.cluster.kill() : database.cluster.stop('immediate'));
        await database.cluster.start();
      }
      await sleep(300);
      writing = false;
      return [];
    })(),
  ]);
  for (const [index, run] of runs.entries()) {
    const entries = await first.store(project).entries(run);
    const texts = entries.flatMap(({ events }) =>
      events.flatMap((event) => ('text' in event ? [event.text] : [])),
    );
    expect(texts).toEqual(answered[index]);
    expect(texts.length).toBeGreaterThan(0);
  }
});

test('calls that find no free connection in time are told to try again, and nothing was done', async () => {
  const postgres = open({ max: 1, wait: 200 });
  const store = postgres.store(await database.project());
  await begin(store, 'a-run');
  await store.locked?.('a-run', async () => {
    expect(postgres.counts()).toMatchObject({ total: 1, idle: 0 });
    await expect(store.load('a-run')).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('try again'),
    });
    await expect(note(store, 'a-run', 'x')).rejects.toMatchObject({ code: 'store_busy' });
  });
  expect((await mustLoad(store, 'a-run')).version.seq).toBe(1);
});

test('a call does not wait forever for a locked run', async () => {
  const project = await database.project();
  const store = open({ limit: 1000 }).store(project);
  await begin(store, 'a-run');
  const loaded = await mustLoad(store, 'a-run');
  await database.postgres.store(project).locked?.('a-run', async () => {
    await expect(send(store, loaded, noteCommand(loaded, 'x'))).rejects.toMatchObject({ code: 'store_busy' });
    await expect(store.locked?.('a-run', async () => 1)).rejects.toMatchObject({ code: 'store_busy' });
  });
  expect(await store.locked?.('a-run', async () => 1)).toBe(1);
});

test('a try that was not begun says nothing of the one before it, whose connection was lost', async () => {
  const project = await database.project();
  const store = open({ max: 1, limit: 10_000 }).store(project);
  await begin(store, 'a-run');
  const loaded = await mustLoad(store, 'a-run');
  await database.postgres.store(project).locked?.('a-run', async () => {
    const outcome = send(store, loaded, noteCommand(loaded, 'x')).catch((error: unknown) => error);
    await waitUntil(async () => (await ended('Lock')) > 0);
    expect(await outcome).toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('unknown whether it was done'),
    });
  });
});

test('where PostgreSQL is away for longer than patience lasts, the outcome is said to be unknown', async () => {
  const store = open({ url: 'postgres://nobody@127.0.0.1:1/none', patience: 100 }).store(1);
  await expect(store.load('a-run')).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('send the same call again with its key'),
  });
});

test('a server closes at any moment, connecting or not', async () => {
  const project = await database.project();
  for (const pause of [0, 1, 2, 3, 5, 8, 13, 21]) {
    const postgres = createPostgres({ url: database.url });
    const store = postgres.store(project);
    await store.keep(`closing-${pause}`, 'text');
    await begin(store, `closing-${pause}`);
    const watching = store.watch(`closing-${pause}`, 1, 10);
    await sleep(pause);
    await postgres.close();
    await watching;
    await postgres.close();
    expect(postgres.counts()).toMatchObject({ total: 0 });
  }
});

test('a history that was changed behind our back is told, not read', async () => {
  const project = await database.project();
  const store = database.postgres.store(project);
  const change = (sql: string) => database.sql(`${sql} and project = ${project}`);
  for (const run of ['edited', 'cut', 'short']) {
    await begin(store, run);
    for (const text of ['one', 'two', 'three']) await note(store, run, text, { key: text, reply: text });
  }
  await change(`update stepfast.events set body = replace(body, 'two', 'TWO') where run = 'edited'`);
  await change(`delete from stepfast.events where run = 'cut' and seq = 2`);
  await change(`delete from stepfast.events where run = 'short' and seq = 4`);
  for (const run of ['edited', 'cut', 'short'])
    await expect(store.entries(run), run).rejects.toMatchObject({ code: 'store_corrupt' });
});

/** Ends the connections that wait for the kind; how many. */
async function ended(waiting: string): Promise<number> {
  const rows = await database.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = $1 and datname = $2`,
    [waiting, database.name],
  );
  return rows.length;
}

async function waitUntil(happened: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 300_000; Date.now() < deadline; await sleep(20))
    if (await happened()) return;
  throw new Error('it did not happen within five minutes');
}
