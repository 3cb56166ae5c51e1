import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answered, call } from '../../kit/server/http.ts';
import { becomePerson } from '../../kit/server/person.ts';
import type { Served } from '../../kit/server/serve.ts';
import { openShop, type Shop } from '../../kit/server/shop.ts';

let shop: Shop;
let server: Served;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  shop = await openShop({ projects: ['strict'] });
  for (const name of ['claude', 'critic', 'thief']) tokens[name] = await shop.token(name);
  tokens.ci = await shop.token('ci', 'runner');
  tokens.stranger = await shop.token('stranger', 'agent', 'strict');
  server = await shop.cli.serve('--no-jobs');
  for (const [name, project] of [
    ['ada', 'shop'],
    ['bea', 'strict'],
  ] as const)
    tokens[name] = (await becomePerson(server.url, await shop.token(name, 'person', project))).credential;
});
afterAll(() => shop?.[Symbol.asyncDispose]());

const workflow = (steps: object[], more: object = {}) => ({
  name: 'attacked',
  description: 'A workflow',
  steps: steps.map((step) => ({ ...('parallel' in step ? {} : { instructions: 'Do it.' }), ...step })),
  ...more,
});
const ask = (who: string, method: string, path: string, body?: unknown): Promise<Answered> =>
  call(server.url, method, path, { token: tokens[who] ?? who, ...(body === undefined ? {} : { body }) });
const begin = async (who: string, definition: object): Promise<{ run: string; at: string }> => {
  const { body } = await ask(who, 'POST', '/v1/runs', { definition, command: { type: 'start' } });
  return { run: body.run, at: body.reply.at };
};
const send = async (who: string, run: string, command: object, circumstances?: object) =>
  (await ask(who, 'POST', `/v1/runs/${run}/commands`, { command, ...(circumstances && { circumstances }) }))
    .body?.reply;
const entries = async (run: string) => (await ask('ada', 'GET', `/v1/runs/${run}/entries`)).body.entries;
const person = { actor: { kind: 'person' } };

describe('S4: a review', () => {
  const reviewed = (review: object) =>
    workflow([
      { id: 'work', type: 'action', review },
      { id: 'end', type: 'action' },
    ]);

  test('of its own work under another session name is labelled where a person looks', async () => {
    const { run, at } = await begin('claude', reviewed({ by: 'reviewer' }));
    await send('claude', run, { type: 'advance', output: 'done', at, session: 's1' });
    await send('claude', run, { type: 'review', verdict: 'approve', at, session: 's2' });
    const last = (await entries(run)).at(-1);
    expect(last.actor.principal).toMatchObject({
      kind: 'agent',
      subject: 'claude',
      token: expect.any(String),
    });
    expect(last.events[0]).toMatchObject({ type: 'review.decided', ownWork: true });
    const { body } = await ask('ada', 'GET', `/v1/runs/${run}/journal`);
    expect(JSON.stringify(body)).toContain('who did the work too');
    expect(body.entries[0].by).toBe('agent claude');
  });
});

describe('S4: receipts for gates that never ran', () => {
  const gated = workflow([{ id: 'work', type: 'action', gate: [{ run: 'false' }], review: { by: 'human' } }]);

  test.each([
    ['claude', 'agent'],
    ['ci', undefined],
  ])('reported by %s are labelled: %s', async (who, label) => {
    const { run, at } = await begin('claude', gated);
    const { checking } = await send('claude', run, { type: 'advance', output: 'done', at });
    const receipts = [{ gate: 0, pass: true, exit: 0, tail: 'all 412 tests passed' }];
    await send(who, run, { type: 'gatesFinished', id: checking.id, receipts });
    const { body } = await ask('ada', 'GET', `/v1/runs/${run}`);
    expect(body.state.cursors.work.receipts[0].reportedBy).toBe(label);
    const status = await send('ada', run, { type: 'status', ...person });
    expect(status.waiting).toMatchObject({ for: 'review', by: 'human', author: 'claude' });
    expect(status.waiting.reportedBy).toBe(label);
  });
});

