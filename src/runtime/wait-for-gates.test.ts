import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openStore, temporaryDirectory } from '../../test/kit/file-store.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { hashDefinition } from '../definition/index.ts';
import { createEngine, type Engine } from '../engine/index.ts';
import { newRun } from '../engine/new-run-id.ts';
import type { Definition } from '../machine/index.ts';
import { none } from '../workspace/none.ts';
import { createGates } from './wait-for-gates.ts';

const gated: Definition = {
  name: 'gated',
  description: 'A gate',
  steps: [{ id: 'make', type: 'action', instructions: 'Make it.', gate: [{ exists: 'done.txt' }] }],
};
afterEach(() => {
  vi.useRealTimers();
});

test('the end of gates in another process ends the wait without a poll', async () => {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  const opened = (): Engine => createEngine({ store: openStore(directory), newRun, hashOf: hashDefinition });
  const [engine, other] = [opened(), opened()];
  const now = Date.now();
  const { run } = await engine.begin(gated, { type: 'start', now });
  const { view, reply } = await engine.execute(run, { type: 'advance', now, output: 'made' });
  const id = 'checking' in reply ? (reply.checking?.id ?? '') : '';
  if (!view) throw new Error('the run is not known');
  const workspace = none();
  const alive = { ...workspace, gates: { ...workspace.gates, runnerIs: () => 'alive' as const } };
  const gates = createGates({ engine, workspace: alive, clock: Date.now });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const settling = gates.settle(view, id, { until: now + 3_600_000 });
  const runner = { pid: 1, host: 'elsewhere' };
  const by = { now, actor: { kind: 'engine' as const }, id, runner };
  await other.execute(run, { ...by, type: 'gatesStarted', deadline: now + 3_600_000 });
  await other.execute(run, { ...by, type: 'gatesFinished', receipts: [{ gate: 0, pass: true }] });
  expect(await settling).toMatchObject({ state: 'finished' });
});

test('a deadline that passes while the machine sleeps ends the wait when it wakes up', async () => {
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const { run } = await engine.begin(gated, { type: 'start', now: 1 });
  const { view, reply } = await engine.execute(run, { type: 'advance', now: 1, output: 'made' });
  const id = 'checking' in reply ? (reply.checking?.id ?? '') : '';
  if (!view) throw new Error('the run is not known');
  let now = 1;
  const workspace = none();
  const runnerIs = () => {
    now = 365 * 86_400_000;
    return 'alive' as const;
  };
  const gates = createGates({
    engine,
    workspace: { ...workspace, gates: { ...workspace.gates, runnerIs } },
    clock: () => now,
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await gates.settle(view, id, { until: Number.MAX_SAFE_INTEGER })).toMatchObject({
    state: 'interrupted',
  });
});

test('a wait ends on time if the wall clock is set back', async () => {
  const start = 3_600_000;
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const { run } = await engine.begin(gated, { type: 'start', now: start });
  const { view, reply } = await engine.execute(run, { type: 'advance', now: start, output: 'made' });
  const id = 'checking' in reply ? (reply.checking?.id ?? '') : '';
  if (!view) throw new Error('the run is not known');
  let now = start;
  const gates = createGates({ engine, workspace: none(), clock: () => now });
  const settled = gates.settle(view, id, { until: now + 100, onProgress: () => (now = 1) });
  expect(await settled).toMatchObject({ state: 'running' });
});

test('a process that writes a to-do list late writes the newest one', async () => {
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const { run } = await engine.begin(gated, { type: 'start', now: 1 });
  const replace = async (content: string) => await engine.execute(run, { type: 'todo', now: 2, content });
  const older = await replace('- [ ] older');
  await replace('- [x] newer');
  const written: unknown[] = [];
  const workspace = none();
  const perform: typeof workspace.gates.perform = async (_, effects) => {
    written.push(...effects);
    return undefined;
  };
  const gates = createGates({
    engine,
    workspace: { ...workspace, gates: { ...workspace.gates, perform } },
    clock: () => 3,
  });
  await gates.perform(older);
  expect(written.at(-1)).toEqual({ type: 'writeTodo', content: '- [x] newer' });
});
