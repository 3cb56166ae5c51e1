import { afterAll, beforeAll, expect, test } from 'vitest';
import { begin, definition, type HttpServer, startServer } from '../../test/kit/server/http.ts';

let server: HttpServer;
beforeAll(async () => {
  server = await startServer({ limits: { failuresPerMinute: 1000 } });
});
afterAll(() => server.listening.close());

test('a scope that is lacking is named', async () => {
  const run = await begin(server, server.token('north'));
  const [reader, writer] = [
    server.token('north', { scopes: ['read'] }),
    server.token('north', { scopes: ['write'] }),
  ];
  const tries = [
    [reader, 'POST', '/v1/runs', 'write'],
    [reader, 'POST', `/v1/runs/${run}/commands`, 'write'],
    [reader, 'DELETE', `/v1/runs/${run}`, 'admin'],
    [writer, 'GET', `/v1/runs/${run}`, 'read'],
    [writer, 'GET', '/v1/runs', 'read'],
    [writer, 'GET', '/v1/events', 'read'],
  ] as const;
  for (const [token, method, path, scope] of tries) {
    const body =
      method === 'POST' ? { body: { command: { type: 'note', kind: 'reminder', text: 'x' } } } : {};
    const refused = await server.call(method, path, { token, ...body });
    expect(refused, path).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  }
  const nothing = server.token('north', { scopes: [] });
  expect(await server.call('GET', '/v1/whoami', { token: nothing })).toMatchObject({ status: 200 });
  expect(await server.call('GET', '/v1/runs', { token: nothing })).toMatchObject({ status: 403 });
});

test('an agent stays an agent, whatever actor it claims to be', async () => {
  const agent = server.token('north', { name: 'robot' });
  const person = server.token('north', { kind: 'person', name: 'Ada' });
  const run = await begin(server, agent);
  const send = (token: string, command: object) =>
    server.call('POST', `/v1/runs/${run}/commands`, { token, body: { command } });
  const actors = async (): Promise<unknown> =>
    (await server.call('GET', `/v1/runs/${run}/entries`, { token: agent })).body.entries.at(-1).actor;

  const boss = { kind: 'person', name: 'Ada' };
  for (const command of [
    { type: 'answer', text: 'yes' },
    { type: 'proceed' },
    { type: 'rewind', to: 'plan' },
  ]) {
    const refused = await send(agent, command);
    expect(refused, command.type).toMatchObject({ status: 200, body: { reply: { code: 'person_only' } } });
  }
  // A person at a terminal is asked for a credential.
  for (const command of [
    { type: 'answer', text: 'yes' },
    { type: 'proceed' },
    { type: 'rewind', to: 'plan' },
    { type: 'review', verdict: 'approve' },
    { type: 'cancel' },
    { type: 'dropTask', task: 'a', reason: 'x' },
  ])
    expect(await send(agent, { ...command, actor: boss }), command.type).toMatchObject({
      status: 403,
      body: {
        code: 'credential_required',
        message: expect.stringContaining("'robot'"),
      },
    });
  const cancelled = await send(agent, { type: 'cancel' });
  expect(cancelled).toMatchObject({ status: 403, body: { message: expect.stringContaining("'decide'") } });
  // An agent is not sent for a token that may.
  expect(cancelled.body.next).not.toContain('stepfast token create');

  await send(agent, { type: 'note', kind: 'reminder', text: 'by whom', actor: boss });
  // A token's name is no role.
  expect(await actors()).toMatchObject({ kind: 'agent', principal: { subject: 'robot' } });
  expect(await actors()).not.toHaveProperty('name');
  // A role that decides nothing is believed; that of a reviewer is looked at below.
  await send(agent, {
    type: 'note',
    kind: 'decision',
    text: 'by a role',
    actor: { kind: 'agent', name: 'reviewer' },
  });
  expect(await actors()).toMatchObject({ kind: 'agent', name: 'reviewer' });
  // A person's own agent works with that person's token.
  await send(person, { type: 'note', kind: 'correction', text: 'by an agent' });
  expect(await actors()).toMatchObject({ kind: 'agent', principal: { subject: 'Ada' } });
  await send(person, {
    type: 'note',
    kind: 'correction',
    text: 'by Ada',
    key: 'who',
    actor: { kind: 'person', name: 'Bob' },
  });
  expect(await actors()).toMatchObject({ kind: 'person', name: 'Ada' });
  const plain = server.token('north', { kind: 'person', name: 'Eve', scopes: ['read', 'write'] });
  expect(await send(plain, { type: 'rewind', to: 'plan', actor: boss })).toMatchObject({
    status: 403,
    body: { code: 'credential_required' },
  });
});

