import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeServer, startFakeServer } from '../../test/kit/fake-server.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { told } from '../../test/kit/told.ts';
import { hashDefinition } from '../definition/index.ts';
import type { CallerIdentity } from '../runtime/call-context.ts';
import type { LocalRuntime } from '../runtime/open-runtime.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { createMarks } from '../workspace/marks/marks.ts';
import { markedRuns } from '../workspace/marks/run-marks.ts';
import { createEngine, type Engine } from './engine.ts';
import { newRun } from './new-run-id.ts';
import { createRemoteEngine } from './remote/remote-engine.ts';

const plain = `name: plain
description: Two steps
steps:
  - { id: plan, type: action, instructions: Plan. }
  - { id: build, type: action, instructions: Build. }
`;
const one: CallerIdentity = { session: 'one', host: 'scripted' };
const two: CallerIdentity = { session: 'two', host: 'scripted' };
const workflows = { '.stepfast/workflows/plain.yaml': plain };

let engine: Engine;
let server: FakeServer;
let here: TestProject;
let there: TestProject;
beforeEach(async () => {
  engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  server = await startFakeServer(engine);
  here = createTestProject(workflows);
  there = createTestProject(workflows);
});
afterEach(async () => {
  await server.close();
  here[Symbol.dispose]();
  there[Symbol.dispose]();
});

const withServer = (project: TestProject): Record<string, string> => ({
  ...project.env,
  STEPFAST_URL: `${server.url}/`,
  STEPFAST_TOKEN: server.token,
});
/** Set in the environment, so that the gate runner finds it too. */
const shared = (project: TestProject): LocalRuntime => project.runtime({ env: withServer(project) });
const impatient = (project: TestProject): LocalRuntime =>
  project.runtime({ server: createRemoteEngine({ ...server, patienceMs: 200 }) });

const runsIn = ({ root }: TestProject): string[] => {
  const folder = join(root, '.stepfast/runs');
  return existsSync(folder) ? readdirSync(folder) : [];
};
const marksIn = ({ root }: TestProject): string[] => markedRuns(createMarks(join(root, '.stepfast')));

