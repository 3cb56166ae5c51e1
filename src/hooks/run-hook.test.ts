import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cpuTimer } from '../../test/kit/cpu-time.ts';
import { createHookKit, filesIn, type HookKit, status } from '../../test/kit/hooks.ts';
import { isServed } from '../../test/kit/project.ts';
import { claudeCode } from '../hosts/claude-code/index.ts';
import { nextForTools } from '../messages/index.ts';
import { createCallers } from '../runtime/index.ts';
import { stateDirectory } from '../workspace/index.ts';
import { runHook } from './run-hook.ts';
import { pendingReason } from './session-record.ts';

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
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const startup = (session = 'a') => kit.fire('SessionStart', { session_id: session, source: 'startup' });
const otherWorktree = (): string => {
  const worktree = join(kit.project.root, '..', 'other');
  kit.project.git('worktree', 'add', '-q', worktree);
  return worktree;
};
const compact = () => kit.fire('SessionStart', { source: 'compact' });

describe('sessions that begin', () => {
  test('[P4/1] [002/7] startup with one live run and nobody at it brings the whole briefing', async () => {
    const { context, exitCode } = await startup();
    expect(exitCode).toBe(0);
    expect(context).toContain(run);
    expect(context).toContain('REQUIRED READING');
    expect(context).toContain('ACTION REQUIRED');
    expect(context).toContain('✅ Workflow restored: w, Phase 1/3');
    // Told, but not bound: nothing holds its stop.
    expect(Object.keys((await state()).sessions)).not.toContain('a');
    expect((await kit.fire('Stop', { stop_hook_active: false })).stdout).toBe('');
  });

  test.skipIf(isServed)(
    'a briefing that was compiled ahead is the same, and says how old its ages are',
    async () => {
      const { context } = await startup();
      await kit.fire('SessionEnd', { session_id: 'z', reason: 'other' });
      expect((await startup('b')).context).toBe(context);
      kit.wait(5 * 60_000);
      expect((await startup('c')).context).toBe(
        `${context}\n\nAges are as they were 5 min ago; nothing else has changed.`,
      );
      rmSync(join(kit.project.root, 'docs/auth.md'));
      expect((await startup('e')).context).toContain('@docs/auth.md (missing)');
      await kit.call(run, { type: 'note', kind: 'decision', text: 'Passkeys only.' });
      expect((await startup('d')).context).toContain('Passkeys only.');
    },
  );

  test('[P4/2] where somebody is at work another session gets two lines', async () => {
    await kit.called('b', { run, at });
    const { context } = await startup();
    expect(context.split('\n')).toHaveLength(2);
    expect(context).toContain(run);
  });

  test('[P4/3] several runs are listed, five at most, and none is guessed', async () => {
    for (let count = 2; count <= 7; count += 1)
      await kit.runtime.start({ workflow: 'w', summary: `Run ${count}` }, { session: `mcp-${count}` });
    const { context } = await startup();
    expect(context).toContain('7 Stepfast runs are live here, the last 5 of them below;');
    expect(context.match(/^- w-/gm)).toHaveLength(5);
    expect(context).not.toContain('ACTION REQUIRED');
  });

  test('[P4/4] [002/9] after each of many compactions the same session is briefed again', async () => {
    await kit.called('a', { run, at });
    for (let cycle = 0; cycle < 12; cycle += 1) {
      await kit.fire('PreCompact', { trigger: 'auto', custom_instructions: null });
      const step = /:(.*)#/.exec(at)?.[1] ?? '';
      expect((await compact()).context).toContain(
        `ACTION REQUIRED\n${nextForTools({ do: 'work', at, step, finish: 'advance' })}`,
      );
      await kit.fire('PostCompact', { trigger: 'auto', compact_summary: 'We go on.' });
    }
    expect((await state()).sessions.a?.resets).toBe(12);
  });

  test('[P4/5] after a clear the next session of the same process inherits', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionEnd', { reason: 'clear' });
    const { context } = await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
    expect(context).toContain('ACTION REQUIRED');
    expect((await state()).sessions.b?.from).toBe('a');
  });

  test('[P4/6] a session that is resumed is told what differs', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionEnd', { reason: 'other' });
    await kit.call(run, { type: 'note', kind: 'artefact', text: 'docs/plan.md' });
    const { context } = await kit.fire('SessionStart', { source: 'resume' });
    expect(context).toContain('SINCE THEN\n- Files that the run made are not here: docs/plan.md.');
  });

  test('[P4/7] a fork begins unbound', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionStart', { session_id: 'f', source: 'fork' });
    expect((await state()).sessions.f).toBeUndefined();
  });

  test('[P4/9] a session of another worktree that calls with a handle is bound, and known to be there', async () => {
    await kit.called('w', { run, at }, { cwd: otherWorktree() });
    expect((await state()).sessions.w?.worktree).toMatch(/^\{project_root\}\/..\/other(@|$)/);
  });

  test('[P4/9] a run is told in the worktree that its last session worked in, and in no other', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionEnd', { reason: 'prompt_input_exit' });
    // The tools' own name says where it works as well.
    const seen = { type: 'session', now: Date.now(), session: 'mcp-1', event: { type: 'ended' } } as const;
    await kit.runtime.engine.execute(run, seen);
    const there = { session_id: 'w', source: 'startup', cwd: otherWorktree() };
    expect((await kit.fire('SessionStart', there)).context).toBe('');
    expect((await startup('n')).context).toContain('ACTION REQUIRED');
  });

  test('[P4/11] when the run has ended its marks and bindings are gone, and hooks are silent', async () => {
    await kit.called('a', { run, at });
    await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person', name: 'ann' } }, { run });
    await startup('b');
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

  test('[P1/8] [P4/8] a subagent with the handle in its prompt is a reset, and gets the briefing', async () => {
    const build = await kit.call(run, { type: 'advance', output: 'The plan is there.' });
    await kit.called('a', { run, at: build });
    const prompt = `Do ${build}, then report.`;
    await kit.fire('PreToolUse', tool('Agent', 't1', { subagent_type: 'worker', prompt }));
    const { context } = await kit.fire('SubagentStart', { agent_id: 's1', agent_type: 'worker' });
    expect(context).toContain('Build what the plan says.');
    expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset', by: 'subagent' });
    // One without a handle inherits nothing.
    expect((await kit.fire('SubagentStart', { agent_id: 's2', agent_type: 'worker' })).stdout).toBe('');
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

  test('[P1/6] [pain 1] a turn that ends before a context action says what to type, once', async () => {
    await kit.called('a', { run, at: await asked() });
    const { json } = await stop();
    expect(json).toEqual({
      systemMessage:
        'Stepfast: build begins with a fresh context. Type /clear, then: continue. Any other message goes on in this context.',
    });
    expect((await stop()).stdout).toBe('');
  });

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
    expect((await stop()).json.systemMessage).toContain(
      "It waits for that; 'stepfast proceed' lets it pass.",
    );
  });
});

