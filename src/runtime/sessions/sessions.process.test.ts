import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isServed } from '../../../test/kit/is-served.ts';
import { type Definition, mayStop } from '../../machine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { sessionEnvironment } from '../../workspace/session-environment.ts';
import { isRefused } from '../answer.ts';
import type { LocalRuntime } from '../open-runtime.ts';
import { createBindings } from './binding-files.ts';
import { createSessions, type Sessions } from './sessions.ts';

const definition: Definition = {
  name: 'w',
  description: 'Two steps',
  stop: 'hold',
  boundaries: 'require',
  steps: [
    { id: 'plan', type: 'action', instructions: 'Plan.' },
    { id: 'build', type: 'action', context: 'clear', instructions: 'Build.' },
  ],
};

let project: TestProject;
let runtime: LocalRuntime;
let sessions: Sessions;
let now: number;
let run: string;
let alive: (pid: number) => boolean;
beforeEach(async () => {
  project = createTestProject();
  runtime = project.runtime();
  now = 1_000_000;
  alive = () => true;
  sessions = createSessions({
    engine: runtime.engine,
    project: runtime.project,
    clock: () => now,
    boot: 'here',
    environment: () => sessionEnvironment(runtime.project, { STEPFAST_MACHINE: 'laptop' }),
    isAlive: (pid) => alive(pid),
  });
  run = (await runtime.engine.begin(definition, { type: 'start', now, session: 'tools' })).run;
});
afterEach(() => project[Symbol.dispose]());

const suffix = (): string => run.slice(run.lastIndexOf('-') + 1);
const state = async () => {
  const view = await runtime.engine.view(run);
  if (!view) throw new Error('no run');
  return view.state;
};
const begin = (source: Parameters<Sessions['begin']>[0]['source'], session: string, pid = 10) =>
  sessions.begin({ source, host: 'h', session, cwd: project.root, pid });
const key = (session: string, agent?: string) => ({
  host: 'h',
  session,
  ...(agent === undefined ? {} : { agent }),
});
const called = (session: string, step = 'plan', pid = 10) =>
  sessions.called(key(session), { run, at: `${suffix()}:${step}#1`, cwd: project.root, pid });

