import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arena, definitionOf, openArena } from '../../kit/server/attack.ts';

/** `npm run attack` allows 100; beside other work the same takes more processor time. */
const busyMs = 300;

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena?.[Symbol.asyncDispose]());

const megabyte = 2 ** 20;
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const status = JSON.stringify({ command: { type: 'status' } });

/** A run whose instructions name a large input thousands of times. */
async function bomb(): Promise<string> {
  const definition = definitionOf(
    [
      { id: 'a', type: 'action', instructions: '{input.x}'.repeat(10_000) },
      {
        id: 'b',
        type: 'action',
        instructions: 'b',
        gate: range(20).map(() => ({ read: range(10).map(() => '{input.x}'.repeat(100)) })),
      },
    ],
    { inputs: { x: { type: 'string' } } },
  );
  const { status: answered, body, text } = await arena.begin(definition, { x: 'y'.repeat(290_000) });
  expect([answered, text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  return body.run;
}

/** Runs with a first batch of some 3.7 MB each. */
async function fatRuns(arena: Arena, count: number): Promise<string[]> {
  const names = range(13).map((index) => `i${index}`);
  const definition = definitionOf([{ id: 'a', type: 'action', instructions: 'x' }], {
    inputs: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  });
  const inputs = Object.fromEntries(names.map((name) => [name, 'z'.repeat(290_000)]));
  const runs: string[] = [];
  for (const _ of range(count)) runs.push((await arena.begin(definition, inputs)).body.run);
  return runs;
}

const isOpen = (socket: Socket): boolean => !socket.destroyed;

test('[S2] a status, a gate and a briefing of a placeholder bomb are small', async () => {
  const run = await bomb();
  const { reader: token, attacker } = arena.tokens;
  await arena.measured();
  const besides = await arena.besides(async () => {
    const answers = await Promise.all(
      range(8).map(() => arena.call('POST', `/v1/runs/${run}/commands`, { token, body: status })),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.text.length).toBeLessThan(megabyte);
    }
    const briefing = await arena.call('GET', `/v1/runs/${run}/briefing`, { token });
    expect(briefing.status).toBe(200);
    expect(briefing.text.length).toBeLessThan(megabyte);
    for (const output of ['one', 'two']) {
      const body = { command: { type: 'advance', output } };
      const advanced = await arena.call('POST', `/v1/runs/${run}/commands`, { token: attacker, body });
      expect(advanced.text.length).toBeLessThan(4 * megabyte);
    }
  });
  expect(besides.failed).toBe(0);
  const { longestMs, peakMb } = await arena.measured();
  expect(peakMb).toBeLessThan(1000);
  expect(longestMs).toBeLessThan(busyMs);
});

test('[S2] long polls of one token are limited, and free again when their clients leave', async () => {
  const { body } = await arena.begin(definitionOf([{ id: 'a', type: 'action', instructions: 'x' }]));
  const path = `/v1/runs/${body.run}/watch?after=999&ms=25000`;
  const { reader: token } = arena.tokens;
  const sockets = range(1000).map(() => arena.unread(path));
  const besides = await arena.besides(async () => {
    await expect.poll(() => arena.metric('stepfast_limited_total{by="waits"}')).toBe(1000 - 16 * 8);
    const refused = await arena.call('GET', path, { token });
    expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await arena.call('GET', '/v1/whoami', { token })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    const short = path.replace('25000', '1');
    await expect.poll(async () => (await arena.call('GET', short, { token })).status).toBe(200);
  });
  expect(besides.failed).toBe(0);
});

test('[S2] large workflows, task lists and pages keep nobody waiting', async () => {
  const { attacker: token } = arena.tokens;
  const loops = range(200).map((index) => `l${index}`);
  const large = definitionOf(
    loops.map((loop) => ({ id: loop, type: 'loop', loop })),
    {
      loops: Object.fromEntries(
        loops.map((loop) => [loop, range(30).map((index) => ({ id: `k${index}`, instructions: 'x' }))]),
      ),
    },
  );
  const tooLarge = definitionOf(
    range(40).map((index) => ({
      id: `s${index}`,
      type: 'action',
      instructions: '{input.x}'.repeat(11_000),
    })),
  );
  const parallel = definitionOf([{ id: 'impl', type: 'loop', parallel: 4 }], {
    name: 'tasks',
    loops: { impl: [{ id: 'do', instructions: 'Do {task.title} {tasks.impl}' }] },
  });
  const lists = [
    range(5000).map((index) => ({ id: `t${index}`, title: `T${'x'.repeat(500)}` })),
    range(5000).map((index) => ({
      id: `t${index}`,
      title: 'T',
      depends_on: range(Math.min(index, 4)).map((back) => `t${index - back - 1}`),
    })),
  ];
  // What is compiled once is no attack.
  await arena.begin(definitionOf([{ id: 'a', type: 'action', instructions: 'x' }]));
  const spent: Record<string, number> = {};
  const during = async (what: string, attack: () => Promise<unknown>): Promise<void> => {
    await arena.measured();
    await attack();
    spent[what] = (await arena.measured()).longestMs;
  };
  const besides = await arena.besides(async () => {
    await during('too large', async () =>
      expect(await arena.begin(tooLarge)).toMatchObject({ status: 422, body: { code: 'not_understood' } }),
    );
    let run = '';
    await during('large', async () => {
      const { status: answered, body } = await arena.begin(large);
      expect(answered).toBe(200);
      run = body.run;
    });
    for (const page of ['page', 'journal', 'briefing', 'workflow', 'workflow/dry-run'])
      await during(`large ${page}`, () =>
        Promise.all(range(4).map(() => arena.call('GET', `/v1/runs/${run}/${page}`, { token }))),
      );
    for (const [index, tasks] of lists.entries()) {
      const { body } = await arena.begin(parallel);
      const commands = (command: object) =>
        arena.call('POST', `/v1/runs/${body.run}/commands`, { token, body: { command } });
      await during(`tasks ${index}`, async () =>
        expect(await commands({ type: 'setTasks', loop: 'impl', tasks })).toMatchObject({ status: 200 }),
      );
      await during(`claim ${index}`, () => commands({ type: 'claim', holder: 'h', session: 'h' }));
      await during(`status ${index}`, () => commands({ type: 'status' }));
      for (const page of ['page', 'journal', 'briefing', 'entries'])
        await during(`${page} ${index}`, () =>
          Promise.all(range(4).map(() => arena.call('GET', `/v1/runs/${body.run}/${page}`, { token }))),
        );
    }
  });
  expect(besides.failed).toBe(0);
  const slow = Object.entries(spent).filter(([, ms]) => ms >= busyMs);
  expect(slow, JSON.stringify(spent)).toEqual([]);
});

/** At the same time: both wait until the server loses its patience, and each measures a server of its own. */
describe.concurrent('of readers that read nothing,', () => {
  test('[S2] event streams that nobody reads cost little, and are disconnected', async ({ expect }) => {
    await using arena = await openArena();
    await fatRuns(arena, 6);
    await arena.measured();
    const sockets = range(100).map(() => arena.unread('/v1/events?after=1'));
    const besides = await arena.besides(async () => {
      await expect.poll(() => arena.metric('stepfast_streams')).toBeGreaterThan(60);
      // Some fill their connection and stall, the rest is not let so far.
      await expect.poll(() => arena.metric('stepfast_streams')).toBe(0);
    });
    await expect.poll(() => arena.metric('stepfast_stalled_readers_total')).toBeGreaterThan(0);
    expect(besides.failed).toBe(0);
    const { peakMb, longestMs } = await arena.measured();
    expect(peakMb).toBeLessThan(1000);
    expect(longestMs).toBeLessThan(busyMs);
    for (const socket of sockets) socket.resume();
    await expect.poll(() => sockets.filter(isOpen).length).toBe(0);
  });

  test('[S2] answers that nobody reads are limited, and their connections closed', async ({ expect }) => {
    await using arena = await openArena();
    const [run = ''] = await fatRuns(arena, 1);
    const { reader: token } = arena.tokens;
    await arena.measured();
    const sockets = range(20).map(() => arena.unread(`/v1/runs/${run}`, 6));
    const besides = await arena.besides(async () => {
      await expect.poll(() => arena.metric('stepfast_limited_total{by="unread"}')).toBeGreaterThan(0);
      const refused = await arena.call('GET', '/v1/whoami', { token });
      expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
      expect(refused.headers.get('retry-after')).toBe('5');
      // Another token of the project works.
      expect((await arena.call('GET', '/v1/whoami', { token: arena.tokens.attacker })).status).toBe(200);
      await expect.poll(async () => (await arena.call('GET', '/v1/whoami', { token })).status).toBe(200);
    });
    expect(besides.failed).toBe(0);
    expect((await arena.measured()).peakMb).toBeLessThan(1000);
    for (const socket of sockets) socket.destroy();
  });
});
