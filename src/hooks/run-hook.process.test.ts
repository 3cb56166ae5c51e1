import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHookKit, filesIn, type HookKit, status } from '../../test/kit/hooks.ts';
import { noticeForPerson } from '../messages/index.ts';
import { createPendingCalls } from '../runtime/index.ts';
import { stateDirectory } from '../workspace/index.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
agents:
  reviewer: { description: Looks at it, cannot: [Edit, "mcp__browser__*"] }
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: clear, instructions: Build what the plan says. }
  - { id: review, type: action, agent: reviewer, instructions: Review it. }
stop: hold
`;

let kit: HookKit;
let run: string;
let at: string;
beforeEach(async () => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' });
  ({ run, at } = await kit.start());
});
afterEach(() => kit[Symbol.dispose]());

const state = async () => {
  const view = await kit.runtime.engine.view(run);
  if (!view) throw new Error('no run');
  return view.state;
};
const tool = (name: string, id: string, input: object, response: object = {}) => ({
  tool_name: name,
  tool_use_id: id,
  tool_input: input,
  tool_response: response,
});
const startup = (session = 'a') => kit.fire('SessionStart', { session_id: session, source: 'startup' });
const compact = () => kit.fire('SessionStart', { source: 'compact' });

describe('sessions that begin', () => {
  test('[P4/3] several runs are listed, five at most, and none is guessed', async () => {
    for (let count = 2; count <= 7; count += 1)
      await kit.runtime.start({ workflow: 'w', summary: `Run ${count}` }, { session: `mcp-${count}` });
    const { context } = await startup();
    expect(context).toMatch(/\b7\b/);
    expect(context.match(/^- w-/gm)).toHaveLength(5);
    expect(context).not.toContain('ACTION REQUIRED');
  });

  test('[M4] after a compaction required reading is to be read first, also what was read before it', async () => {
    await kit.called('a', { run, at });
    const action = async () => /ACTION REQUIRED\n(.*)/.exec((await compact()).context)?.[1];
    expect(await action()).toContain('@docs/auth.md');
    await kit.fire('PostToolUse', tool('Read', 'r1', { file_path: join(kit.project.root, 'docs/auth.md') }));
    expect(Object.keys((await state()).reading)).toHaveLength(1);
    expect(await action()).toContain('@docs/auth.md');
  });

  test('[P4/6] a session that is resumed is told what differs', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionEnd', { reason: 'other' });
    await kit.call(run, { type: 'note', kind: 'artefact', text: 'docs/plan.md' });
    const { context } = await kit.fire('SessionStart', { source: 'resume' });
    expect(context).toContain('SINCE THEN\n- Files that the run produced do not exist here: docs/plan.md.');
  });

  test('[P4/11] [U1] when the run has ended, its person sees that once; then marks and bindings are gone', async () => {
    await kit.called('a', { run, at });
    await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person', name: 'ann' } }, { run });
    await startup('b');
    expect((await kit.fire('Stop')).json.systemMessage).toContain('cancelled');
    expect((await kit.fire('Stop')).stdout).toBe('');
    expect(filesIn(join(kit.runtime.project.directory, 'sessions', 'marks'))).toEqual(['because']);
    expect((await compact()).stdout).toBe('');
  });
});

describe('boundaries', () => {
  test('[P1/7] a clear that a hook sees releases the position, and the briefing has its instructions', async () => {
    const build = await kit.call(run, { type: 'advance', output: 'The plan is there.' });
    await kit.called('a', { run, at: build });
    expect((await state()).cursors.build?.boundary?.state).toBe('requested');
    await kit.fire('SessionEnd', { reason: 'clear' });
    const { context } = await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
    expect(context).toContain('Build what the plan says.');
    expect((await state()).cursors.build?.boundary).toMatchObject({
      state: 'released',
      how: 'reset',
      by: 'hook',
    });
  });
});

describe('what a person types', () => {
  const stop = () => kit.fire('Stop', { stop_hook_active: false });
  const asked = async (): Promise<string> => {
    const { reply } = await kit.runtime.call(
      { type: 'advance', output: 'The plan is there.', at },
      { session: 'a', witness: 'hooks' },
      { run },
    );
    return 'at' in reply ? (reply.at ?? '') : '';
  };

  test('where it is required the way out is told, and other sessions are told nothing', async () => {
    await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } }, { run });
    kit.project.write({ '.stepfast/workflows/w.yaml': `${workflow}boundaries: require\n` });
    const who = { session: 'a', witness: 'hooks' } as const;
    const begun = await kit.runtime.start({ workflow: 'w' }, who);
    ({ run = '' } = begun);
    at = 'at' in begun.reply ? (begun.reply.at ?? '') : '';
    await kit.called('a', { run, at: await asked() });
    await kit.called('b', { run, at });
    expect((await kit.fire('Stop', { session_id: 'b' })).stdout).toBe('');
    const required = { do: 'reset_context', at, context: 'clear', required: true } as const;
    expect((await stop()).json.systemMessage).toBe(`Stepfast: build ${noticeForPerson(required)}`);
  });
});

describe('compactions', () => {
  test('[002/4] [002/8] PreCompact makes a run of informal work, and the next start is told of it', async () => {
    const informal = createHookKit({
      'CLAUDE.local.md':
        '# Workflow State\n\nWorkflow: Passkeys\nPhase: 2/4 - Build\n\nGo on with the form.\n',
    });
    try {
      await informal.fire('PreCompact', { trigger: 'auto' });
      const { context } = await informal.fire('SessionStart', { source: 'compact' });
      expect(context).toContain('Go on with the form.');
    } finally {
      informal[Symbol.dispose]();
    }
  });

  test('which notes the summary kept and which it lost is recorded once the briefing has arrived', async () => {
    await kit.called('a', { run, at });
    await kit.call(run, { type: 'note', kind: 'decision', text: 'SimpleWebAuthn on both sides.' });
    await kit.call(run, { type: 'note', kind: 'correction', text: 'The button says Passkey.' });
    kit.writeDown({ type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } });
    const content = 'We use **SimpleWebAuthn** on both\nsides. See docs/auth.md.';
    kit.writeDown({ type: 'user', isCompactSummary: true, message: { role: 'user', content } });
    kit.accept((await compact()).context);
    await kit.fire('UserPromptSubmit', { prompt: 'go on' });
    const recorded = (await kit.runtime.engine.entries(run))
      .flatMap(({ events }) => events)
      .find(({ type }) => type === 'compaction.recorded');
    // The handle, two notes and a path.
    expect(recorded).toMatchObject({
      type: 'compaction.recorded',
      session: 'a',
      trigger: 'auto',
      asked: 4,
      found: 2,
      kept: ['n1'],
      lost: ['n2'],
    });
  });

  test('[pain 5] without PreCompact nothing is lost', async () => {
    await kit.called('a', { run, at });
    await kit.call(run, { type: 'note', kind: 'decision', text: 'Passkeys only.' });
    expect((await compact()).context).toContain('Passkeys only.');
  });
});

describe('proof and repair', () => {
  const read = (id: string) => tool('Bash', id, { command: 'ls' }, { stdout: '' });

  test('[pain 6] what arrived is proven by the transcript, and not injected again', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    kit.accept(context);
    expect((await kit.fire('UserPromptSubmit', { prompt: 'go on' })).stdout).toBe('');
    expect((await state()).briefings.a).toMatchObject({ proven: 'transcript' });
  });

  test('[pain 6] what was lost is injected again with the next prompt, then with a tool, three times at most', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    kit.writeDown({ type: 'system', subtype: 'compact_boundary' });
    expect((await kit.fire('UserPromptSubmit', { prompt: 'go on' })).context).toBe(context);
    expect((await kit.fire('PostToolUse', read('t1'))).context).toBe(context);
    expect((await kit.fire('PostToolUse', read('t2'))).stdout).toBe('');
    expect((await state()).briefings.a).toMatchObject({ proven: 'none' });
    expect(kit.log().map(({ what }) => what)).toContain('gave_up');
  });

  test('[pain 8] what arrived cut counts as lost, and a briefing has 9,000 characters at most', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    expect(context.length).toBeLessThanOrEqual(9000);
    kit.accept(`<persisted-output>${context.slice(0, 200)}`);
    expect((await kit.fire('PostToolUse', read('t1'))).context).toBe(context);
  });

  test('a startup that never came is made up for with the first prompt', async () => {
    expect((await kit.fire('UserPromptSubmit', { prompt: 'hello' })).context).toContain(run);
    expect((await kit.fire('UserPromptSubmit', { prompt: 'again' })).stdout).toBe('');
    const first = { session_id: 'f', prompt: 'continue' };
    expect((await kit.fire('UserPromptSubmit', first)).context).toContain('ACTION REQUIRED');
  });

  test('a session that began before the run is left alone', async () => {
    kit.writeDown({ type: 'user' });
    expect((await kit.fire('UserPromptSubmit', { prompt: 'hello' })).stdout).toBe('');
  });
});

describe('stops', () => {
  test('the stop of one worker does not wait for the gates of another', async () => {
    const workflow = `name: w