describe('compactions', () => {
  test('[002/6] [pain 9] PreCompact prints what must survive, as plain text, and never blocks', async () => {
    await kit.called('a', { run, at });
    await kit.call(run, { type: 'note', kind: 'decision', text: 'SimpleWebAuthn on both sides.' });
    const { stdout, exitCode } = await kit.fire('PreCompact', { trigger: 'manual', custom_instructions: '' });
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(/^\{/);
    for (const kept of [run, at, 'SimpleWebAuthn on both sides.', '@docs/auth.md'])
      expect(stdout).toContain(kept);
  });

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

  test('PostCompact records which notes the summary kept and which it lost', async () => {
    await kit.called('a', { run, at });
    await kit.call(run, { type: 'note', kind: 'decision', text: 'SimpleWebAuthn on both sides.' });
    await kit.call(run, { type: 'note', kind: 'correction', text: 'The button says Passkey.' });
    await kit.fire('PostCompact', {
      trigger: 'auto',
      compact_summary: 'We use **SimpleWebAuthn** on both\nsides. See docs/auth.md.',
    });
    const recorded = (await kit.runtime.engine.entries(run)).at(-1)?.events.at(-1);
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

  test('what stands before the last compaction proves nothing', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    kit.accept(context);
    kit.writeDown({ type: 'system', subtype: 'compact_boundary' });
    expect((await kit.fire('UserPromptSubmit', { prompt: 'go on' })).context).toBe(context);
  });

  test('a session start that never came is made up for with the next tool', async () => {
    await kit.called('a', { run, at });
    await kit.fire('PreCompact', { trigger: 'auto' });
    kit.writeDown({ type: 'system', subtype: 'compact_boundary' });
    expect((await kit.fire('PostToolUse', read('t1'))).context).toContain('ACTION REQUIRED');
  });

  test('a startup that never came is made up for with the first prompt', async () => {
    expect((await kit.fire('UserPromptSubmit', { prompt: 'hello' })).context).toContain('ACTION REQUIRED');
    expect((await kit.fire('UserPromptSubmit', { prompt: 'again' })).stdout).toBe('');
  });

  test('a session that began before the run is left alone', async () => {
    kit.writeDown({ type: 'user' });
    expect((await kit.fire('UserPromptSubmit', { prompt: 'hello' })).stdout).toBe('');
  });

  test('a call with the position of the briefing proves it', async () => {
    await startup();
    await kit.called('a', { run, at }, { tool_input: { at } });
    expect((await state()).briefings.a).toMatchObject({ proven: 'handle' });
    kit.writeDown({ type: 'user' });
    expect((await kit.fire('PostToolUse', read('t1'))).stdout).toBe('');
    expect((await kit.called('a', { run, at })).stdout).toBe('');
  });
});

describe('tools', () => {
  test('a required file that is read whole is recorded with its hash, others are not', async () => {
    await kit.called('a', { run, at });
    const file = (path: string, lines: object) =>
      tool(
        'Read',
        `r${path}${JSON.stringify(lines).length}`,
        { file_path: join(kit.project.root, path) },
        { type: 'text', file: lines },
      );
    await kit.call(run, { type: 'note', kind: 'reminder', text: 'What hooks knew of the run is old.' });
    await kit.fire('PostToolUse', file('docs/auth.md', { startLine: 1, numLines: 1, totalLines: 90 }));
    await kit.fire('PostToolUse', file('README.md', { startLine: 1, numLines: 1, totalLines: 1 }));
    expect((await state()).reading).toEqual({});
    await kit.fire('PostToolUse', file('docs/auth.md', { startLine: 1, numLines: 1, totalLines: 1 }));
    expect(Object.keys((await state()).reading)).toEqual(['{project_root}/docs/auth.md']);
  });

  test('files that are written are artefacts once, if they are in the project', async () => {
    await kit.called('a', { run, at });
    kit.project.write({ 'src/a.ts': '1' });
    const write = (id: string, path: string) =>
      kit.fire('PostToolUse', tool('Write', id, { file_path: path }));
    await write('w1', join(kit.project.root, 'src/a.ts'));
    await write('w2', join(kit.project.root, 'src/a.ts'));
    await write('w3', '/etc/hosts');
    await write('w4', join(kit.project.root, '.stepfast/config.yaml'));
    expect((await state()).artefacts).toEqual(['src/a.ts']);
  });

  test('[pain 15] what a subagent does is not its parent session', async () => {
    await kit.called('a', { run, at });
    kit.project.write({ 'src/b.ts': '1' });
    const write = tool('Write', 'w1', { file_path: join(kit.project.root, 'src/b.ts') });
    await kit.fire('PostToolUse', { ...write, agent_id: 's1', agent_type: 'worker' });
    expect((await state()).artefacts).toEqual([]);
  });

  test("what the position's agent cannot use is denied, in bound sessions only", async () => {
    const build = await kit.call(run, { type: 'advance', output: 'Planned.' });
    await kit.call(run, { type: 'status', at: build });
    const review = await kit.call(run, { type: 'advance', output: 'Built.', at: build });
    const use = (name: string, id: string, session = 'a') =>
      kit.fire('PreToolUse', { session_id: session, ...tool(name, id, {}) });
    expect((await use('Edit', 'e0')).stdout).toBe('');
    await kit.called('a', { run, at: review });
    expect((await use('Edit', 'e1')).json.hookSpecificOutput).toMatchObject({
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining("the agent 'reviewer', which may not use Edit"),
    });
    expect((await use('mcp__browser__open', 'e2')).stdout).toContain('deny');
    expect((await use('Read', 'e3')).stdout).toBe('');
    expect((await use(status, 'e4')).stdout).toBe('');
    expect((await use('Edit', 'e5', 'somebody else')).stdout).toBe('');
  });
});

describe('stops', () => {
  const stop = (active = false, session = 'a') =>
    kit.fire('Stop', { session_id: session, stop_hook_active: active });

  test('[pain 13] a stop is held for a bound session, never while one is held, three times a visit', async () => {
    expect((await stop()).stdout).toBe('');
    await kit.called('a', { run, at });
    expect((await stop()).json).toEqual({
      decision: 'block',
      reason: expect.stringContaining(`${at} is not finished`),
    });
    const { json: again } = await stop(true);
    expect(again.decision).toBeUndefined();
    expect(again.systemMessage).toContain(`${at} is not finished. This turn was held once already`);
    expect((await stop(false, 'somebody else')).stdout).toBe('');
    await stop();
    expect((await stop()).json.decision).toBe('block');
    expect((await stop()).stdout).toBe('');
  });

  test('[P1/6] a stop is allowed while a context action is waited for', async () => {
    const build = await kit.call(run, { type: 'advance', output: 'Planned.' });
    await kit.called('a', { run, at: build });
    expect((await stop()).stdout).toBe('');
  });

  test('the stop of one worker does not wait for the gates of another', async () => {
    const parallel = createHookKit({
      '.stepfast/workflows/w.yaml': `name: w
description: Two at once
stop: hold
steps:
  - { id: work, type: loop, parallel: 2, instructions: Set the tasks. }
loops:
  work:
    - { id: do, read_only: true, instructions: Do it., gate: [{ run: sleep 600 }] }
`,
    });
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
    const began = performance.now();
    const { json } = await parallel.fire('Stop', { session_id: 'a', stop_hook_active: false });
    // It would wait 45 s for a gate of its own.
    expect(performance.now() - began).toBeLessThan(40_000);
    expect(json.reason).toContain(mine);
    await runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } }, options);
    parallel[Symbol.dispose]();
  });

  test("the summariser's stop is nobody's", async () => {
    await kit.called('a', { run, at });
    expect((await kit.fire('SubagentStop', { agent_id: 'x', agent_type: '' })).stdout).toBe('');
    expect((await state()).sessions.a?.endedAt).toBeUndefined();
  });

  test('the end of a session closes its record', async () => {
    await kit.called('a', { run, at });
    await kit.fire('SessionEnd', { reason: 'prompt_input_exit' });
    expect((await state()).sessions.a?.endedAt).toBeDefined();
  });
});