describe('where a run lives', () => {
  test('with a server a run begins there, and nothing of it is a file here', async () => {
    const runtime = shared(here);
    const { run, at = '' } = told(await runtime.start({ workflow: 'plain', summary: 'Log in' }, one));
    expect(await engine.ids()).toEqual([run]);
    expect(runsIn(here)).toEqual([]);
    expect(marksIn(here)).toEqual([run]);
    expect(runtime.serverOf(run)).toBe(server.url);
    expect(told(await shared(here).start({ workflow: 'plain', summary: 'Log in' }, two)).run).toBe(run);
    const next = told(await shared(here).call({ type: 'advance', output: 'Planned.', at }, one));
    expect(next).toMatchObject({ run, step: 'build' });
    const last = told(await shared(here).call({ type: 'advance', output: 'Built.' }, one));
    expect(last.status).toBe('complete');
    expect(marksIn(here)).toEqual([]);
    expect(await runtime.chooseRun({})).toMatchObject({ code: 'no_run' });
    const all = await runtime.engine.runs({ ended: true });
    expect(all.map((each) => each.run)).toEqual([run]);
    expect(await runtime.engine.runs()).toEqual([]);
  });

  test('a run of files stays one when a server comes, and the server hears nothing of it', async () => {
    const { run, at = '' } = told(await here.runtime().start({ workflow: 'plain' }, one));
    const runtime = shared(here);
    expect(runtime.serverOf(run)).toBeUndefined();
    expect(told(await runtime.call({ type: 'advance', output: 'Planned.', at }, one)).step).toBe('build');
    expect(told(await runtime.call({ type: 'status' }, one)).run).toBe(run);
    expect(await runtime.chooseRun({ run: run.slice(-8) })).toEqual({ run });
    expect(server.requests).toEqual([]);
    const other = told(await runtime.start({ workflow: 'plain', summary: 'new' }, one));
    expect(await engine.ids()).toEqual([other.run]);
    expect(runsIn(here)).toEqual([run]);
  });

  test('a server that is away is a refusal, and nothing is written elsewhere instead', async () => {
    const { run, at = '' } = told(await shared(here).start({ workflow: 'plain' }, one));
    server.fault = () => 'hang';
    const { reply } = await impatient(here).call({ type: 'advance', output: 'Planned.', at }, one);
    expect(reply).toMatchObject({ code: 'server_unreachable' });
    expect((await impatient(here).start({ workflow: 'plain', summary: 'x' }, one)).reply).toMatchObject({
      code: 'server_unreachable',
    });
    expect(runsIn(here)).toEqual([]);
    expect(marksIn(here)).toEqual([run]);
    server.fault = () => 'none';
    expect(told(await shared(here).call({ type: 'advance', output: 'Planned.', at }, one)).step).toBe(
      'build',
    );
  });

  test('a start whose answer was lost is found again by the same words', async () => {
    server.fault = ({ method, path }) => (method === 'POST' && path === '/v1/runs' ? 'cut' : 'none');
    const hasty = here.runtime({ server: createRemoteEngine({ ...server, patienceMs: 1000 }) });
    expect((await hasty.start({ workflow: 'plain', summary: 'Log in' }, one)).reply).toMatchObject({
      code: 'server_unreachable',
    });
    server.fault = () => 'none';
    const again = await shared(here).start({ workflow: 'plain', summary: 'Log in' }, one);
    expect(await engine.ids()).toEqual([told(again).run]);
  });

  test('a server that is away does not hide the only live run, which is one of files', async () => {
    const over = told(await shared(here).start({ workflow: 'plain' }, one));
    for (const output of ['Planned.', 'Built.'])
      await shared(here).call({ type: 'advance', output }, one, { run: over.run });
    const { run } = told(await here.runtime().start({ workflow: 'plain', summary: 'Here' }, one));
    server.fault = () => 'hang';
    expect(told(await impatient(here).call({ type: 'status' }, one)).run).toBe(run);
  });

  test('a run of another server is not looked for with a call that changes it', async () => {
    const { run, at = '' } = told(await shared(here).start({ workflow: 'plain' }, one));
    const other = await startFakeServer(
      createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition }),
    );
    const runtime = here.runtime({ server: createRemoteEngine({ ...other, patienceMs: 60_000 }) });
    const { reply } = await runtime.call({ type: 'advance', output: 'Planned.', at }, one, { run });
    expect(reply).toMatchObject({ code: 'no_run' });
    await expect(runtime.engine.execute(run, { type: 'cancel', now: 1 })).rejects.toMatchObject({
      code: 'other_server',
      message: expect.stringContaining(server.url),
    });
    expect(other.requests.filter((each) => each.startsWith('POST'))).toEqual([]);
    await other.close();
  });

  test('half a configuration is said, not guessed', async () => {
    const env = { ...here.env, STEPFAST_URL: server.url };
    expect(() => here.runtime({ env })).toThrow(/no token.*stepfast login/);
    expect(() => here.runtime({ env: { ...withServer(here), STEPFAST_URL: 'nonsense' } })).toThrow(
      /server URL/,
    );
    const inside = { ...withServer(here), STEPFAST_URL: 'https://ann:secret@example.com' };
    expect(() => here.runtime({ env: inside })).toThrow(/user or password/);
  });
});

describe('nearby', () => {
  test('a call without a run name never means a run of another directory', async () => {
    const mine = told(await shared(here).start({ workflow: 'plain', summary: 'Same words' }, one));
    const runtime = shared(there);
    expect((await runtime.call({ type: 'status' }, two)).reply).toMatchObject({ code: 'no_run' });
    const other = told(await runtime.start({ workflow: 'plain', summary: 'Same words' }, two));
    expect(other.run).not.toBe(mine.run);
    expect(told(await runtime.call({ type: 'status' }, two)).run).toBe(other.run);
  });

  test('a session that views a run by name does not work on it; a session that resumes it does', async () => {
    const { run, at = '' } = told(await shared(here).start({ workflow: 'plain' }, one));
    const runtime = shared(there);
    expect(told(await runtime.call({ type: 'status' }, two, { run })).run).toBe(run);
    expect(marksIn(there)).toEqual([]);
    expect(told(await runtime.start({ run: run.slice(-8) }, two)).run).toBe(run);
    expect(marksIn(there)).toEqual([run]);
    expect(told(await shared(there).call({ type: 'advance', output: 'Planned.', at }, two)).step).toBe(
      'build',
    );
  });

  test('worktrees of the same name are told apart by their place', async () => {
    const { run } = told(await shared(here).start({ workflow: 'plain' }, one));
    const view = await engine.view(run);
    expect(view?.state.sessions.one?.worktree).toMatch(/^\{project_root\}@.+:[0-9a-f]{8}$/);
    const runtime = shared(there);
    await runtime.start({ run }, { actor: { kind: 'person', name: 'ann' } });
    // Known there, but no session there works on it: only a change needs the run's name.
    const { reply } = await runtime.call({ type: 'advance', output: 'Planned.' }, two);
    expect(reply).toMatchObject({ code: 'several_runs' });
    expect(told(await runtime.call({ type: 'status' }, two)).run).toBe(run);
  });
});
