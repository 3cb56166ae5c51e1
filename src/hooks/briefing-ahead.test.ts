import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHookKit, type HookKit, status } from '../../test/kit/hooks.ts';
import { isRefused } from '../runtime/index.ts';

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
boundaries: require
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: compact, instructions: Build what the plan says. }
`;

const gated = `name: gated
description: Two checked steps
required_reading: ["@docs/auth.md", "@docs/new.md"]
critical_artifacts:
  always_load: [{ id: spec, type: markdown, path: docs/spec.md, required: true }]
steps:
  - { id: plan, type: action, instructions: Write the plan., gate: [{ run: "true" }] }
  - { id: build, type: action, instructions: Build what the plan says. }
`;

const shared = `name: shared
description: Tasks for several
loops: { build: [{ id: code, instructions: "Build {task.title}." }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`;

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit({
    '.stepfast/workflows/w.yaml': workflow,
    '.stepfast/workflows/gated.yaml': gated,
    '.stepfast/workflows/shared.yaml': shared,
    'docs/auth.md': '# Auth\n',
    'docs/new.md': '# New\n',
    'docs/spec.md': '# Passkeys\n\nA user may have several.\n',
  });
});
afterEach(() => kit[Symbol.dispose]());

const who = { session: 'a', witness: 'hooks', host: 'claude-code' } as const;
const directory = () => kit.runtime.project.directory;

/** A run on which session 'a' works. */
async function begin(workflowName = 'w', inputs = {}): Promise<{ run: string; at: string }> {
  const { run = '', reply } = await kit.runtime.start({ workflow: workflowName, inputs }, who);
  if (isRefused(reply)) throw new Error(JSON.stringify(reply));
  const at = reply.at ?? '';
  await kit.called('a', { run, at });
  return { run, at };
}
async function advance(run: string): Promise<string> {
  const { reply } = await kit.runtime.call({ type: 'advance', output: 'Done.' }, who, { run });
  if (isRefused(reply)) throw new Error(JSON.stringify(reply));
  return reply.at ?? '';
}
const stateOf = async (run: string) => {
  const view = await kit.runtime.engine.view(run);
  if (!view) throw new Error('no run');
  return view.state;
};
const resets = async (run: string, session = 'a') => (await stateOf(run)).sessions[session]?.resets;
const journal = (run: string) => statSync(join(directory(), 'runs', run, 'journal.jsonl')).size;
const preCompact = (session = 'a') => kit.fire('PreCompact', { session_id: session, trigger: 'auto' });
const start = (session = 'a') => kit.fire('SessionStart', { session_id: session, source: 'compact' });
const postCompact = (session = 'a') =>
  kit.fire('PostCompact', { session_id: session, trigger: 'auto', compact_summary: 'We go on.' });
const read = (file: string) =>
  kit.fire('PostToolUse', {
    tool_name: 'Read',
    tool_use_id: `read-${file}`,
    tool_input: { file_path: join(kit.project.root, file) },
    tool_response: { type: 'text', file: { numLines: 2, startLine: 1, totalLines: 2 } },
  });

/** Forgets what was compiled ahead, so that the run is asked. */
function forgetAhead(): void {
  const folder = join(directory(), 'sessions', 'hooks');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sent = files.filter((name) => name.endsWith('sent.json')).map((name) => join(folder, name));
  expect(sent).toHaveLength(1);
  for (const file of sent) {
    const { ahead, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
    expect(ahead).toBeDefined();
    writeFileSync(file, JSON.stringify(rest));
  }
}

const runs: Record<string, () => Promise<string>> = {
  'a plain run': async () => {
    const { run } = await begin();
    await kit.call(run, { type: 'note', kind: 'decision', text: 'Passkeys only.' });
    await read('docs/auth.md');
    return run;
  },
  'the bundled go': async () => (await begin('go', { task: 'Log in with a passkey' })).run,
  'a run of which the session holds one task': async () => {
    const { run } = await begin('shared');
    const tasks = ['form', 'server'].map((id) => ({ id, title: `The ${id}` }));
    await kit.call(run, { type: 'setTasks', loop: 'build', tasks });
    for (const [session, task] of [
      ['b', 'form'],
      ['a', 'server'],
    ] as const) {
      const { reply } = await kit.runtime.call(
        { type: 'claim', holder: session, task },
        { session },
        { run },
      );
      if (isRefused(reply)) throw new Error(JSON.stringify(reply));
    }
    return run;
  },
  'a run with receipts, reading and a critical artifact': async () => {
    kit.project.trust('gated');
    const { run } = await begin('gated');
    await read('docs/auth.md');
    await kit.called('a', { run, at: await advance(run) });
    return run;
  },
};

describe('a briefing that was compiled before a compaction', () => {
  test.each(Object.keys(runs))('[P4/4] is what the run itself would tell after it: %s', async (name) => {
    const run = (await runs[name]?.()) ?? '';
    await preCompact();
    const kept = join(kit.project.root, '..', 'kept');
    cpSync(directory(), kept, { recursive: true, preserveTimestamps: true });
    const size = journal(run);
    const { context } = await start();
    expect(context).toContain('ACTION REQUIRED');
    expect(journal(run)).toBe(size);

    rmSync(directory(), { recursive: true });
    cpSync(kept, directory(), { recursive: true, preserveTimestamps: true });
    forgetAhead();
    expect((await start()).context).toBe(context);
    expect(journal(run)).toBeGreaterThan(size);
  });

  test('tells what the new context has not, although the old one had it', async () => {
    const run = (await runs['a run with receipts, reading and a critical artifact']?.()) ?? '';
    await preCompact();
    const first = (await start()).context;
    await postCompact();
    for (const told of [
      '- @docs/auth.md (read before this context began)',
      '- @docs/new.md (not yet read)',
      "passed 'true' with exit 0 on this tree",
      'A user may have several.',
    ])
      expect(first).toContain(told);
    expect((await stateOf(run)).loads?.bySession.a?.spec?.hash).toMatch(/^sha256:|^[0-9a-f]{64}$/);
    // With the next compaction it is gone again.
    await preCompact();
    expect((await start()).context).toContain('A user may have several.');
  });

  test('is not injected once the run has gone on, a file has changed, or it is old', async () => {
    const { run } = await begin();
    await preCompact();
    await kit.call(run, { type: 'note', kind: 'decision', text: 'Passkeys only.' });
    expect((await start()).context).toContain('Passkeys only.');
    expect(await resets(run)).toBe(1);
    await postCompact();
    await preCompact();
    rmSync(join(kit.project.root, 'docs/auth.md'));
    expect((await start()).context).toContain('@docs/auth.md (missing)');
    expect(await resets(run)).toBe(2);
    await postCompact();
    await preCompact();
    kit.wait(11 * 60_000);
    expect((await start()).context).not.toContain('Ages are as they were');
    expect(await resets(run)).toBe(3);
  });

  test('says how old its ages are', async () => {
    await begin();
    await preCompact();
    kit.wait(3 * 60_000);
    expect((await start()).context).toMatch(
      /\n\nAges are as they were 3 min ago; nothing else has changed\.$/,
    );
  });

  test('is for its own session alone', async () => {
    const { run, at } = await begin();
    await kit.called('b', { run, at });
    await preCompact('a');
    await start('b');
    expect([await resets(run, 'a'), await resets(run, 'b')]).toEqual([0, 1]);
    await postCompact('b');
    await start('a');
    await postCompact('a');
    expect([await resets(run, 'a'), await resets(run, 'b')]).toEqual([1, 1]);
  });

  test('[P1/7] is not compiled where the compaction is waited for: the run opens the position first', async () => {
    const { run } = await begin();
    await kit.called('a', { run, at: await advance(run) });
    await preCompact();
    expect((await start()).context).toContain('Build what the plan says.');
    const { cursors } = await stateOf(run);
    const opened = { state: 'released', how: 'reset', by: 'hook' };
    expect(Object.values(cursors)[0]?.boundary).toMatchObject(opened);
  });
});

describe('what the run was not told with it', () => {
  test('is told after the compaction, once', async () => {
    const { run } = await begin();
    for (let cycle = 1; cycle <= 3; cycle += 1) {
      await preCompact();
      await start();
      expect(await resets(run)).toBe(cycle - 1);
      await postCompact();
      expect(await resets(run)).toBe(cycle);
    }
    await kit.fire('UserPromptSubmit', { prompt: 'go on' });
    expect(await resets(run)).toBe(3);
  });

  const bash = { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'ls' } };
  const next: [string, object][] = [
    ['UserPromptSubmit', { prompt: 'go on' }],
    ['PreToolUse', { tool_name: status, tool_use_id: 't1', tool_input: {} }],
    ['PreToolUse', bash],
    ['PostToolUse', { ...bash, tool_response: { stdout: '' } }],
    ['PreCompact', { trigger: 'auto' }],
    ['Stop', { stop_hook_active: false }],
    ['SessionEnd', { reason: 'other' }],
  ];
  test.each(next)('is told by the next hook where PostCompact never comes: %s', async (event, payload) => {
    const { run } = await begin();
    await preCompact();
    const { context } = await start();
    kit.accept(context);
    await kit.fire(event, payload);
    expect(await resets(run)).toBe(1);
    await kit.fire('UserPromptSubmit', { prompt: 'go on' });
    await postCompact();
    expect(await resets(run)).toBe(1);
  });

  test('a call of Stepfast finds it told, and what it brings is not brought twice', async () => {
    const run = (await runs['the bundled go']?.()) ?? '';
    await preCompact();
    await start();
    await kit.fire('PreToolUse', { tool_name: status, tool_use_id: 't1', tool_input: {} });
    const { sessions, loads } = await stateOf(run);
    expect(sessions.a?.resets).toBe(1);
    expect(loads?.bySession.a?.repository).toBeDefined();
  });

  test('[P1/7] told late it opens nothing that was asked for since', async () => {
    const { run } = await begin();
    await preCompact();
    await start();
    const at = await advance(run);
    await kit.called('a', { run, at });
    const { cursors } = await stateOf(run);
    expect(Object.values(cursors)[0]?.boundary).toMatchObject({ state: 'requested', policy: 'require' });
  });

  test('a run that ended meanwhile is told nothing', async () => {
    const { run } = await begin();
    await preCompact();
    await start();
    await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } }, { run });
    const size = journal(run);
    const { stderr } = await postCompact();
    expect(stderr).toBe('');
    expect(journal(run)).toBe(size);
    expect(existsSync(join(directory(), 'runs', run))).toBe(true);
  });
});
