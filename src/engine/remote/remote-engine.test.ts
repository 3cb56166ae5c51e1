import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { smallDefinition } from '../../../test/kit/contract-workflows.ts';
import { advance, engineContract, startSmall } from '../../../test/kit/engine-contract.ts';
import { type FakeServer, startFakeServer } from '../../../test/kit/fake-server.ts';
import { createMemoryStore } from '../../../test/kit/memory-store.ts';
import { hashDefinition } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import type { Command } from '../../machine/index.ts';
import { refusedBy } from '../../runtime/answer.ts';
import { createEngine, type Engine } from '../engine.ts';
import { newRun } from '../new-run-id.ts';
import { createRemoteEngine, type RemoteEngine } from './remote-engine.ts';

let engine: Engine;
let server: FakeServer;
beforeEach(async () => {
  engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  server = await startFakeServer(engine);
});
afterEach(async () => await server.close());

const remote = (patienceMs = 60_000, more: { together?: boolean; clock?(): number } = {}): RemoteEngine =>
  createRemoteEngine({ url: server.url, token: server.token, patienceMs, ...more });
const note = (text: string): Command => ({ type: 'note', now: 1, kind: 'decision', text });

engineContract('remote', async () => remote());

/** It doesn't say whether a key was repeated. */
const older = (): Engine => ({
  ...engine,
  async execute(...call) {
    const { repeated: _, ...executed } = await engine.execute(...call);
    return executed;
  },
});