test('no caller approves its own work by a name, without a session or as the engine', async () => {
  const critic = { kind: 'agent', name: 'critic' };
  const robot = server.token('north', { name: 'robot' });
  const steps = [{ id: 'plan', type: 'action', instructions: 'Plan it', review: { by: 'critic' } }];
  const written = async (): Promise<(token: string, own: object) => ReturnType<HttpServer['call']>> => {
    const body = { definition: { ...definition, steps }, command: { type: 'start', session: 's1' } };
    const { run } = (await server.call('POST', '/v1/runs', { token: robot, body })).body;
    const send = (token: string, command: object) =>
      server.call('POST', `/v1/runs/${run}/commands`, { token, body: { command } });
    const done = await send(robot, { type: 'advance', output: 'planned', session: 's1' });
    expect(done.body.reply).toMatchObject({ waiting: { by: 'critic' } });
    return (token, own) => send(token, { type: 'review', verdict: 'approve', ...own });
  };
  const ada = server.token('north', { kind: 'person', name: 'Ada' });
  const approve = await written();
  for (const token of [robot, ada]) {
    for (const actor of [critic, { kind: 'engine' }, { kind: 'engine', name: 'critic' }, undefined]) {
      const said = actor ? { actor } : {};
      expect(await approve(token, { ...said, session: 's1' })).toMatchObject({
        body: { reply: { code: token === robot ? 'own_work' : 'not_yours' } },
      });
      for (const session of [{}, { session: '' }])
        expect(await approve(token, { ...said, ...session })).toMatchObject({
          status: 403,
          body: { code: 'forbidden', next: expect.stringContaining('session') },
        });
    }
  }
  // A reviewer with a token of its own.
  const own = server.token('north', { name: 'critic' });
  expect((await approve(own, { actor: critic, session: 's2' })).body.reply).toMatchObject({
    status: 'complete',
  });
  // A person needs no session.
  const again = await written();
  expect((await again(ada, { actor: { kind: 'person' } })).body.reply).toMatchObject({ status: 'complete' });
});

test('only a caller that may decide begins a run in the middle', async () => {
  const state = {
    status: 'running',
    step: 'build',
    stepType: 'action',
    tasks: {},
    outputs: { plan: 'never checked' },
    artefacts: [],
    contextActionExecuted: true,
  };
  const bring = (token: string) =>
    server.call('POST', '/v1/runs', { token, body: { definition, command: { type: 'import', state } } });
  const refused = await bring(server.token('north'));
  expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  const taken = await bring(server.token('north', { kind: 'person', name: 'Ada' }));
  expect(taken).toMatchObject({ status: 200, body: { reply: { step: 'build' } } });
});

test('what is adopted is the engine\u2019s where a token may report gates', async () => {
  const actorFor = async (scopes: readonly ('read' | 'write' | 'gates')[]): Promise<unknown> => {
    const token = server.token('north', { name: 'runner', scopes });
    const command = { type: 'adopt', adopted: { source: 'NOTES.md' }, actor: { kind: 'engine' } };
    const begun = await server.call('POST', '/v1/runs', { token, body: { definition, command } });
    expect(begun, begun.text).toMatchObject({ status: 200 });
    const { body } = await server.call('GET', `/v1/runs/${begun.body.run}/entries`, { token });
    return body.entries[0].actor;
  };
  expect(await actorFor(['read', 'write', 'gates'])).toMatchObject({ kind: 'engine', name: 'runner' });
  expect(await actorFor(['read', 'write'])).toMatchObject({ kind: 'agent' });
});

test('only a caller with the right reports gates', async () => {
  const token = server.token('north', { name: 'runner' });
  const run = await begin(server, token);
  const send = (by: string, command: object) =>
    server.call('POST', `/v1/runs/${run}/commands`, { token: by, body: { command } });
  const { body } = await send(token, { type: 'advance', output: 'done' });
  const { id } = body.effects[0];
  const writer = server.token('north', { scopes: ['read', 'write'] });
  const finished = {
    type: 'gatesFinished',
    id,
    receipts: [{ gate: 0, pass: true }],
    actor: { kind: 'engine' },
  };
  expect(await send(writer, finished)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  // Claiming to be the engine has no effect.
  for (const by of [writer, token]) {
    await send(by, { type: 'note', kind: 'reminder', text: 'x', actor: { kind: 'engine' } });
    const { body: told } = await server.call('GET', `/v1/runs/${run}/entries`, { token });
    expect(told.entries.at(-1).actor.kind).toBe('agent');
  }
  expect(await send(token, finished)).toMatchObject({ status: 200, body: { reply: { step: 'build' } } });
});

test('who may only read changes nothing by looking', async () => {
  const token = server.token('north');
  const run = await begin(server, token);
  await server.call('POST', `/v1/runs/${run}/commands`, {
    token,
    body: { command: { type: 'advance', output: 'x' } },
  });
  const reader = server.token('north', { scopes: ['read'] });
  const looked = await server.call('POST', `/v1/runs/${run}/commands`, {
    token: reader,
    body: {
      command: { type: 'status', session: 'spy', runnerAlive: false },
      circumstances: { facts: { host: 'spy' } },
      key: 'k',
    },
  });
  expect(looked).toMatchObject({ status: 200, body: { changed: false, reply: { step: 'plan' } } });
  const { body } = await server.call('GET', `/v1/runs/${run}`, { token: reader });
  expect(body.version.seq).toBe(2);
  expect(body.state.sessions).toEqual({});
});
