import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StepfastError } from '../../../src/errors.ts';
import { hashToken } from '../../../src/server/index.ts';
import { startServer } from './http-kit.ts';

test('a client that guesses tokens is slowed down, and no other', async () => {
  let now = Date.now();
  await using own = await startServer({ limits: { failuresPerMinute: 5 }, clock: () => now, proxies: 1 });
  const token = own.token('north');
  const guess = (from: string, with_ = `sf_0_${'x'.repeat(43)}`) =>
    own.call('GET', '/v1/whoami', { token: with_, headers: { 'X-Forwarded-For': `1.2.3.4, ${from}` } });
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  const statuses = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await guess('10.0.0.1')).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(await guess('10.0.0.2')).toMatchObject({ status: 401 });
  // One that has just been good is good behind the same address, and so is one that was before.
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  now += 3000;
  for (let count = 0; count < 3; count += 1) await guess('10.0.0.1');
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 200 });
  own.backend.revoke(hashToken(token));
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 429 });
  // From then on it is a guess like the others, and costs no look.
  let asked = 0;
  const find = own.backend.findToken;
  own.backend.findToken = (hash) => {
    asked += 1;
    return find(hash);
  };
  expect(await guess('10.0.0.1', token)).toMatchObject({ status: 429 });
  expect(asked).toBe(0);
  now += 61_000;
  expect(await guess('10.0.0.1')).toMatchObject({ status: 401 });
});

/** A server on which every look for a token takes until it is told to answer. */
async function slowServer() {
  const own = await startServer({ limits: { failuresPerMinute: 5 }, clock: () => 1_000_000_000_000 });
  const find = own.backend.findToken;
  const counts = { asked: 0 };
  own.backend.findToken = async (hash) => {
    counts.asked += 1;
    await sleep(30);
    return await find(hash);
  };
  const statuses = (tokens: readonly string[]): Promise<number[]> =>
    Promise.all(tokens.map(async (token) => (await own.call('GET', '/v1/whoami', { token })).status));
  return { own, counts, statuses };
}

test('many guesses at once are no more than one after the other', async () => {
  const { own, counts, statuses } = await slowServer();
  await using _ = own;
  const bad = Array.from({ length: 60 }, (_, at) => `sf_0_${String(at).padStart(43, 'x')}`);
  const answers = await statuses(bad);
  expect(counts.asked).toBe(5);
  expect(answers.filter((status) => status === 401)).toHaveLength(5);
  expect(answers.filter((status) => status === 429)).toHaveLength(55);
});

test('many good tokens may come at once from one address', async () => {
  const { own, statuses } = await slowServer();
  await using _ = own;
  const good = Array.from({ length: 30 }, () => own.token('north'));
  expect(new Set(await statuses(good))).toEqual(new Set([200]));
});

test('a token is not called bad because the database was away', async () => {
  const { own, statuses } = await slowServer();
  await using _ = own;
  const find = own.backend.findToken;
  own.backend.findToken = async () => {
    throw new StepfastError('store_failed', 'gone');
  };
  const good = Array.from({ length: 12 }, () => own.token('north'));
  for (const token of good) expect(await statuses([token])).toEqual([503]);
  own.backend.findToken = find;
  expect(await statuses(good.slice(0, 1))).toEqual([200]);
});