describe('an answer that was lost', () => {
  test('the same start again begins nothing new, and is told as the first', async () => {
    server.fault = ({ count }) => (count <= 2 ? 'cut' : 'none');
    const begun = await remote().begin(smallDefinition, { type: 'start', now: 1 });
    expect(begun).toMatchObject({ changed: true, reply: { step: 'plan' } });
    expect(begun.reply).not.toHaveProperty('replayed');
    expect(await engine.ids()).toEqual([begun.run]);
  });

  test('the same command again changes nothing more, and is told as the first', async () => {
    const { run, at } = await startSmall(remote());
    let sent = 0;
    server.fault = ({ path }) => (path.endsWith('/commands') && ++sent <= 3 ? 'cut' : 'none');
    const advanced = await remote().execute(run, advance(at, 'plan'));
    expect(advanced).toMatchObject({ changed: true, reply: { step: 'build' } });
    expect(advanced.reply).not.toHaveProperty('replayed');
    sent = 0;
    await remote().execute(run, note('once'));
    expect((await engine.view(run))?.state.notes).toHaveLength(1);
    expect(sent).toBe(4);
  });

  test('what a caller repeats itself is told as a repetition', async () => {
    const { run, at } = await startSmall(remote());
    await remote().execute(run, advance(at, 'plan'));
    const again = await remote().execute(run, advance(at, 'plan'));
    expect(again).toMatchObject({ changed: false, reply: { replayed: true } });
  });

  test.each([
    ['', {}, undefined],
    // Its binding is written.
    [' of a session that the run does not know', { session: 'new' }, { facts: { host: 'codex' } }],
  ])('[C0] an output%s that another call beat is never told as accepted', async (_, more, circumstances) => {
    const { run, at } = await startSmall(remote());
    await remote().execute(run, advance(at, 'first'));
    let sent = 0;
    server.fault = ({ path }) => (path.endsWith('/commands') && ++sent === 1 ? 'cut' : 'none');
    const beaten = await remote().execute(
      run,
      { ...advance(at, 'second'), ...more },
      undefined,
      circumstances,
    );
    expect(sent).toBe(2);
    expect(beaten).toMatchObject({ changed: false, reply: { replayed: true, step: 'build' } });
  });

  test('a to-do list that another call replaced is not written again', async () => {
    const { run } = await startSmall(remote());
    const todo = (content: string): Command => ({ type: 'todo', now: 2, content });
    let sent = 0;
    server.fault = ({ path }) => (path.endsWith('/commands') && ++sent === 1 ? 'cut' : 'none');
    const { execute } = engine;
    let calls = 0;
    engine.execute = async (...call) => {
      const executed = await execute(...call);
      calls += 1;
      if (calls === 1) await execute(run, todo('- [x] newer'));
      return executed;
    };
    expect(await remote().execute(run, todo('- [ ] older'))).toMatchObject({
      effects: [{ type: 'writeTodo', content: '- [x] newer' }],
    });
  });

  test('an older server loses no effects of a command that has no output', async () => {
    const { run } = await startSmall(remote());
    await server.close();
    server = await startFakeServer(older());
    let sent = 0;
    server.fault = ({ path }) => (path.endsWith('/commands') && ++sent === 1 ? 'cut' : 'none');
    const todo = await remote().execute(run, { type: 'todo', now: 2, content: '- [ ] x' });
    expect(todo).toMatchObject({ changed: true, effects: [{ type: 'writeTodo', content: '- [ ] x' }] });
  });

  test.each(['this', 'an older'])(
    '[C0] of calls with one handle, %s server tells only the first',
    async (age) => {
      await server.close();
      server = await startFakeServer(age === 'this' ? engine : older());
      const answers = new Map<string, number>();
      // Which of a run's answers are cut: every choice of its first four.
      const cuts = new Map<string, number>();
      server.fault = ({ path }) => {
        const run = /^\/v1\/runs\/(.+)\/commands$/.exec(path)?.[1] ?? '';
        const nth = answers.get(run) ?? 0;
        answers.set(run, nth + 1);
        return ((cuts.get(run) ?? 0) >> nth) & 1 ? 'cut' : 'none';
      };
      const told = await Promise.all(
        Array.from({ length: 16 }, async (_, choice) => {
          const { run, at } = await startSmall(remote());
          cuts.set(run, choice);
          const outputs = ['a', 'b', 'c'];
          const calls = await Promise.all(
            outputs.map((output) => remote().execute(run, advance(at, output))),
          );
          const accepted = outputs.filter((_, index) => calls[index]?.changed);
          const unmarked = outputs.filter((_, index) => !('replayed' in (calls[index]?.reply ?? {})));
          expect(accepted).toEqual(unmarked);
          const kept = (await engine.view(run))?.state.outputs.plan?.text;
          return { accepted, kept };
        }),
      );
      for (const { accepted, kept } of told)
        if (age === 'this') expect(accepted).toEqual([kept]);
        else expect([[], [kept]]).toContainEqual(accepted);
    },
  );

  test('of many commands over a bad line each happens once', async () => {
    const { run } = await startSmall(remote());
    let turn = 0;
    const faults = ['cut', 'none', { status: 503 }, 'cut', 'none', { status: 502 }] as const;
    server.fault = () => faults[turn++ % faults.length] ?? 'none';
    await Promise.all(Array.from({ length: 4 }, (_, index) => remote().execute(run, note(`note ${index}`))));
    server.fault = () => 'none';
    const texts = (await remote().view(run))?.state.notes.map(({ text }) => text).sort();
    expect(texts).toEqual(Array.from({ length: 4 }, (_, index) => `note ${index}`).sort());
  });

  test('gates that the lost answer asked for are asked for again', async () => {
    const definition = {
      ...smallDefinition,
      steps: [{ id: 'work', type: 'action' as const, instructions: 'Work.', gate: [{ run: 'true' }] }],
    };
    const { run, reply } = await remote().begin(definition, { type: 'start', now: 1 });
    let sent = 0;
    server.fault = ({ path }) => (path.endsWith('/commands') && ++sent === 1 ? 'cut' : 'none');
    const at = 'at' in reply ? (reply.at ?? '') : '';
    const { effects } = await remote().execute(run, { ...advance(at, 'done'), session: 's' });
    expect(effects).toMatchObject([{ type: 'runGates', session: 's', gates: [{ gate: { run: 'true' } }] }]);
  });
});

describe('a server that is away', () => {
  test('is asked until the patience is over, and then named with what happened and what to do', async () => {
    const { url } = server;
    const { run } = await startSmall(remote());
    await server.close();
    await expect(remote(400).execute(run, note('x'))).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(
        new RegExp(`^The server ${url} cannot be reached: connection refused\\..*send the same call again`),
      ),
    });
    server = await startFakeServer(engine);
  });

  test('one that hangs is not waited for', async () => {
    server.fault = () => 'hang';
    await expect(remote(200).view('small-1-abcdefgh')).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('did not answer within'),
    });
  });

  test('calls that share their patience wait once, however many there are', async () => {
    server.fault = () => 'hang';
    const hook = remote(200, { together: true });
    await expect(hook.view('small-1-abcdefgh')).rejects.toMatchObject({ code: 'server_unreachable' });
    const { length } = server.requests;
    for (let call = 0; call < 5; call += 1)
      await expect(hook.view('small-1-abcdefgh')).rejects.toMatchObject({ code: 'server_unreachable' });
    expect(server.requests).toHaveLength(length);
  });

  test('one that asks for time is given it, and no more than there is', async () => {
    server.fault = ({ count }) => (count === 1 ? { status: 429, headers: { 'retry-after': '1' } } : 'none');
    const began = performance.now();
    await remote().ids('abcdefgh');
    expect(performance.now() - began).toBeGreaterThan(900);
    server.fault = () => ({
      status: 503,
      headers: { 'retry-after': '3600' },
      body: '{"code":"x","message":"Full."}',
    });
    await expect(remote(60_000).ids('abcdefgh')).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringContaining('503: Full.'),
    });
  });
});