describe('sessions and a run', () => {
  test('a session begins also where its run cannot be written to, and that is told', async () => {
    await called('one');
    const errors: unknown[] = [];
    const full = new Error('no space left');
    const stuck = createSessions({
      engine: { ...runtime.engine, execute: () => Promise.reject(full) },
      project: runtime.project,
      clock: () => now,
      boot: 'here',
      environment: () => ({}),
      isAlive: () => true,
      onError: (error) => errors.push(error),
    });
    const start = { source: 'compact', host: 'h', session: 'one', cwd: project.root } as const;
    expect(await stuck.begin(start)).toMatchObject({ kind: 'brief', run });
    expect(errors).toEqual([full]);
  });

  test('[P1/7] what the tools asked under a name of their own opens with the clear of the session that has the handle', async () => {
    await called('one');
    const advance = { type: 'advance', output: 'Planned.', now, session: 'tools' } as const;
    await runtime.engine.execute(run, advance);
    await called('one', 'build');
    expect((await state()).cursors.build?.boundary).toMatchObject({ session: 'tools' });
    await sessions.ended(key('one'), { cleared: true });
    await begin('clear', 'two');
    expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset', by: 'hook' });
    expect((await state()).sessions.two?.resets).toBe(1);
  });

  test('[P4/1] a session is told of the run, bound by its first call, and only then may its stop be held', async () => {
    expect(await begin('startup', 'one')).toMatchObject({ kind: 'offer', run });
    expect(await sessions.stopping(key('one'))).toBeUndefined();
    const before = await state();
    expect(Object.keys(before.sessions)).toEqual(['tools']);
    expect(mayStop(definition, before, { session: 'one', active: false })).toMatchObject({ hold: false });
    await called('one');
    expect(await sessions.stopping(key('one'))).toMatchObject({ run, at: `${suffix()}:plan#1` });
    const after = await state();
    expect(after.sessions.one).toMatchObject({
      host: 'h',
      witness: 'hooks',
      worktree: '{project_root}',
      environment: { hostname: 'laptop', git_branch: 'main' },
    });
    expect(mayStop(definition, after, { session: 'one', active: false })).toMatchObject({ hold: true });
    expect(await begin('startup', 'two', 11)).toMatchObject({ kind: 'two_lines', heldBy: 'one' });
  });

  test.skipIf(isServed)(
    '[P4/5] a clear hands the run on: the required boundary opens, and the old session is bound no more',
    async () => {
      await called('one');
      await runtime.engine.execute(run, { type: 'advance', now, output: 'planned', session: 'one' });
      expect((await state()).cursors.build?.boundary).toMatchObject({
        state: 'requested',
        policy: 'require',
      });
      await called('one', 'build');
      await sessions.ended(key('one'), { cleared: true });
      now += 5000;
      expect(await begin('clear', 'two')).toMatchObject({ kind: 'brief', run, inherits: { session: 'one' } });
      const after = await state();
      expect(after.cursors.build?.boundary).toMatchObject({ state: 'released', how: 'reset', by: 'hook' });
      expect(after.sessions.one?.endedAt).toBe(now - 5000);
      expect(after.sessions.two).toMatchObject({ from: 'one', witness: 'hooks' });
      const kept = await createBindings(runtime.project.directory).list();
      expect(kept.map(({ session }) => session)).toEqual(['two']);
    },
  );

  test('[P4/4] a reset that a hook saw opens what the tools asked for under a session of their own', async () => {
    await called('one');
    await runtime.engine.execute(run, { type: 'advance', now, output: 'planned', session: 'tools' });
    expect((await state()).cursors.build?.boundary).toMatchObject({ policy: 'prefer', session: 'tools' });
    await called('one', 'build');
    // A compaction does not satisfy a clear.
    expect(await begin('compact', 'one')).toMatchObject({ kind: 'brief', run });
    expect((await state()).cursors.build?.boundary).toMatchObject({ state: 'requested' });
    expect(await begin('clear', 'one')).toMatchObject({ kind: 'brief', run });
    expect((await state()).cursors.build?.boundary).toMatchObject({ state: 'released', how: 'reset' });
  });

  test('[P1/7] a clear opens nothing that another session was asked which hooks see as well', async () => {
    await called('one');
    await called('two', 'plan', 11);
    await runtime.engine.execute(run, { type: 'advance', now, output: 'planned', session: 'one' });
    await called('two', 'build', 11);
    await sessions.ended(key('two'), { cleared: true });
    await begin('clear', 'three', 11);
    expect((await state()).cursors.build?.boundary).toMatchObject({ state: 'requested', session: 'one' });
  });

  test.skipIf(isServed)('[P4/6] an ended session that is resumed is bound and live again', async () => {
    await called('one');
    await sessions.ended(key('one'), { cleared: false });
    expect((await state()).sessions.one?.endedAt).toBe(now);
    expect(await begin('startup', 'two', 11)).toMatchObject({ kind: 'offer' });
    now += 3_600_000;
    expect(await begin('resume', 'one')).toMatchObject({ kind: 'brief', run, binding: { session: 'one' } });
    expect((await state()).sessions.one).not.toHaveProperty('endedAt');
    expect(await sessions.stopping(key('one'))).toBeDefined();
  });

  test('a holder whose process is gone holds nothing', async () => {
    await called('one');
    alive = (pid) => pid !== 10;
    expect(await begin('startup', 'two', 11)).toMatchObject({ kind: 'offer', run });
  });

  test('[P4/7] the first call of a fork with a handle binds it beside its origin', async () => {
    await called('one');
    expect(await begin('fork', 'two', 11)).toMatchObject({ kind: 'two_lines', heldBy: 'one' });
    await called('two', 'plan', 11);
    expect(await sessions.stopping(key('two'))).toBeDefined();
    expect(await sessions.stopping(key('one'))).toBeDefined();
  });

  test('[P4/8] a subagent is bound under its own name and leaves its session alone', async () => {
    await called('one');
    await sessions.called(key('one', 'a1'), { run, cwd: project.root });
    expect(Object.keys((await state()).sessions)).toEqual(['tools', 'one', 'one/a1']);
    expect(await sessions.stopping(key('one', 'a1'))).toBeUndefined();
    await sessions.ended(key('one', 'a1'), { cleared: false });
    expect((await state()).sessions.one).not.toHaveProperty('endedAt');
  });

  test.skipIf(isServed)('[P4/8] when a session ends, only its own subagents end with it', async () => {
    await called('one');
    await called('two', 'plan', 11);
    for (const [session, agent] of [
      ['one', 'a1'],
      ['two', 'a1'],
    ] as const)
      await sessions.called(key(session, agent), { run, cwd: project.root });
    await sessions.ended(key('one'), { cleared: true });
    const bindings = await createBindings(runtime.project.directory).list();
    const over = bindings
      .filter(({ endedAt }) => endedAt === now)
      .map(({ session, agent }) => [session, agent]);
    expect(over.sort()).toEqual([
      ['one', undefined],
      ['one', 'a1'],
    ]);
    expect(bindings.find(({ agent, session }) => agent && session === 'one')).not.toHaveProperty('cleared');
    const known = (await state()).sessions;
    expect(known['one/a1']?.endedAt).toBe(now);
    expect(known['two/a1']).not.toHaveProperty('endedAt');
  });

  test('[P4/11] the call that ends a run leaves no binding', async () => {
    await called('one');
    await runtime.engine.execute(run, { type: 'cancel', now, actor: { kind: 'person' } });
    await called('one');
    await called('two', 'plan', 11);
    expect(await createBindings(runtime.project.directory).list()).toEqual([]);
  });

  test('[P4/11] a start sweeps bindings of runs that are over, nothing else does', async () => {
    const bindings = createBindings(runtime.project.directory);
    const stale = { ...key('old'), run: 'w-20260101-gone', cwd: project.root, boundAt: now, seenAt: now };
    await bindings.put(stale);
    await called('one');
    await begin('resume', 'one');
    expect(await bindings.list()).toHaveLength(2);
    await begin('startup', 'two', 11);
    expect((await bindings.list()).map(({ session }) => session)).toEqual(['one']);
  });

  test('[P4/9] a session of a linked worktree records it there, and its binding is seen from all', async () => {
    project.git('worktree', 'add', '-q', '../linked');
    const linked = project.runtime({ cwd: `${project.root}/../linked` });
    const there = createSessions({
      engine: linked.engine,
      project: linked.project,
      clock: () => now,
      boot: 'here',
      environment: () => ({}),
      isAlive: () => true,
    });
    await there.called(key('one'), { run, cwd: linked.project.worktree, pid: 10 });
    expect((await state()).sessions.one?.worktree).toBe('{project_root}/../linked');
    expect((await createBindings(runtime.project.directory).list())[0]).toMatchObject({
      cwd: '{project_root}/../linked',
    });
  });

  test('[P4/11] with the end of the run its bindings go', async () => {
    await called('one');
    await called('two', 'plan', 11);
    await runtime.engine.execute(run, { type: 'cancel', now, actor: { kind: 'person' } });
    expect(await sessions.stopping(key('one'))).toBeUndefined();
    expect(await begin('resume', 'one')).toMatchObject({ kind: 'nothing' });
    const bindings = createBindings(runtime.project.directory);
    expect(await bindings.list()).toEqual([]);
  });

  test('a sign of life is written once a minute, and renews what the session holds', async () => {
    await called('one');
    now += 59_000;
    await sessions.seen(key('one'));
    const bindings = createBindings(runtime.project.directory);
    expect(await bindings.get(key('one'))).toMatchObject({ seenAt: 1_000_000 });
    now += 1000;
    await sessions.seen(key('one'));
    expect(await bindings.get(key('one'))).toMatchObject({ seenAt: now });
    await sessions.seen(key('unknown'));
    expect(await bindings.list()).toHaveLength(1);
  });

  test.skipIf(isServed)('bindings that cannot be written cost no briefing', async () => {
    rmSync(join(project.root, '.stepfast', 'sessions'), { recursive: true });
    project.write({ '.stepfast/sessions': 'a file' });
    expect(await begin('startup', 'one')).toMatchObject({ kind: 'offer', run });
    await runtime.engine.execute(run, { type: 'session', now, session: 'one', event: { type: 'started' } });
    expect(await begin('resume', 'one')).toMatchObject({ kind: 'brief', binding: { run } });
    const { reply } = await runtime.engine.execute(run, { type: 'status', now });
    expect(isRefused(reply)).toBe(false);
  });
});