describe('who calls', () => {
  const call = (more: object) => kit.fire('PreToolUse', { ...tool(status, 'toolu_1', {}), ...more });
  const callers = () =>
    createCallers(stateDirectory({ env: kit.project.env, home: kit.project.env.HOME ?? '' }));

  test('[P4/8] the tool learns which session or subagent calls it, once', async () => {
    expect((await call({})).stdout).toBe('');
    expect(callers().take('toolu_1')).toEqual({ host: 'claude-code', session: 'a' });
    expect(callers().take('toolu_1')).toBeUndefined();
    await call({ agent_id: 's1', agent_type: 'worker' });
    expect(callers().take('toolu_1')).toEqual({ host: 'claude-code', session: 'a', agent: 's1' });
  });

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

describe('a hook never breaks a session', () => {
  test('[002/9] without an active run nothing is printed and no file is made', async () => {
    const idle = createHookKit({});
    try {
      for (const event of [
        'SessionStart',
        'UserPromptSubmit',
        'PreCompact',
        'PostToolUse',
        'Stop',
        'SessionEnd',
      ])
        expect(await idle.fire(event)).toMatchObject({ stdout: '', stderr: '', exitCode: 0 });
      expect(existsSync(idle.runtime.project.directory)).toBe(false);
    } finally {
      idle[Symbol.dispose]();
    }
  });

  test('two copies of one event act once', async () => {
    await kit.called('a', { run, at });
    const event = { source: 'compact', prompt_id: 'same' };
    const fired = await Promise.all([kit.fire('SessionStart', event), kit.fire('SessionStart', event)]);
    expect(fired.filter(({ stdout }) => stdout !== '')).toHaveLength(1);
    expect((await state()).sessions.a?.resets).toBe(1);
    // The next compaction of the same prompt is another event.
    await kit.fire('PreCompact', { trigger: 'auto', prompt_id: 'same' });
    expect((await kit.fire('SessionStart', event)).context).toContain('ACTION REQUIRED');
  });

  test.skipIf(isServed)(
    'a run that cannot be read is told on stderr and in the log, and stdout is empty',
    async () => {
      await kit.called('a', { run, at });
      kit.project.write({ [`.stepfast/runs/${run}/journal.jsonl`]: 'broken\n' });
      const { stdout, stderr, exitCode } = await compact();
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
      expect(stderr).toContain('stepfast hook SessionStart: ');
      expect(kit.log().at(-1)).toMatchObject({ what: 'error', event: 'SessionStart' });
    },
  );

  test('where nothing can be written the briefing comes all the same', async () => {
    await kit.called('a', { run, at });
    const sessions = join(kit.runtime.project.directory, 'sessions');
    for (const folder of ['hooks', 'facts']) {
      rmSync(join(sessions, folder), { recursive: true, force: true });
      writeFileSync(join(sessions, folder), 'no folder');
    }
    mkdirSync(join(sessions, 'marks', 'because', pendingReason({ host: 'claude-code', session: 'a' })));
    const { context, exitCode } = await compact();
    expect(exitCode).toBe(0);
    expect(context).toContain('ACTION REQUIRED');
  });

  test('[002/9] a folder that leads out of the project is not written to', async () => {
    await kit.called('a', { run, at });
    const sessions = join(kit.runtime.project.directory, 'sessions');
    const outside = join(kit.project.root, '..', 'outside');
    for (const name of ['sessions/hooks', 'sessions', '.']) {
      const link = join(kit.runtime.project.directory, name);
      rmSync(outside, { recursive: true, force: true });
      cpSync(link, outside, { recursive: true });
      rmSync(link, { recursive: true });
      symlinkSync(outside, link);
      const before = filesBelow(outside);
      const { stdout, stderr, exitCode } = await compact();
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
      expect(stderr).toContain('is a link that leads out of the project');
      expect(filesBelow(outside)).toEqual(before);
      rmSync(link);
      cpSync(outside, link, { recursive: true });
    }
    expect(existsSync(sessions)).toBe(true);
  });

  test.each(['', 'no JSON', '[]', 'null', '{"session_id":1}', `{"session_id":"${'a'.repeat(300)}"}`])(
    'input that is none is told on stderr at most: %j',
    async (input) => {
      const around = { env: kit.project.env, home: '', now: Date.now, pid: undefined };
      const { stdout, exitCode } = await runHook(claudeCode, 'SessionStart', input, around);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    },
  );

  test('damaged files of its own are as good as none', async () => {
    await kit.called('a', { run, at });
    await compact();
    for (const file of filesBelow(join(kit.runtime.project.directory, 'sessions')))
      if (file.endsWith('.json')) writeFileSync(file, '{"v":1,');
    await kit.fire('UserPromptSubmit', { prompt: 'go on' });
    expect((await compact()).context).toContain('ACTION REQUIRED');
  });

  test('a transcript that is missing or huge costs no time, one that may still grow is waited for', async () => {
    await kit.called('a', { run, at });
    const { context } = await compact();
    kit.accept(context);
    appendFileSync(kit.transcript, `${'x'.repeat(30 * 1024 * 1024)}\n`);
    kit.accept(context);
    const spent = cpuTimer();
    expect((await kit.fire('UserPromptSubmit', { prompt: 'go on' })).stdout).toBe('');
    expect(spent()).toBeLessThan(1000);
    rmSync(kit.transcript);
    await compact();
    using timers = vi.spyOn(globalThis, 'setTimeout');
    const pauses = (): number => timers.mock.calls.filter(([, ms]) => ms === 25).length;
    expect((await kit.fire('Stop', {})).exitCode).toBe(0);
    expect(pauses()).toBe(0);
    kit.writeDown({ type: 'user' });
    expect((await kit.fire('Stop', {})).exitCode).toBe(0);
    expect(pauses()).toBeGreaterThan(0);
  });

  test('a session whose directory is gone is left alone', async () => {
    await kit.called('a', { run, at });
    expect(await kit.fire('SessionStart', { cwd: join(kit.project.root, 'gone') })).toMatchObject({
      stdout: '',
      exitCode: 0,
    });
  });

  test("another host's payload is ignored", async () => {
    for (const foreign of [{ cursor_version: '3' }, { turn_id: 't' }, { timestamp: '2026-11-15T08:00:00Z' }])
      expect((await kit.fire('SessionStart', { source: 'startup', ...foreign })).stdout).toBe('');
  });
});