description: Two at once
stop: hold
steps:
  - { id: work, type: loop, parallel: 2, instructions: Set the tasks. }
loops:
  work:
    - { id: do, read_only: true, instructions: Do it., gate: [{ run: sleep 3600 }] }
`;
    // With this limit a stop that waits for gates does not end before the test's time is up.
    const parallel = createHookKit({ '.stepfast/workflows/w.yaml': workflow }, { stopHookMs: 7_200_000 });
    const { project, runtime } = parallel;
    project.trust('w');
    const started = await parallel.start();
    const options = { run: started.run };
    const tasks = ['one', 'two'].map((id) => ({ id, title: id }));
    await runtime.call({ type: 'setTasks', loop: 'work', tasks }, { session: 'p' }, options);
    const claim = async (session: string, task: string): Promise<string> => {
      const who = { session, witness: 'hooks' } as const;
      const { reply } = await runtime.call({ type: 'claim', holder: session, task }, who, options);
      await parallel.called(session, { run: started.run, at: reply.at ?? '' });
      return reply.at ?? '';
    };
    const mine = await claim('a', 'one');
    const theirs = await claim('b', 'two');
    const done = { type: 'advance', output: 'Done.', at: theirs } as const;
    await runtime.call(done, { session: 'b', witness: 'hooks' }, { ...options, waitMs: 100 });
    const { held } = await parallel.fire('Stop', { session_id: 'a', stop_hook_active: false });
    const cursors = (await runtime.engine.view(started.run))?.state.cursors;
    expect(cursors?.['work/two']?.checking).toBeDefined();
    expect(held).toContain(mine);
    await runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } }, options);
    parallel[Symbol.dispose]();
  });
});

describe('who calls', () => {
  const call = (more: object) => kit.fire('PreToolUse', { ...tool(status, 'toolu_1', {}), ...more });
  const callers = () =>
    createPendingCalls(stateDirectory({ env: kit.project.env, home: kit.project.env.HOME ?? '' }));

  test('also where no run is active yet, and where nothing can be written', async () => {
    await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } }, { run });
    await call({});
    expect(callers().take('toolu_1')).toBeDefined();
    const folder = join(
      stateDirectory({ env: kit.project.env, home: kit.project.env.HOME ?? '' }),
      'callers',
    );
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    expect(await call({})).toMatchObject({ stdout: '', stderr: '', exitCode: 0 });
    expect(callers().take('toolu_1')).toBeUndefined();
  });
});
