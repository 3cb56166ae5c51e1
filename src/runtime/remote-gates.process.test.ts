import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeServer, startFakeServer } from '../../test/kit/fake-server.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { told } from '../../test/kit/told.ts';
import { hashDefinition } from '../definition/index.ts';
import { createEngine, type Engine, newRun } from '../engine/index.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import type { CallerIdentity, LocalRuntime } from './index.ts';

const gated = `name: gated
description: One gate
steps:
  - id: work
    type: action
    instructions: Work.
    gate: [{ run: 'test -f done.txt && test -z "$STEPFAST_TOKEN$STEPFAST_URL"' }]
`;
const one: CallerIdentity = { session: 'one', host: 'scripted' };
const two: CallerIdentity = { session: 'two', host: 'scripted' };
const workflows = { '.stepfast/workflows/gated.yaml': gated };

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

/** As the environment says it, so that the runner of gates finds it too. */
const shared = (project: TestProject): LocalRuntime =>
  project.runtime({ env: { ...project.env, STEPFAST_URL: server.url, STEPFAST_TOKEN: server.token } });

const runsIn = ({ root }: TestProject): string[] => {
  const folder = join(root, '.stepfast/runs');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('gates', () => {
  const trusted = (project: TestProject): LocalRuntime => {
    project.trust('gated');
    return shared(project);
  };

  test('run where the tree is, and what they found is sent', async () => {
    const runtime = trusted(here);
    const { run, at = '' } = told(await runtime.start({ workflow: 'gated' }, one));
    const red = told(await runtime.call({ type: 'advance', output: 'Done.', at }, one, { waitMs: 60_000 }));
    expect(red.failed_gates).toHaveLength(1);
    here.write({ 'done.txt': 'yes' });
    const again = told(await runtime.call({ type: 'advance', output: 'Done.' }, one, { waitMs: 60_000 }));
    expect(again.status).toBe('complete');
    const receipts = Object.values((await engine.view(run))?.state.outputs ?? {}).flatMap(
      (each) => each.receipts,
    );
    expect(receipts).toMatchObject([{ pass: true }]);
  });

  test('of a session that works elsewhere are not started here', async () => {
    const { run, at = '' } = told(await trusted(here).start({ workflow: 'gated' }, one));
    here.write({ 'done.txt': 'yes' });
    // As if the machine had gone away before it could start them.
    const place = { facts: { worktree: '{project_root}@elsewhere:00000000' } };
    await engine.execute(run, {
      type: 'session',
      now: 1,
      session: 'far',
      event: { type: 'started', ...place.facts },
    });
    await engine.execute(run, { type: 'advance', output: 'Done.', at, now: Date.now(), session: 'far' });
    const looked = told(await trusted(there).call({ type: 'status' }, two, { run, waitMs: 7_000 }));
    expect(looked.checking).toBeDefined();
    const checking = Object.values((await engine.view(run))?.state.cursors ?? {})[0]?.checking;
    expect(checking?.runner).toBeUndefined();
    expect(runsIn(there)).toEqual([]);
  });

  test('without a session are started by the caller that waits for them', async () => {
    const { run, at = '' } = told(await trusted(here).start({ workflow: 'gated' }, one));
    there.write({ 'done.txt': 'yes' });
    await engine.execute(run, { type: 'advance', output: 'Done.', at, now: Date.now() });
    const looked = told(await trusted(there).call({ type: 'status' }, two, { run }));
    expect(looked.checking).toBeDefined();
    expect(runsIn(there)).toEqual([]);
    const waited = told(await trusted(there).call({ type: 'status' }, two, { run, waitMs: 120_000 }));
    expect(waited.status).toBe('complete');
  });

  test('are waited for by the clock of the server, whatever ours says', async () => {
    here.trust('gated');
    here.write({ 'done.txt': 'yes' });
    const env = { ...here.env, STEPFAST_URL: server.url, STEPFAST_TOKEN: server.token };
    const runtime = here.runtime({ env, clock: () => Date.now() + 24 * 3_600_000 });
    const { at = '' } = told(await runtime.start({ workflow: 'gated' }, one));
    const done = told(await runtime.call({ type: 'advance', output: 'Done.', at }, one, { waitMs: 120_000 }));
    expect(done.status).toBe('complete');
  });
});

test('[L/worktree] the worktree of a task is set up on the machine that claims it, and the server has the failure', async () => {
  const crowd = `name: crowd
description: Several agents
worktree: { setup: 'test "$STEPFAST_TASK_ID" = a && cat .env > ready', copy: [.env] }
loops: { build: [{ id: write, instructions: Write. }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`;
  here.write({ '.gitignore': '.env\n', '.env': 'KEY=1\n', '.stepfast/workflows/crowd.yaml': crowd });
  here.trust('crowd');
  const runtime = shared(here);
  const { run = '' } = await runtime.start({ workflow: 'crowd' }, one);
  const tasks = ['a', 'b'].map((id) => ({ id, title: id }));
  told(await runtime.call({ type: 'setTasks', loop: 'build', tasks }, one, { run }));
  const claim = (task: string) =>
    runtime.call({ type: 'claim', holder: 'one', task }, one, { run, waitMs: 60_000 });
  const { worktree = '', warning } = await claim('a');
  expect(warning).toBeUndefined();
  expect(readFileSync(join(worktree, 'ready'), 'utf8')).toBe('KEY=1\n');
  expect(told(await claim('b'))).toMatchObject({ task: { id: 'b' }, waiting: { for: 'blocked' } });
  const events = (await engine.entries(run)).flatMap((entry) => entry.events);
  expect(events.filter(({ type }) => type === 'position.failed')).toMatchObject([
    { reason: expect.stringContaining('exited with 1') },
  ]);
});
