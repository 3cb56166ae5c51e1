import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  begin,
  type HttpServer,
  readEvents,
  type SseEvent,
  startServer,
} from '../../test/kit/server/http.ts';
import { hashToken } from './index.ts';

const batches = (events: SseEvent[]): SseEvent[] => events.filter(({ event }) => event === 'batch');
const note = (text: string) => ({ command: { type: 'note', kind: 'reminder', key: 'k', text } });

const gauge = async ({ metrics }: HttpServer, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await metrics())?.[1]);

test('a stream tells what happens, in order, and goes on after the last id', async () => {
  await using server = await startServer();
  const token = server.token('north');
  const run = await begin(server, token);
  const say = (text: string) => server.call('POST', `/v1/runs/${run}/commands`, { token, body: note(text) });
  const events = await readEvents(server.url, token, (seen) => batches(seen).length === 3, {
    onOpen: async () => {
      for (const text of ['one', 'two', 'three']) await say(text);
    },
  });
  expect(batches(events).map(({ data }) => [data.run, data.seq])).toEqual([2, 3, 4].map((seq) => [run, seq]));
  expect(batches(events)[0]?.data.batch.events).toMatchObject([{ type: 'note.added', text: 'one' }]);
  expect(JSON.stringify(events)).not.toContain('"reply"');

  await say('four');
  const missed = await readEvents(server.url, token, (seen) => batches(seen).length === 2, {
    headers: { 'Last-Event-ID': batches(events)[1]?.id ?? '' },
  });
  expect(batches(missed).map(({ data }) => data.seq)).toEqual([4, 5]);
  const asked = await readEvents(server.url, token, (seen) => batches(seen).length === 1, {
    path: `/v1/events?after=${batches(missed)[0]?.id}`,
  });
  expect(batches(asked).map(({ data }) => data.seq)).toEqual([5]);
});

test('a stream of one run moves on past the others', async () => {
  await using server = await startServer();
  const token = server.token('north');
  const [quiet, busy] = [await begin(server, token), await begin(server, token)];
  const events = await readEvents(server.url, token, (seen) => batches(seen).length === 1, {
    path: `/v1/events?run=${quiet}`,
    onOpen: async () => {
      const { asked } = server.backend;
      await server.call('POST', `/v1/runs/${busy}/commands`, { token, body: note('noise') });
      // So that each is read apart.
      await expect.poll(() => server.backend.asked).toBeGreaterThan(asked);
      await server.call('POST', `/v1/runs/${quiet}/commands`, { token, body: note('mine') });
    },
  });
  expect(batches(events).map(({ data }) => data.run)).toEqual([quiet]);
  expect(events.filter(({ id, event }) => id !== undefined && event === undefined).length).toBeGreaterThan(1);
});

test('a cursor from the future begins anew', async () => {
  await using server = await startServer();
  const token = server.token('north');
  await begin(server, token);
  const [reset] = await readEvents(server.url, token, (seen) => seen.some(({ event }) => event === 'reset'), {
    headers: { 'Last-Event-ID': '99999999' },
  }).then((events) => events.filter(({ event }) => event === 'reset'));
  expect(reset?.data.cursor).toBe(reset?.id);
  const refused = await server.call('GET', '/v1/events', {
    token,
    headers: { 'Last-Event-ID': "1' or 1=1" },
  });
  expect(refused).toMatchObject({ status: 400 });
});

test('many listeners cost one query a wake', async () => {
  await using server = await startServer();
  const token = server.token('north');
  const run = await begin(server, token);
  const readers = Array.from({ length: 40 }, () =>
    readEvents(server.url, token, (seen) => batches(seen).length === 1),
  );
  await expect.poll(() => gauge(server, 'stepfast_streams')).toBe(40);
  // Each has asked for itself until it is with the others.
  for (let seen = -1; seen !== server.backend.asked; await sleep(300)) seen = server.backend.asked;
  const before = server.backend.asked;
  await server.call('POST', `/v1/runs/${run}/commands`, { token, body: note('once') });
  const told = await Promise.all(readers);
  expect(told.every((events) => batches(events)[0]?.data.seq === 2)).toBe(true);
  expect(server.backend.asked - before).toBeLessThan(10);
});

test('a stream that was cut off while the database was away goes on', async () => {
  await using server = await startServer();
  const token = server.token('north');
  const run = await begin(server, token);
  const events = await readEvents(server.url, token, (seen) => batches(seen).length === 2, {
    onOpen: async () => {
      const { asked } = server.backend;
      await server.call('POST', `/v1/runs/${run}/commands`, { token, body: note('before') });
      await expect.poll(() => server.backend.asked).toBeGreaterThan(asked);
      server.backend.breakDown(new Error('gone'));
      const { asked: before } = server.backend;
      server.backend.wakeUp();
      await expect.poll(() => server.backend.asked).toBeGreaterThan(before);
      server.backend.breakDown(undefined);
      await server.call('POST', `/v1/runs/${run}/commands`, { token, body: note('after') });
    },
  });
  expect(batches(events).map(({ data }) => data.seq)).toEqual([2, 3]);
});

