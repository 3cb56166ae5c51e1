import { expect, test } from 'vitest';
import { hashDefinition, loadWorkflowTemplateFromString } from '../definition/index.ts';
import type { Command, Status } from '../machine/index.ts';
import { createMemoryStore, type Store } from '../store/index.ts';
import { createEngine, type Engine } from './engine.ts';

const definition = loadWorkflowTemplateFromString(`
name: small
description: Two steps
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, instructions: "Build {outputs.plan} in {project_root}." }
`);

async function started(
  store: Store = createMemoryStore(),
): Promise<{ engine: Engine; run: string; at: string }> {
  const engine = createEngine({ store, newRun: counted(), hashOf: hashDefinition });
  const { run, reply } = await engine.begin(definition, { type: 'start', now: 1 });
  return { engine, run, at: (reply as Status).at ?? '' };
}

function counted(): () => string {
  let runs = 0;
  return () => `small-20261115-a${runs++}`;
}

const advance = (at: string, output: string, now = 2): Command => ({ type: 'advance', now, at, output });

test('a run is advanced through the store, and every call loads it anew', async () => {
  const { engine, run, at } = await started();
  const { reply } = await engine.execute(run, advance(at, 'the plan'), undefined, {
    values: { project_root: '/p' },
  });
  expect(reply).toMatchObject({ step: 'build', instructions: 'Build the plan in /p.' });
  const again = await engine.execute(run, { type: 'status', now: 3 });
  expect(again.reply).toMatchObject({ step: 'build', status: 'running' });
});

test('a run id that is taken is drawn again', async () => {
  const store = createMemoryStore();
  const first = createEngine({ store, newRun: counted(), hashOf: hashDefinition });
  await first.begin(definition, { type: 'start', now: 1 });
  const second = createEngine({ store, newRun: counted(), hashOf: hashDefinition });
  const { run } = await second.begin(definition, { type: 'start', now: 1 });
  expect(run).toBe('small-20261115-a1');
});

test('a repeated handle replays, a repeated key gives the same answer', async () => {
  const { engine, run, at } = await started();
  await engine.execute(run, advance(at, 'the plan'));
  const repeated = await engine.execute(run, advance(at, 'the plan'));
  expect(repeated.reply).toMatchObject({ step: 'build', replayed: true });
  const note: Command = { type: 'note', now: 5, kind: 'decision', text: 'Use SQLite' };
  const first = await engine.execute(run, note, 'key-1');
  const second = await engine.execute(run, { ...note, now: 9 }, 'key-1');
  expect(second.reply).toEqual({ ...first.reply, replayed: true });
  expect((await engine.view(run))?.state.notes).toHaveLength(1);
});

test('of many calls at once with one handle exactly one advances', async () => {
  const { engine, run, at } = await started();
  const replies = await Promise.all(
    Array.from({ length: 16 }, (_, index) => engine.execute(run, advance(at, `output ${index}`))),
  );
  const winners = replies.filter(({ reply }) => 'step' in reply && !reply.replayed);
  expect(winners).toHaveLength(1);
  const entries = await engine.entries(run);
  const completed = entries.flatMap(({ events }) =>
    events.filter(({ type }) => type === 'position.completed'),
  );
  expect(completed).toHaveLength(1);
});

test('a conflict that never ends is given up with advice', async () => {
  const store = createMemoryStore();
  const { run, at } = await started(store);
  const engine = createEngine({
    store: { ...store, append: async () => 'conflict' },
    newRun: counted(),
    hashOf: hashDefinition,
  });
  await expect(engine.execute(run, advance(at, 'x'))).rejects.toMatchObject({ code: 'busy' });
});

test('long words are kept aside, and read back whole', async () => {
  const { engine, run, at } = await started();
  const long = 'long words '.repeat(1000);
  await engine.execute(run, advance(at, long));
  const text = (await engine.view(run))?.state.outputs.plan?.text;
  expect(text).toMatchObject({ bytes: long.length });
  expect(await engine.text(run, text ?? '')).toBe(long);
});

test('words beyond 256 KB are refused and not kept', async () => {
  const store = createMemoryStore();
  const { run, at } = await started(store);
  const kept: string[] = [];
  const engine = createEngine({
    store: {
      ...store,
      keep: async (_, text) => {
        kept.push(text);
        return { opening: '', digest: '', bytes: 0 };
      },
    },
    newRun: counted(),
    hashOf: hashDefinition,
  });
  const { reply } = await engine.execute(run, advance(at, 'x'.repeat(256 * 1024 + 1)));
  expect(reply).toMatchObject({ code: 'bad_output' });
  expect(kept).toEqual([]);
});

test('the first call of a session binds it, in the same batch', async () => {
  const { engine, run, at } = await started();
  const facts = { host: 'claude-code', worktree: '{project_root}' };
  await engine.execute(run, { ...advance(at, 'plan'), session: 's1' }, undefined, { facts });
  await engine.execute(run, { type: 'note', kind: 'decision', text: 'x', now: 4, session: 's1' }, undefined, {
    facts,
  });
  expect((await engine.view(run))?.state.sessions).toMatchObject({ s1: facts });
  const batches = await engine.entries(run);
  expect(batches.map(({ session }) => session)).toEqual([undefined, 's1', 's1']);
  expect(
    batches.flatMap(({ events }) => events).filter(({ type }) => type === 'session.started'),
  ).toHaveLength(1);
});

test('an unknown run is said to be unknown', async () => {
  const { engine } = await started();
  await expect(engine.execute('none-1', { type: 'status', now: 1 })).rejects.toMatchObject({
    code: 'no_run',
  });
});
