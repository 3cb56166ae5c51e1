import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
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
const preCompact = (session = 'a') => kit.fire('PreCompact', { session_id: session, trigger: 'auto' });
const start = (session = 'a') => kit.fire('SessionStart', { session_id: session, source: 'compact' });
const read = (file: string) =>
  kit.fire('PostToolUse', {
    tool_name: 'Read',
    tool_use_id: `read-${file}`,
    tool_input: { file_path: join(kit.project.root, file) },
    tool_response: { type: 'text', file: { numLines: 2, startLine: 1, totalLines: 2 } },
  });

/** The file with the prepared briefing of the session. */
function deliveryFile(): string {
  const folder = join(directory(), 'sessions', 'hooks');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const [file = '', ...others] = names.filter((name) => name.endsWith('delivery.json'));
  expect(others).toEqual([]);
  return join(folder, file);
}
function preparedText(): string {
  const { prepared } = JSON.parse(readFileSync(deliveryFile(), 'utf8'));
  return prepared.text;
}
function dropPrepared(): void {
  const { prepared: _, ...rest } = JSON.parse(readFileSync(deliveryFile(), 'utf8'));
  writeFileSync(deliveryFile(), JSON.stringify(rest));
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

describe('a briefing that was prepared before a compaction', () => {
  test.each(Object.keys(runs))('[P4/4] is the one that would be compiled after it: %s', async (name) => {
    await runs[name]?.();
    await preCompact();
    const kept = join(kit.project.root, '..', 'kept');
    cpSync(directory(), kept, { recursive: true, preserveTimestamps: true });
    const prepared = preparedText();
    expect((await start()).context).toBe(prepared);

    rmSync(directory(), { recursive: true });
    cpSync(kept, directory(), { recursive: true, preserveTimestamps: true });
    dropPrepared();
    expect((await start()).context).toBe(prepared);
  });

  test('has what the new context lacks, although the old one had it', async () => {
    const run = (await runs['a run with receipts, reading and a critical artifact']?.()) ?? '';
    await preCompact();
    const first = (await start()).context;
    for (const part of [
      '- @docs/auth.md (read before this context began)',
      '- @docs/new.md (not yet read)',
      "passed 'true' with exit 0 on this tree",
      'A user may have several.',
    ])
      expect(first).toContain(part);
    expect((await stateOf(run)).loads?.bySession.a?.spec?.hash).toMatch(/^sha256:|^[0-9a-f]{64}$/);
    // With the next compaction it is gone again.
    await preCompact();
    expect((await start()).context).toContain('A user may have several.');
  });

  test('is not used once the run has moved, a file has changed, or it is old', async () => {
    const { run } = await begin();
    await preCompact();
    await kit.call(run, { type: 'note', kind: 'decision', text: 'Passkeys only.' });
    expect((await start()).context).toContain('Passkeys only.');
    expect(await resets(run)).toBe(1);
    await preCompact();
    rmSync(join(kit.project.root, 'docs/auth.md'));
    expect((await start()).context).toContain('@docs/auth.md (missing)');
    expect(await resets(run)).toBe(2);
    await preCompact();
    kit.wait(3 * 60_000);
    writeFileSync(deliveryFile(), readFileSync(deliveryFile(), 'utf8').replace('ACTION REQUIRED', 'STALE'));
    expect((await start()).context).not.toContain('STALE');
    expect(await resets(run)).toBe(3);
  });

  test('is for its own session alone', async () => {
    const { run, at } = await begin();
    await kit.called('b', { run, at });
    await preCompact('a');
    await start('b');
    expect([await resets(run, 'a'), await resets(run, 'b')]).toEqual([0, 1]);
    await start('a');
    expect([await resets(run, 'a'), await resets(run, 'b')]).toEqual([1, 1]);
  });

  test('[P1/7] is not prepared where the run waits for the compaction: the run opens the position first', async () => {
    const { run } = await begin();
    await kit.called('a', { run, at: await advance(run) });
    await preCompact();
    expect((await start()).context).toContain('Build what the plan says.');
    const { cursors } = await stateOf(run);
    const opened = { state: 'released', how: 'reset', by: 'hook' };
    expect(Object.values(cursors)[0]?.boundary).toMatchObject(opened);
  });
});

test('each compaction counts once, and what the briefing includes is recorded as loaded', async () => {
  const run = (await runs['the bundled go']?.()) ?? '';
  for (let cycle = 1; cycle <= 3; cycle += 1) {
    await preCompact();
    await start();
    expect(await resets(run)).toBe(cycle);
    expect((await stateOf(run)).loads?.bySession.a?.repository).toBeDefined();
  }
  await kit.fire('UserPromptSubmit', { prompt: 'go on' });
  expect(await resets(run)).toBe(3);
});
