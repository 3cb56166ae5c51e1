import { describe, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { Command, Status } from '../../src/machine/index.ts';
import {
  budgetedDefinition,
  choosyDefinition,
  conditionalDefinition,
  gatedDefinition,
  notifyingDefinition,
  smallDefinition,
  tasksDefinition,
} from './contract-workflows.ts';

export const advance = (at: string, output: string, now = 2): Command => ({
  type: 'advance',
  now,
  at,
  output,
});

export async function startSmall(engine: Engine): Promise<{ engine: Engine; run: string; at: string }> {
  const { run, reply } = await engine.begin(smallDefinition, { type: 'start', now: 1 });
  return { engine, run, at: (reply as Status).at ?? '' };
}

/** What every engine promises, in process and over HTTP; `create` may give one that has runs already. */
export function engineContract(name: string, create: () => Promise<Engine>): void {
  const started = async () => await startSmall(await create());
  const own = () => `mine-20261115-${Math.random().toString(36).slice(2, 10).padEnd(8, '0')}`;

  describe(`the ${name} engine`, () => {
    test('a run is advanced, and every call sees it as it is now', async () => {
      const { engine, run, at } = await started();
      const { reply, changed } = await engine.execute(run, advance(at, 'the plan'), undefined, {
        values: { project_root: '/p' },
      });
      expect(changed).toBe(true);
      expect(reply).toMatchObject({ step: 'build', instructions: 'Build the plan in /p.' });
      const again = await engine.execute(run, { type: 'status', now: 3 });
      expect(again).toMatchObject({ changed: false, reply: { step: 'build', status: 'running' } });
      expect(await engine.view(run)).toMatchObject({ run, state: { step: 'build' }, version: { seq: 2 } });
    });

    test('a repeated handle replays, a repeated key gives the same answer', async () => {
      const { engine, run, at } = await started();
      const first = await engine.execute(run, advance(at, 'the plan'));
      expect(first.reply).not.toHaveProperty('replayed');
      const repeated = await engine.execute(run, advance(at, 'the plan'));
      expect(repeated.reply).toMatchObject({ step: 'build', replayed: true });
      const note: Command = { type: 'note', now: 5, kind: 'decision', text: 'Use SQLite' };
      const noted = await engine.execute(run, note, 'key-1');
      const second = await engine.execute(run, { ...note, now: 9 }, 'key-1');
      expect(second.reply).toEqual({ ...noted.reply, replayed: true });
      expect(second.repeated).toBe(true);
      expect((await engine.view(run))?.state.notes).toHaveLength(1);
    });

    test('[C0] the key of a call that changed nothing is never repeated', async () => {
      const { engine, run, at } = await started();
      await engine.execute(run, advance(at, 'the plan'));
      for (let sent = 0; sent < 2; sent += 1) {
        const beaten = await engine.execute(run, advance(at, 'another plan'), 'key-1');
        expect(beaten).toMatchObject({ changed: false, reply: { replayed: true } });
        expect(beaten).not.toHaveProperty('repeated');
      }
    });

    test('[C0] a repeated key is recognized from a session that the run does not know', async () => {
      const engine = await create();
      const steps = smallDefinition.steps.map((step) => ({ ...step, review: { by: 'human' } }));
      const { run, reply } = await engine.begin({ ...smallDefinition, steps }, { type: 'start', now: 1 });
      const { at = '' } = reply as Status;
      const call = async (session: string) =>
        await engine.execute(run, { ...advance(at, 'the plan'), session }, 'key-1', {
          facts: { host: 'codex' },
        });
      await call('s1');
      expect(await call('s2')).toMatchObject({ repeated: true, reply: { replayed: true } });
    });

    test('[C0] an ignored output is told as ignored, whatever else the call writes', async () => {
      const engine = await create();
      const steps = smallDefinition.steps.map((step) => ({ ...step, context: 'clear' as const }));
      const { run } = await engine.begin({ ...smallDefinition, steps }, { type: 'start', now: 1 });
      const actor = { kind: 'person', name: 'ann' } as const;
      const plan: Command = { type: 'advance', now: 2, output: 'the plan', actor };
      const { at = '' } = (await engine.execute(run, plan)).reply as Status;
      await engine.execute(run, { type: 'ask', now: 2, at, text: 'Which one?', actor });
      const before = (await engine.view(run))?.version.seq ?? 0;
      const call = { ...advance(at, 'the build'), session: 's1' };
      for (let sent = 0; sent < 2; sent += 1) {
        const told = await engine.execute(run, call, 'key-1');
        expect(told).toMatchObject({ ignored: true, reply: { status: 'waiting' } });
        expect(told).not.toHaveProperty('repeated');
        expect(told.reply).not.toHaveProperty('replayed');
      }
      expect((await engine.view(run))?.version.seq).toBeGreaterThan(before);
    });

    test('[S10] a key that was used for another command or other content is refused', async () => {
      const { engine, run, at } = await started();
      const note: Command = { type: 'note', now: 5, kind: 'decision', text: 'Use SQLite' };
      const noted = await engine.execute(run, note, 'key-1');
      for (const other of [
        { type: 'cancel', now: 6, actor: { kind: 'person', name: 'ann' } },
        { ...note, text: 'Use PostgreSQL' },
        { ...note, at },
        advance(at, 'the plan'),
      ] satisfies Command[])
        await expect(engine.execute(run, other, 'key-1')).rejects.toMatchObject({ code: 'key_reused' });
      expect((await engine.view(run))?.state).toMatchObject({ status: 'running', step: 'plan' });
      // Neither the moment nor the session nor what the caller's runtime saw is what a call asks for.
      const again: Command = { ...note, now: 9, session: 's2', tree: 'git:1' };
      expect((await engine.execute(run, again, 'key-1')).reply).toEqual({ ...noted.reply, replayed: true });
    });

    test('[S10] a key of a start that was used for another start is refused', async () => {
      const engine = await create();
      const run = own();
      const begin = (summary: string, definition = smallDefinition) =>
        engine.begin(definition, { type: 'start', now: 1, summary }, {}, { run, key: 'k' });
      await begin('one');
      await expect(begin('two')).rejects.toMatchObject({ code: 'key_reused' });
      const other = { ...smallDefinition, description: 'Another' };
      await expect(begin('one', other)).rejects.toMatchObject({ code: 'key_reused' });
      expect(await begin('one')).toMatchObject({ run, changed: false });
    });

    test('a refusal is an answer, and leaves the run as it was', async () => {
      const { engine, run } = await started();
      const { reply, changed } = await engine.execute(run, advance('abcd:plan#7', 'no'));
      expect(changed).toBe(false);
      expect(reply).toMatchObject({ code: expect.any(String), params: expect.any(Object) });
      expect((await engine.view(run))?.version.seq).toBe(1);
    });

    test('of many calls at once with one handle exactly one advances', async () => {
      const { engine, run, at } = await started();
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, index) => engine.execute(run, advance(at, `output ${index}`))),
      );
      expect(replies.filter(({ reply }) => 'step' in reply && !reply.replayed)).toHaveLength(1);
      const events = (await engine.entries(run)).flatMap((entry) => entry.events);
      expect(events.filter(({ type }) => type === 'position.completed')).toHaveLength(1);
    });

    test('A1: what two processes report of one session at once counts once', async () => {
      const engine = await create();
      const { run } = await engine.begin(budgetedDefinition, { type: 'start', now: 1 });
      const report = (turns: number): Promise<unknown> =>
        engine.execute(run, { type: 'spend', now: 2, session: 's', source: 's', turns, tokens: 10 * turns });
      await Promise.all([1, 2, 3, 3, 2, 1, 3].map(report));
      expect((await engine.view(run))?.state).toMatchObject({
        status: 'running',
        budget: { turns: 3, tokens: 30 },
        total: { turns: 3, tokens: 30 },
      });
      await Promise.all([report(4), report(4)]);
      expect((await engine.view(run))?.state).toMatchObject({ status: 'waiting', budget: { turns: 4 } });
    });

    test('[L/notify] of many calls that end a run exactly one tells the user', async () => {
      const engine = await create();
      const opening = { type: 'start', now: 1, summary: 'Go' } as const;
      const { run, reply } = await engine.begin(notifyingDefinition, opening);
      const made = advance((reply as Status).at ?? '', 'Made.');
      const ends = await Promise.all([1, 2, 3].map(() => engine.execute(run, made)));
      expect(ends.flatMap(({ notifications = [] }) => notifications)).toEqual([
        { event: 'ended', kind: 'complete', run, workflow: 'notifying', summary: 'Go' },
      ]);
    });

    test('[L/enum] [L/pattern] a value that an input does not take is refused at the start, with what it takes', async () => {
      const engine = await create();
      const start = async (inputs: Record<string, string | number>) =>
        (await engine.begin(choosyDefinition, { type: 'start', now: 1, inputs })).reply;
      const refused = (name: string, problem: object) => ({
        code: 'bad_input',
        params: { workflow: 'choosy', name, ...problem },
      });
      expect(await start({ level: 'major' })).toMatchObject(
        refused('level', { why: 'not_allowed', allowed: ['patch', 'minor'] }),
      );
      expect(await start({ tries: 3 })).toMatchObject(
        refused('tries', { why: 'not_allowed', allowed: [1, 2] }),
      );
      for (const branch of ['Dark', 'a-', ' a', 'a\n', ''])
        expect(await start({ branch })).toMatchObject(refused('branch', { why: 'pattern' }));
      expect(await start({ branch: `${'a'.repeat(1000)}!` })).toMatchObject(
        refused('branch', { why: 'too_long', limit: 1000 }),
      );
      expect(await start({ tries: 2, branch: 'dark-mode' })).toMatchObject({
        status: 'running',
        instructions: 'Make minor.',
      });
    });

    test('[L/when] steps and sub-steps whose condition does not hold are skipped by the same call', async () => {
      const engine = await create();
      const { run } = await engine.begin(conditionalDefinition, { type: 'start', now: 1 });
      // Longer than what the journal keeps of an output.
      const plan = `${'x'.repeat(40_000)} risky`;
      expect((await engine.execute(run, { type: 'advance', now: 2, output: plan })).reply).toMatchObject({
        step: 'check',
        action: { do: 'work' },
      });
      const tasks = ['a', 'b'].map((id) => ({ id, title: id }));
      await engine.execute(run, { type: 'advance', now: 3, output: 'checked' });
      const at = async () => (await engine.execute(run, { type: 'status', now: 4 })).reply as Status;
      await engine.execute(run, { type: 'setTasks', now: 4, loop: 'all', tasks });
      expect(await at()).toMatchObject({ task: { id: 'a' }, subStep: 'code' });
      await engine.execute(run, { type: 'advance', now: 5, output: 'a' });
      expect(await at()).toMatchObject({ task: { id: 'b' }, subStep: 'test' });
      expect((await engine.view(run))?.state.skipped).toMatchObject({
        design: { values: { 'inputs.level': '"minor"' } },
        'all.a.test': { values: { 'task.id': '"a"' } },
      });
      await engine.execute(run, { type: 'advance', now: 6, output: 'b' });
      expect((await engine.execute(run, { type: 'advance', now: 7, output: 'b2' })).reply).toMatchObject({
        status: 'waiting',
        waiting: { for: 'blocked' },
      });
    });

    test('[L/tasks] [L/run] tasks come from the output of a step that the engine has run, also a long one', async () => {
      const engine = await create();
      const { run, effects } = await engine.begin(tasksDefinition, { type: 'start', now: 1 });
      const [effect] = effects;
      if (effect?.type !== 'runGates') throw new Error('the command is not requested');
      const list = Array.from({ length: 800 }, (_, index) => `Package number ${index} with a long name`);
      const finished = {
        type: 'gatesFinished' as const,
        now: 2,
        actor: { kind: 'engine' as const },
        id: effect.id,
        receipts: [{ gate: 0, pass: true, exit: 0 }],
        output: JSON.stringify({ packages: list }),
      };
      await engine.execute(run, finished);
      const state = (await engine.view(run))?.state;
      expect(state).toMatchObject({ status: 'running', step: 'all' });
      expect(state?.tasks.all?.order).toHaveLength(800);
    });

    test('a start that is repeated with its key begins nothing new; the id with another key is taken', async () => {
      const engine = await create();
      const run = own();
      const begin = (key: string) =>
        engine.begin(smallDefinition, { type: 'start', now: 1 }, {}, { run, key });
      const first = await begin('k');
      expect(first).toMatchObject({ run, changed: true });
      expect(await begin('k')).toMatchObject({
        run,
        changed: false,
        reply: { at: (first.reply as Status).at },
      });
      expect(await engine.entries(run)).toHaveLength(1);
      await expect(begin('other')).rejects.toMatchObject({ code: 'busy' });
    });

    test('a run id with the suffix of another run is refused: handles would match both', async () => {
      const engine = await create();
      const run = own();
      const begin = (id: string) =>
        engine.begin(smallDefinition, { type: 'start', now: 1 }, {}, { run: id, key: id });
      await begin(run);
      await expect(begin(`other-${run.slice(-8)}`)).rejects.toMatchObject({ code: 'busy' });
      await expect(begin(run.slice(-8))).rejects.toMatchObject({ code: 'busy' });
      expect(await engine.ids(run.slice(-8))).toEqual([run]);
      expect(await begin(own())).toMatchObject({ changed: true });
    });

    test('long words are kept aside, and read back whole', async () => {
      const { engine, run, at } = await started();
      const long = 'long words ß 漢字 👩‍👩‍👧 \u2028 '.repeat(1000);
      await engine.execute(run, advance(at, long));
      const text = (await engine.view(run))?.state.outputs.plan?.text;
      expect(text).toMatchObject({ bytes: Buffer.byteLength(long) });
      expect(await engine.text(run, text ?? '')).toBe(long);
      expect(await engine.text(run, 'short')).toBe('short');
    });

    test('words beyond 256 KB are refused', async () => {
      const { engine, run, at } = await started();
      const { reply } = await engine.execute(run, advance(at, 'x'.repeat(256 * 1024 + 1)));
      expect(reply).toMatchObject({ code: 'bad_output' });
    });

    test('the first call of a session binds it, in the same batch', async () => {
      const { engine, run, at } = await started();
      const facts = { host: 'claude-code', worktree: '{project_root}' };
      await engine.execute(run, { ...advance(at, 'plan'), session: 's1' }, undefined, { facts });
      const note: Command = { type: 'note', kind: 'decision', text: 'x', now: 4, session: 's1' };
      await engine.execute(run, note, undefined, { facts });
      expect((await engine.view(run))?.state.sessions).toMatchObject({ s1: facts });
      const batches = await engine.entries(run);
      expect(batches.map(({ session }) => session)).toEqual([undefined, 's1', 's1']);
      const events = batches.flatMap((entry) => entry.events);
      expect(events.filter(({ type }) => type === 'session.started')).toHaveLength(1);
    });

    test('a run is found by its id and by its end, and by nothing else', async () => {
      const engine = await create();
      const run = own();
      await engine.begin(smallDefinition, { type: 'start', now: 1 }, {}, { run, key: 'k' });
      expect(await engine.ids(run)).toEqual([run]);
      expect(await engine.ids(run.slice(-8))).toEqual([run]);
      expect(await engine.ids(run.slice(-7))).toEqual([]);
      expect(await engine.ids('../../etc/passwd')).toEqual([]);
      expect(await engine.ids('%')).toEqual([]);
    });

    test('what is listed has its state', async () => {
      const { engine, run } = await started();
      expect((await engine.runs()).find((each) => each.run === run)).toMatchObject({
        state: { run, status: 'running' },
      });
      expect(await engine.ids()).toContain(run);
    });

    test('entries are told after a number', async () => {
      const { engine, run, at } = await started();
      await engine.execute(run, advance(at, 'plan'));
      expect((await engine.entries(run, 1)).map(({ seq }) => seq)).toEqual([2]);
      expect(await engine.entries(run, 2)).toEqual([]);
    });

    test('watch resolves when the run changes, and after its timeout when it does not', async () => {
      const { engine, run, at } = await started();
      await engine.watch(run, 1, 50);
      const watched = engine.watch(run, 1, 60_000);
      await engine.execute(run, advance(at, 'plan'));
      await watched;
      await engine.watch(run, 1, 60_000);
      expect((await engine.view(run))?.version.seq).toBe(2);
    });

    test('a call tells the run as it left it, so that no further look is needed', async () => {
      const { engine, run, at } = await started();
      const changed = await engine.execute(run, advance(at, 'plan'));
      expect(changed.view).toStrictEqual(await engine.view(run));
      const looked = await engine.execute(run, { type: 'status', now: 3 });
      expect(looked.view).toStrictEqual(changed.view);
      const moved = await engine.watch(run, 1, 60_000);
      expect(moved).toStrictEqual(changed.view);
    });

    test('watching a gate run resolves at its end and not before', async () => {
      const engine = await create();
      const { run, reply } = await engine.begin(gatedDefinition, { type: 'start', now: 1 });
      const asked = await engine.execute(run, advance((reply as Status).at ?? '', 'made'));
      const { id } = (asked.reply as Status).checking ?? { id: '' };
      const watched = engine.watch(run, 2, 60_000, { check: id });
      const actor = { kind: 'engine' } as const;
      const runner = { pid: 1, host: 'here' };
      const deadline = Date.now() + 60_000;
      await engine.execute(run, { type: 'gatesStarted', now: 3, actor, id, runner, deadline });
      const receipts = [{ gate: 0, pass: true }];
      await engine.execute(run, { type: 'gatesFinished', now: 4, actor, id, runner, receipts });
      expect((await watched)?.state.step).toBe('ship');
    });

    test('an unknown run is said to be unknown', async () => {
      const engine = await create();
      const status: Command = { type: 'status', now: 1 };
      await expect(engine.execute(own(), status)).rejects.toMatchObject({ code: 'no_run' });
      expect(await engine.view(own())).toBeUndefined();
      expect(await engine.view('../x')).toBeUndefined();
    });

    test('a run that is removed is gone', async () => {
      const { engine, run } = await started();
      await engine.remove(run);
      expect(await engine.view(run)).toBeUndefined();
    });
  });
}
