import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HostDialect, hostDialects } from '../../test/kit/dialects/index.ts';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { createPendingCalls, type HookInput, type HookKind, type HookOutput } from '../runtime/index.ts';
import { stateDirectory } from '../workspace/index.ts';
import { lateMs } from './deliver-briefing.ts';

const editing = hostDialects.map(({ names }) => names.edit);
const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
agents:
  reviewer: { description: Looks at it, cannot: [${editing.join(', ')}, "browser*"] }
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD }
  - { id: review, type: action, agent: reviewer, instructions: Review it. }
stop: hold
`;

describe.each(hostDialects.map((dialect) => [dialect.host.name, dialect] as const))('%s', (_, dialect) => {
  const { host, names, noSubagents = false, noCallIds = false } = dialect;
  let kit: HookKit;
  let run: string;
  let at: string;
  let count = 0;
  beforeEach(async () => {
    kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' });
    ({ run, at } = await kit.start());
  });
  afterEach(() => kit[Symbol.dispose]());

  async function fire(kind: HookKind, more: Partial<HookInput> = {}): Promise<HookOutput> {
    count += 1;
    const input: HookInput = {
      host: host.name,
      kind,
      session: 'a',
      cwd: kit.project.root,
      id: String(count),
      ...(kind === 'session_start' ? { source: 'startup' } : {}),
      ...(kind === 'stop' || kind === 'subagent_stop' ? { stopActive: false } : {}),
      ...more,
    };
    return await fireAs(dialect, input);
  }
  async function fireAs(as: HostDialect, input: HookInput): Promise<HookOutput> {
    const { event, payload } = as.payload(input);
    const { stdout, stderr, exitCode } = await kit.send(as.host, event, payload);
    const say = as.shown?.({ stderr, exitCode });
    if (say === undefined) expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    return { ...as.output(stdout), ...(say === undefined ? {} : { say }) };
  }
  /** A call of a Stepfast tool that was answered, which binds the session. */
  const called = (session: string, answer: { run: string; at: string }, more: Partial<HookInput> = {}) =>
    fire('after_tool', {
      session,
      tool: { name: names.status, kind: 'stepfast', answer: { ...answer, refused: false } },
      ...more,
    });
  const use = (name: string, more: Partial<HookInput> = {}) =>
    fire('before_tool', { tool: { name, kind: 'other' }, ...more });
  const shell = (): Promise<HookOutput> => fire('after_tool', { tool: { name: 'shell', kind: 'shell' } });
  /**
   * A compaction, with the session start after it on hosts that report one. On a host without any such event, a resumed
   * session is briefed as well.
   */
  async function compact(session = 'a'): Promise<HookOutput> {
    if (host.compaction === 'none') return await fire('session_start', { session, source: 'resume' });
    await fire('before_compact', { session });
    kit.wait(lateMs);
    return host.compaction === 'exact'
      ? await fire('session_start', { session, source: 'compact' })
      : await fire('prompt', { session });
  }
  const advance = (output: string, from?: string) =>
    kit.call(run, { type: 'advance', output, ...(from === undefined ? {} : { at: from }) });
  const state = async () => (await kit.runtime.engine.view(run))?.state ?? expect.fail('no run');
  const logged = (): string[] => kit.log().map(({ what }) => what);

  describe('session start', () => {
    test('[P4/1] [U10] the only live run is offered, and the session is not bound', async () => {
      const { context = '', say = '' } = await fire('session_start');
      expect(context).toContain(run);
      expect(context).not.toContain(at);
      expect(context.split('\n')).toHaveLength(2);
      expect(say).not.toBe('');
      expect(await fire('prompt', { prompt: 'what is in the README?' })).toEqual({});
      expect(Object.keys((await state()).sessions)).not.toContain('a');
      expect(await fire('stop')).toEqual({});
    });

    test.each(['continue', 'Continue.', `${names.command}resume`])(
      '[U10] [002/7] a typed %s takes the offered run up: the briefing is within the limit',
      async (prompt) => {
        await fire('session_start');
        const { context = '' } = await fire('prompt', { prompt });
        expect(context).toContain(at);
        expect(context.length).toBeLessThanOrEqual(host.limits.contextCharacters);
        expect(logged()).toEqual(['injected']);
        expect((await state()).sessions.a).toMatchObject({ witness: 'hooks' });
      },
    );

    test('[U10] the first call of the agent takes the offered run up', async () => {
      await fire('session_start');
      const { context = '' } = await called('a', { run, at });
      expect(context).toContain(at);
      expect((await state()).sessions.a).toMatchObject({ witness: 'hooks' });
      expect(await called('a', { run, at })).toEqual({});
    });

    test('[U10] a session that works on another run does not take the offered one up', async () => {
      await fire('session_start');
      const own = await kit.runtime.start(
        { workflow: 'w' },
        { session: 'a', host: host.name, witness: 'hooks' },
      );
      await called('a', { run: own.run ?? '', at: own.reply.at ?? '' });
      expect(await fire('prompt', { prompt: 'continue' })).toEqual({});
    });

    test('[P4/6] a resumed session is briefed on its position', async () => {
      await called('a', { run, at });
      await fire('session_end');
      expect((await state()).sessions.a?.endedAt).toBeDefined();
      expect((await fire('session_start', { source: 'resume' })).context).toContain(at);
      expect((await state()).sessions.a?.endedAt).toBeUndefined();
    });

    test('in another directory, the one in which the session was opened counts if the host tells it', async () => {
      if (names.project !== undefined) kit.project.env[names.project] = kit.project.root;
      const { context } = await fire('session_start', { cwd: join(kit.project.root, '..') });
      expect(context?.includes(run)).toBe(names.project === undefined ? undefined : true);
    });

    test('a start without a hook is made up for after a clear', async () => {
      const build = await advance('Planned.');
      await called('a', { run, at: build });
      await fire('session_end', { cleared: true });
      const { context } = await fire('prompt', { session: 'b' });
      expect(context).toContain('INSTRUCTIONS-BUILD');
      expect((await state()).cursors.build?.boundary).toMatchObject({ state: 'released', by: 'hook' });
    });
  });

  describe.skipIf(host.compaction === 'none')('compaction', () => {
    test('[P4/4] [002/9] the session is briefed after each one, and each is counted once', async () => {
      await called('a', { run, at });
      for (let cycle = 1; cycle <= 3; cycle += 1) {
        expect((await compact()).context).toContain(at);
        expect((await state()).sessions.a?.resets).toBe(cycle);
      }
    });

    test('[002/6] [pain 9] the summarizer is told what to keep', async () => {
      await called('a', { run, at });
      await kit.call(run, { type: 'note', kind: 'decision', text: 'SimpleWebAuthn on both sides.' });
      const { survive } = await fire('before_compact', { trigger: 'auto' });
      const kept = [run, at, 'SimpleWebAuthn on both sides.', '@docs/auth.md'];
      const isTold = host.capabilities.some(({ tells }) => tells === 'summariser');
      expect(kept.filter((each) => survive?.includes(each))).toEqual(isTold ? kept : []);
    });

    test('what the event before it makes due, the next tool brings', async () => {
      await called('a', { run, at });
      await fire('before_compact');
      // A host may write late whether a compaction has begun.
      if (host.compactionState) expect(await shell()).toEqual({});
      kit.wait(lateMs);
      expect((await shell()).context).toContain(at);
      const { resets } = (await state()).sessions.a ?? {};
      // Only a host that never reports the end of a compaction counts it here.
      expect(resets).toBe(host.compaction === 'hint' ? 1 : 0);
    });

    test('[U10] a session that was offered the run is offered it again, and its person is not', async () => {
      await fire('session_start');
      const { context = '', say } = await compact();
      // A host that only gives a hint of a compaction does not show when it has happened.
      expect(context.includes(run)).toBe(host.compaction === 'exact');
      expect(context).not.toContain(at);
      expect(say).toBeUndefined();
    });
  });

  test('[pain 6] where the arrival cannot be looked up, three looks are enough', async () => {
    await called('a', { run, at });
    await compact();
    if (host.writtenUntil) {
      for (let look = 0; look < 5; look += 1) expect(await shell()).toEqual({});
      expect(logged().at(-1)).toBe('injected');
    }
    kit.wait(lateMs);
    for (let look = 0; look < 3; look += 1) expect(await shell()).toEqual({});
    expect(logged().at(-1)).toBe('gave_up');
    expect((await state()).briefings.a).toMatchObject({ proven: 'none' });
  });

  test('a call with the handle of the briefing proves its arrival', async () => {
    await fire('session_start');
    await fire('prompt', { prompt: 'continue' });
    const tool = { name: names.status, kind: 'stepfast', at, answer: { run, at, refused: false } } as const;
    await called('a', { run, at }, { tool });
    expect((await state()).briefings.a).toMatchObject({ proven: 'handle' });
  });

  describe('tools', () => {
    test('those that the agent of the position cannot use are denied, in bound sessions only', async () => {
      const build = await advance('Planned.');
      await kit.call(run, { type: 'status', at: build });
      const review = await advance('Built.', build);
      expect(await use(names.edit)).toEqual({});
      await called('a', { run, at: review });
      expect((await use(names.edit)).deny).toContain('reviewer');
      expect(await use('browser.open')).toHaveProperty('deny');
      expect(await use('search')).toEqual({});
      expect(await use(names.edit, { session: 'c' })).toEqual({});
      expect(logged().filter((what) => what === 'denied')).toHaveLength(2);
    });

    test('[pain 15] written files are artefacts and required files are read, each recorded once', async () => {
      await called('a', { run, at });
      kit.project.write({ 'src/a.ts': '1' });
      const file = (kind: 'read' | 'write', path: string, more: Partial<HookInput> = {}) =>
        fire('after_tool', { tool: { name: kind, kind, path: join(kit.project.root, path) }, ...more });
      await file('write', 'src/b.ts', { agent: { id: 's1', type: 'worker' } });
      for (const path of ['src/a.ts', 'src/a.ts', '.stepfast/config.yaml']) await file('write', path);
      for (const path of ['docs/auth.md', 'docs/auth.md', 'src/a.ts']) await file('read', path);
      const { artefacts, reading } = await state();
      expect(artefacts).toEqual(['src/a.ts']);
      expect(Object.keys(reading)).toEqual(['{project_root}/docs/auth.md']);
      const events = (await kit.runtime.engine.entries(run)).flatMap((entry) => entry.events);
      expect(events.filter(({ type }) => type === 'file.read')).toHaveLength(1);
    });

    test.skipIf(noCallIds)('[P4/8] Stepfast learns which session or subagent calls it', async () => {
      const callers = createPendingCalls(
        stateDirectory({ env: kit.project.env, home: kit.project.env.HOME ?? '' }),
      );
      const tool = { name: names.status, kind: 'stepfast' } as const;
      expect(await fire('before_tool', { id: '4711', tool, agent: { id: 's1', type: 'worker' } })).toEqual(
        {},
      );
      expect(callers.take(dialect.callId?.('a') ?? '4711')).toEqual({
        host: host.name,
        session: 'a',
        agent: 's1',
      });
    });
  });

  describe('stop', () => {
    test('[pain 13] is held for a bound session, once a turn and three times a visit', async () => {
      await called('a', { run, at });
      expect((await fire('stop')).block).toContain(at);
      const again = await fire('stop', { stopActive: true });
      expect(again.block).toBeUndefined();
      expect(again.say).toBeDefined();
      expect(await fire('stop', { session: 'c' })).toEqual({});
      for (const held of [true, true, false]) expect('block' in (await fire('stop'))).toBe(held);
    });

    test('[P1/6] [pain 1] is not held before a context action, and the person is notified once', async () => {
      const who = { session: 'a', host: host.name, witness: 'hooks' } as const;
      const planned = { type: 'advance', output: 'Planned.', at } as const;
      const { reply } = await kit.runtime.call(planned, who, { run });
      await called('a', { run, at: reply.at ?? '' });
      const { say, block } = await fire('stop');
      expect({ block, say }).toEqual({ block: undefined, say: expect.any(String) });
      expect(await fire('stop')).toEqual(host.resets ? { reset: 'clear' } : {});
    });
  });

  describe.skipIf(noSubagents)('subagents', () => {
    const agent = (id: string) => ({ agent: { id, type: 'worker' } });
    const start = (prompt: string) =>
      fire('before_tool', { tool: { name: 'agent', kind: 'agent', agent: 'worker', prompt } });

    test('[P1/8] [P4/8] one with a handle in its prompt is a fresh context for the position', async () => {
      const build = await advance('Planned.');
      await called('a', { run, at: build });
      await start(`Do ${build}, then report.`);
      expect((await fire('subagent_start', agent('s1'))).context).toContain('INSTRUCTIONS-BUILD');
      expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset', by: 'subagent' });
      expect(await fire('subagent_start', agent('s2'))).toEqual({});
      await fire('subagent_stop', agent('s1'));
      expect((await state()).sessions['a/s1']?.endedAt).toBeDefined();
    });
  });

  test('[002/9] without a run every event is answered with nothing, and no file is created', async () => {
    using idle = createHookKit({});
    for (const kind of [
      'session_start',
      'prompt',
      'before_compact',
      'after_tool',
      'stop',
      'session_end',
    ] as const)
      expect(await fire(kind, { cwd: idle.project.root })).toEqual({});
    expect(existsSync(idle.runtime.project.directory)).toBe(false);
  });
});