describe('S4: leases, handles and sessions', () => {
  const loop = workflow([{ id: 'impl', type: 'loop', parallel: 4 }], {
    loops: { impl: [{ id: 'do', instructions: 'Do it.' }] },
  });

  test('of others are refused, and a rotated token keeps its own', async () => {
    const { run } = await begin('claude', loop);
    const tasks = ['t1', 't2'].map((id) => ({ id, title: id }));
    await send('claude', run, { type: 'setTasks', loop: 'impl', tasks });
    const facts = { facts: { host: 'x' } };
    const { at } = await send('claude', run, { type: 'claim', holder: 'alice', session: 'alice' }, facts);
    const stolen = { code: 'not_yours' };
    expect(await send('thief', run, { type: 'advance', at, output: 'x', session: 'thief' })).toMatchObject(
      stolen,
    );
    expect(await send('thief', run, { type: 'advance', at, output: 'x', session: 'alice' })).toMatchObject(
      stolen,
    );
    const takeover = { type: 'session', session: 'thief', event: { type: 'started', from: 'alice' } };
    expect(await send('thief', run, takeover)).toMatchObject(stolen);
    const end = { type: 'session', session: 'alice', event: { type: 'ended' } };
    expect(await send('thief', run, end)).toMatchObject(stolen);
    const id = (tokens.claude ?? '').split('_')[1] ?? '';
    const rotated = JSON.parse(await shop.cli.output('token', 'rotate', id, '--project', 'shop', '--json'));
    expect(rotated.id).not.toBe(id);
    expect(
      await send(rotated.token, run, { type: 'advance', at, output: 'x', session: 'alice' }),
    ).not.toHaveProperty('code');
    expect((await entries(run)).at(-1).actor.principal).toMatchObject({
      subject: 'claude',
      token: rotated.id,
    });
  });
});

describe('S4: publications', () => {
  const commands = (name: string, run: string) => ({
    ...workflow([{ id: 'work', type: 'action', gate: [{ run }] }]),
    name,
  });

  test('a project can demand them: of everything but prose', async () => {
    await shop.cli.output('project', 'publish-only', 'strict', 'on');
    const start = (definition: object) =>
      ask('stranger', 'POST', '/v1/runs', { definition, command: { type: 'start' } });
    expect(await start(commands('own', 'make'))).toMatchObject({
      status: 403,
      body: { code: 'not_published' },
    });
    // Nothing in it can act.
    expect(await start(workflow([{ id: 'work', type: 'action' }]))).toMatchObject({ status: 200 });
    await ask('bea', 'POST', '/v1/workflows', { definition: commands('own', 'make') });
    expect(await start({ ...commands('own', 'make'), description: 'Other prose' })).toMatchObject({
      status: 200,
    });
    expect(await start(commands('own', 'make evil'))).toMatchObject({ status: 403 });
    const reviewed = (step: object) => ({
      ...workflow([{ id: 'work', type: 'action', gate: [{ run: 'make' }], ...step }]),
      name: 'reviewed',
    });
    await ask('bea', 'POST', '/v1/workflows', { definition: reviewed({ review: { by: 'human' } }) });
    expect(await start(reviewed({ review: { by: 'human' } }))).toMatchObject({ status: 200 });
    for (const step of [{}, { review: { by: 'human' }, gate: [{ run: 'make', expect: 'fail' }] }])
      expect(await start(reviewed(step))).toMatchObject({ status: 403, body: { code: 'not_published' } });
  });
});

describe('S4: tokens of a runner', () => {
  test('are made by runners only, are agents, and end with it', async () => {
    const make = (who: string) => ask(who, 'POST', '/v1/tokens', { name: 'review-1', seconds: 600 });
    for (const who of ['claude', 'ada']) expect(await make(who)).toMatchObject({ status: 403 });
    const { body: made } = await make('ci');
    expect(made).toMatchObject({ name: 'ci/review-1' });
    const whoami = () => ask(made.token, 'GET', '/v1/whoami');
    expect((await whoami()).body).toMatchObject({ kind: 'agent', name: 'ci/review-1' });
    expect(await make(made.token)).toMatchObject({ status: 403 });
    await shop.cli.output('token', 'revoke', (tokens.ci ?? '').split('_')[1] ?? '', '--project', 'shop');
    await expect.poll(async () => (await whoami()).status).toBe(401);
  });
});