describe('a server that refuses', () => {
  test.each([
    [401, '{"code":"unauthorized","message":"Expired."}', 'does not accept this token'],
    [403, '{"code":"forbidden","message":"Needs decide.","next":"ask ann"}', 'Needs decide. Next: ask ann.'],
    [404, '<html>', 'does not answer as a Stepfast server'],
    [200, '<html>log in to the hotel</html>', 'does not answer as a Stepfast server'],
    [422, '{"code":"not_understood","message":"No such command."}', 'No such command.'],
    [301, '', 'a token goes nowhere else'],
  ])('a %i is told at once and never repeated', async (status, body, words) => {
    server.fault = () => ({ status, body, headers: { location: 'https://elsewhere.example' } });
    await expect(remote().ids('abcdefgh')).rejects.toMatchObject({
      code: 'server_refused',
      message: expect.stringContaining(words),
    });
    expect(server.requests).toHaveLength(1);
  });

  test('what a person has to do keeps its code', async () => {
    const body = JSON.stringify({ code: 'not_published', message: "Nobody has published 'cmd'." });
    server.fault = () => ({ status: 403, body });
    const refused: unknown = await remote()
      .ids('abcdefgh')
      .catch((error: unknown) => error);
    expect(refusedBy(refused)).toMatchObject({ code: 'not_published' });
  });

  test('a server that failed did it or did not: it is unknown', async () => {
    server.fault = () => ({ status: 500, body: '{"code":"bug","message":"Oh."}' });
    const failed: unknown = await remote()
      .ids('abcdefgh')
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'server_failed',
      message: expect.stringMatching(/unknown whether it was done; its log says why: Oh/),
    });
    expect(refusedBy(failed)?.code).toBe('server_failed');
    expect(server.requests).toHaveLength(1);
  });

  test('a damaged run is not for a person here to repair', async () => {
    const body = '{"code":"store_corrupt","message":"run x is damaged: restore it from a backup"}';
    server.fault = () => ({ status: 409, body });
    const damaged: unknown = await remote()
      .view('go-20261115-abcdefgh')
      .catch((error: unknown) => error);
    expect(refusedBy(damaged)).toMatchObject({
      code: 'store_corrupt',
      params: { onServer: true },
    });
    expect(refusedBy(new StepfastError('store_corrupt', 'x'))?.params).toEqual({ message: 'x' });
  });

  test('one of another age says which of the two to update', async () => {
    const answer = (version: number) => ({
      status: 422,
      body: '{"code":"not_understood","message":"What?"}',
      headers: { 'stepfast-api': String(version), 'stepfast-version': '9.1.0' },
    });
    server.fault = () => answer(2);
    await expect(remote().ids('abcdefgh')).rejects.toThrow('(9.1.0) is newer than this Stepfast: update it');
    server.fault = () => answer(0);
    await expect(remote().ids('abcdefgh')).rejects.toThrow('update the server');
  });

  test('what its engine says is said as in process', async () => {
    await expect(remote().execute('none-1', note('x'))).rejects.toMatchObject({ code: 'no_run' });
  });
});

test('a view that is known is not sent again', async () => {
  const known = remote();
  const { run, at } = await startSmall(known);
  const first = await known.view(run);
  expect(await known.view(run)).toBe(first);
  await remote().execute(run, advance(at, 'plan'));
  expect((await known.view(run))?.state.step).toBe('build');
});

test("deadlines are the server's, so its clock is taken where ours is wrong", async () => {
  const fast = remote(60_000, { clock: () => Date.now() + 3_600_000 });
  expect(fast.now()).toBeGreaterThan(Date.now() + 3_000_000);
  await fast.ids('abcdefgh');
  expect(Math.abs(fast.now() - Date.now())).toBeLessThan(60_000);
});
