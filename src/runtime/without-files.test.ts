import { expect, it } from 'vitest';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { runtimeWithoutFiles } from '../../test/kit/runtime-without-files.ts';
import { hashDefinition } from '../definition/index.ts';
import { createEngine } from '../engine/engine.ts';
import { newRun } from '../engine/new-run-id.ts';
import type { Definition, Gate, Step } from '../machine/index.ts';
import type { Runtime } from './runtime.ts';

const gated: Definition = {
  name: 'gated',
  description: 'A gate',
  steps: [
    { id: 'make', type: 'action', instructions: 'Make it.', gate: [{ exists: 'done.txt' }] },
    { id: 'sign', type: 'action', instructions: 'Sign it.', review: { by: 'human' } },
  ],
};
const who = { session: 's1', host: 'test' };

function opened({ used = [gated] }: { used?: Definition[] } = {}) {
  let now = 1_000_000;
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const named = async (name: string) => used.find((each) => each.name === name);
  const runtime = (session = 's1'): Runtime =>
    runtimeWithoutFiles({ engine, session, clock: () => now, used: { named, all: async () => used } });
  return { engine, runtime, later: (ms: number) => (now += ms) };
}

it('a gate is asked for and stays open; when its time is over it counts for nothing', async () => {
  const { runtime, later } = opened();
  const { reply, run = '' } = await runtime().start({ workflow: 'gated' }, who);
  const at = 'at' in reply ? reply.at : undefined;
  const advance = { type: 'advance' as const, output: 'made', ...(at === undefined ? {} : { at }) };
  const asked = await runtime().call(advance, who);
  expect(asked).toMatchObject({ run, reply: { checking: {}, step: 'make' } });
  expect(asked.warning).toContain('--wait');
  later(3_600_000);
  const late = await runtime().call({ type: 'status' }, who);
  expect(late.reply).toMatchObject({ step: 'make', interrupted: true });
  expect(late.reply).not.toHaveProperty('checking');
});

it.each([
  ['another', "B's", {}, true],
  ['the same', "A's", {}, false],
  ['another, which a review waits for,', "B's", { review: { by: 'human' } }, true],
  [
    'another, after which gates of the next step run,',
    "B's",
    { next: { baseline: true, run: 'true' } },
    true,
  ],
])(
  '[C0] a caller that missed its red gates learns that %s output was kept',
  async (_, kept, more, isBeaten) => {
    const { review, next }: { review?: Step['review']; next?: Gate } = more;
    const [make, sign] = gated.steps as [Step, Step];
    const definition: Definition = {
      ...gated,
      steps: [
        { ...make, ...(review && { review }) },
        { ...sign, ...(next && { gate: [next] }) },
      ],
    };
    const { engine, runtime } = opened({ used: [definition] });
    const { run = '', reply } = await runtime().start({ workflow: 'gated' }, who);
    const at = ('at' in reply && reply.at) || '';
    const finish = async (id: string, pass: boolean) =>
      await engine.execute(run, {
        ...{ now: 1_000_001, actor: { kind: 'engine' }, type: 'gatesFinished', id },
        receipts: [{ gate: 0, pass }],
      });
    const idIn = ({ reply: told }: { reply: object }) =>
      'checking' in told ? (told.checking as { id: string }).id : '';
    let first = true;
    const execute: typeof engine.execute = async (...call) => {
      const executed = await engine.execute(...call);
      if (!first) return executed;
      first = false;
      await finish(idIn(executed), false);
      const advance = { type: 'advance', now: 1_000_000, at, output: kept, session: 's1' } as const;
      const opens = await finish(idIn(await engine.execute(run, advance)), true);
      if (next) setTimeout(() => finish(idIn(opens), true), 1);
      return executed;
    };
    const slow = runtimeWithoutFiles({
      ...{ engine: { ...engine, execute }, session: 's1', clock: () => 1_000_002 },
      used: { named: async () => definition, all: async () => [definition] },
    });
    const told = await slow.call({ type: 'advance', at, output: "A's" }, who, { waitMs: 60_000 });
    const { outputs, cursors } = (await engine.view(run))?.state ?? {};
    expect(outputs?.make?.text ?? Object.values(cursors ?? {})[0]?.output).toBe(kept);
    expect(told.reply).toMatchObject({ step: review ? 'make' : 'sign' });
    expect([told.beaten, 'replayed' in told.reply]).toEqual(isBeaten ? [at, true] : [undefined, false]);
  },
);

it('a new session learns that a waiting run ignored its output', async () => {
  const { engine, runtime } = opened();
  const { run = '', reply } = await runtime().start({ workflow: 'gated' }, who);
  const at = ('at' in reply && reply.at) || '';
  await engine.execute(run, { type: 'ask', now: 1_000_000, at, text: 'Which one?', session: 's1' });
  const again = async () =>
    await runtime('s2').call({ type: 'advance', output: 'mine', at }, { session: 's2', host: 'test' });
  expect([(await again()).ignored, (await again()).ignored]).toEqual([true, true]);
});

it('every caller is an agent, even one that claims to be a person', async () => {
  const { engine, runtime } = opened();
  const person = { ...who, actor: { kind: 'person' as const, name: 'boss' } };
  const { run = '' } = await runtime().start({ workflow: 'gated' }, person);
  for (const request of [
    { type: 'proceed' as const },
    { type: 'answer' as const, text: 'yes' },
    { type: 'rewind' as const, to: 'make' },
    { type: 'gatesFinished' as const, id: 'x', receipts: [] },
  ])
    expect((await runtime().call(request, person)).reply).toHaveProperty('code');
  const entries = await engine.entries(run);
  expect(entries.map(({ actor }) => actor?.kind)).toEqual(entries.map(() => 'agent'));
});

it('the run of a caller is found in no worktree of anybody', async () => {
  const { engine, runtime } = opened();
  const { run = '' } = await runtime().start({ workflow: 'gated' }, who);
  expect((await engine.view(run))?.state.sessions.s1).toMatchObject({
    worktree: '{elsewhere}',
    host: 'test',
  });
});

it('a second start with the same words goes on with the run of this session alone', async () => {
  const { runtime } = opened();
  const first = await runtime().start({ workflow: 'gated', summary: 'login' }, who);
  const again = await runtime().start({ workflow: 'gated', summary: 'login' }, who);
  expect(again).toMatchObject({ run: first.run, restored: true });
  const other = await runtime('s2').start({ workflow: 'gated', summary: 'login' }, { session: 's2' });
  expect(other.run).not.toBe(first.run);
  expect(await runtime('s2').chooseRun({})).toEqual({ run: other.run });
  expect(await runtime('s3').chooseRun({})).toMatchObject({ code: 'no_run' });
});

it('what the project has used comes before a bundled workflow of that name', async () => {
  const own: Definition = { ...gated, name: 'go', description: 'Our own' };
  const names = async (runtime: Runtime) =>
    (await runtime.workflows()).map(({ name, description }) => `${name}: ${description}`);
  expect(await names(opened({ used: [own] }).runtime())).toContain('go: Our own');
  const bundled = await names(opened({ used: [] }).runtime());
  expect(bundled.filter((each) => each.startsWith('go: '))).toEqual([
    "go: Do a task, checked by the project's own tests",
  ]);
  const begun = await opened({ used: [own] })
    .runtime()
    .start({}, who);
  expect(begun.reply).toMatchObject({ step: 'make' });
});