test('a token has only so many streams, and gets them back', async () => {
  await using server = await startServer({ limits: { agents: 1, perAgent: 2 } });
  const token = server.token('north');
  const stops = [new AbortController(), new AbortController()];
  for (const { signal } of stops) {
    const open = await fetch(`${server.url}/v1/events`, {
      headers: { Authorization: `Bearer ${token}` },
      signal,
    });
    expect(open.status).toBe(200);
  }
  const refused = await server.call('GET', '/v1/events', { token });
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  expect(refused.headers.get('retry-after')).toBe('10');
  stops[0]?.abort();
  const deadline = Date.now() + 60_000;
  let status = 0;
  while (status !== 200 && Date.now() < deadline) {
    const again = await fetch(`${server.url}/v1/events`, { headers: { Authorization: `Bearer ${token}` } });
    status = again.status;
    await again.body?.cancel();
    await sleep(20);
  }
  expect(status).toBe(200);
  stops[1]?.abort();
});

test('a reader that stands still is dropped, the others go on', async () => {
  await using server = await startServer({ limits: { streamBytes: 20_000, stallMs: 1000 } });
  const token = server.token('north', { kind: 'person' });
  const state = {
    status: 'running',
    step: 'plan',
    stepType: 'action',
    tasks: {},
    outputs: { plan: 'x'.repeat(200_000) },
    artefacts: [],
    contextActionExecuted: false,
  };
  const large = { type: 'import', state, summary: undefined };
  const stuck = await fetch(`${server.url}/v1/events`, { headers: { Authorization: `Bearer ${token}` } });
  expect(await gauge(server, 'stepfast_streams')).toBe(1);
  const deadline = Date.now() + 120_000;
  // What sockets take in on the way is a few megabytes.
  while ((await gauge(server, 'stepfast_streams')) === 1 && Date.now() < deadline) {
    for (let count = 0; count < 20; count += 1) await begin(server, token, large);
  }
  expect(await gauge(server, 'stepfast_streams')).toBe(0);
  await stuck.body?.cancel();
});

test('the streams of a token end when it is revoked, and do not come back', async () => {
  await using server = await startServer();
  const [token, other] = [server.token('north'), server.token('north')];
  const revoke = () => server.backend.revoke(hashToken(token));
  const events = await readEvents(server.url, token, () => false, { onOpen: revoke });
  expect(events.at(-1)?.event).toBe('reconnect');
  expect(await gauge(server, 'stepfast_streams')).toBe(0);
  expect(await server.call('GET', '/v1/events', { token })).toMatchObject({ status: 401 });
  expect(await readEvents(server.url, other, (seen) => seen.length > 0)).not.toEqual([]);
});

test('no stream lasts for ever, because tokens do not', async () => {
  await using server = await startServer({ limits: { streamMs: 200 } });
  const events = await readEvents(server.url, server.token('north'), () => false);
  expect(events.at(-1)?.event).toBe('reconnect');
  expect(await gauge(server, 'stepfast_streams')).toBe(0);
});

test('a HEAD request opens no stream', async () => {
  await using server = await startServer({ limits: { agents: 1, perAgent: 1 } });
  const token = server.token('north');
  for (let count = 0; count < 3; count += 1)
    expect(await server.call('HEAD', '/v1/events', { token })).toMatchObject({ status: 400 });
  expect(await gauge(server, 'stepfast_streams')).toBe(0);
  expect(await readEvents(server.url, token, (seen) => seen.length > 0)).not.toEqual([]);
});

test('a server that stops ends its streams with the word to come back, and finishes what runs', async () => {
  const server = await startServer();
  const token = server.token('north');
  const run = await begin(server, token);
  let closed: Promise<void> | undefined;
  const watch = server.call('GET', `/v1/runs/${run}/watch?after=1&ms=25000`, { token });
  await expect.poll(() => gauge(server, 'stepfast_http_in_flight')).toBe(1);
  const events = await readEvents(server.url, token, () => false, {
    onOpen: () => {
      closed = server.listening.close();
    },
  });
  expect(events.some(({ event }) => event === 'reconnect')).toBe(true);
  expect(await watch).toMatchObject({ status: 200, body: { seq: 1 } });
  await closed;
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});

test('a server that stops is not ready, and still answers what is on its way', async () => {
  const server = await startServer({ limits: { lingerMs: 10_000 } });
  const token = server.token('north');
  expect(await server.call('GET', '/readyz')).toMatchObject({ status: 200 });
  const closed = server.listening.close();
  const late = await server.call('GET', '/readyz');
  expect(late).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  const answered = await server.call('GET', '/v1/whoami', { token });
  expect(answered).toMatchObject({ status: 200 });
  expect(answered.headers.get('connection')).toBe('close');
  expect(await server.call('GET', '/v1/events', { token })).toMatchObject({ status: 503 });
  await closed;
});
