import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stage, setStage } from '../../test/kit/server/jobs.ts';
import { createRunQueue, openDatabase, type RunQueue, type Taken } from './index.ts';

let stage: Stage;
let queue: RunQueue;
let database: ReturnType<typeof openDatabase>;
const lease = 60_000;

beforeAll(async () => {
  stage = await setStage();
  database = openDatabase({ url: stage.url, connections: 8, report: () => undefined });
  queue = createRunQueue(database);
});
afterAll(async () => {
  await database?.close();
  await stage?.[Symbol.asyncDispose]();
});

/** As if the time of what is held, or was put off, had come. */
const passed = (project: number) =>
  stage.sql(`update stepfast.work set until = now() - interval '1 second' where project = $1`, [project]);

test('runs are taken in the order they came, each by one worker, and only those of the project', async () => {
  const project = await stage.project('order');
  const other = await stage.project('other');
  for (const run of ['a', 'b', 'c', 'a']) await queue.enqueue(project, run);
  expect(await queue.take(other, 'w', lease)).toBeUndefined();
  const taken = [1, 2, 3, 4].map((worker) => () => queue.take(project, `w${worker}`, lease));
  const order: (string | undefined)[] = [];
  for (const take of taken) order.push((await take())?.run);
  expect(order).toEqual(['a', 'b', 'c', undefined]);
});

test('a lease that passed lets the next worker take the run, and fences the one before', async () => {
  const project = await stage.project('fenced');
  await queue.enqueue(project, 'run');
  const first = need(await queue.take(project, 'first', lease));
  expect(await queue.take(project, 'second', lease)).toBeUndefined();
  await passed(project);
  const second = need(await queue.take(project, 'second', lease));
  expect(Number(second.epoch)).toBeGreaterThan(Number(first.epoch));
  expect(await queue.heartbeat(project, first, lease)).toBe(false);
  expect(await queue.giveBack(project, first)).toBe(false);
  expect(await queue.finish(project, first)).toBe(false);
  expect(await queue.finish(project, second)).toBe(true);
  expect(await queue.finish(project, second)).toBe(false);
  await queue.enqueue(project, 'run');
  const third = need(await queue.take(project, 'third', lease));
  expect([first.epoch, second.epoch]).not.toContain(third.epoch);
});

test('a heartbeat keeps a run, and what is given back is taken again when its time has come', async () => {
  const project = await stage.project('beating');
  await queue.enqueue(project, 'run');
  const held = need(await queue.take(project, 'w', lease));
  await passed(project);
  expect(await queue.heartbeat(project, held, lease)).toBe(true);
  expect(await queue.take(project, 'v', lease)).toBeUndefined();
  expect(await queue.giveBack(project, held, lease)).toBe(true);
  expect(await queue.take(project, 'v', lease)).toBeUndefined();
  await passed(project);
  const again = await queue.take(project, 'v', lease);
  expect(again?.run).toBe('run');
});

test('a run that is enqueued while it is held comes back when it was finished', async () => {
  const project = await stage.project('back');
  await queue.enqueue(project, 'run');
  const held = need(await queue.take(project, 'w', lease));
  await queue.enqueue(project, 'run');
  await queue.enqueue(project, 'run');
  expect(await queue.take(project, 'v', lease)).toBeUndefined();
  expect(await queue.finish(project, held)).toBe(true);
  const again = need(await queue.take(project, 'v', lease));
  expect(await queue.finish(project, again)).toBe(true);
  expect(await queue.take(project, 'v', lease)).toBeUndefined();
});

test('many workers of whom some die finish every run, and none is held twice at a time', async () => {
  const project = await stage.project('many');
  const runs = Array.from({ length: 120 }, (_, index) => `run-${index}`);
  await Promise.all(runs.map((run) => queue.enqueue(project, run)));
  const holders = new Map<string, string>();
  const finished: string[] = [];
  let deaths = 0;
  const work = async (worker: string): Promise<void> => {
    const deadline = Date.now() + 300_000;
    while (finished.length < runs.length && Date.now() < deadline) {
      const held = await queue.take(project, worker, 2000);
      if (!held) {
        await sleep(100);
        continue;
      }
      const epoch = holders.get(held.run);
      if (epoch !== undefined) expect(Number(held.epoch)).toBeGreaterThan(Number(epoch));
      holders.set(held.run, held.epoch);
      if (deaths < 12 && Number(held.epoch) % 7 === 0) {
        deaths += 1;
        continue;
      }
      if (await queue.finish(project, held)) finished.push(held.run);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => work(`w${index}`)));
  expect(deaths).toBeGreaterThan(0);
  expect(finished.sort()).toEqual(runs.sort());
});

function need(taken: Taken | undefined): Taken {
  if (!taken) throw new Error('nothing was taken');
  return taken;
}
