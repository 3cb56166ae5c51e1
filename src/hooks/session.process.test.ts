import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';
import { createBindings } from '../runtime/index.ts';

const workflow = `name: w
description: Plans and builds
boundaries: require
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, context: compact, instructions: Build it. }
`;

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => kit[Symbol.dispose]());

async function atBoundary(): Promise<{ run: string; at: string }> {
  const { run } = await kit.start();
  const at = await kit.call(run, { type: 'advance', output: 'Planned.' });
  await kit.called('a', { run, at });
  return { run, at };
}

test('[U5] the summarizer is told what comes after the compaction that the run waits for', async () => {
  const { run } = await atBoundary();
  const { stdout } = await kit.fire('PreCompact', { trigger: 'auto' });
  expect(stdout).toContain(run);
  expect(stdout).not.toContain('/compact');
});

test('[U5] a manual compaction prints one line', async () => {
  await atBoundary();
  const { stdout } = await kit.fire('PreCompact', { trigger: 'manual' });
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(stdout).toContain("'build'");
});

test('a driven session is briefed after a compaction that its driver did not ask for', async () => {
  await kit.called('a', await kit.start());
  const bindings = createBindings(kit.runtime.project.directory);
  for (const binding of await bindings.list()) await bindings.put({ ...binding, driven: true });
  const briefedAfter = async (trigger: string): Promise<boolean> => {
    await kit.fire('PreCompact', { trigger });
    return (await kit.fire('SessionStart', { source: 'compact' })).context.includes('Plan it.');
  };
  expect(await briefedAfter('auto')).toBe(true);
  expect(await briefedAfter('manual')).toBe(false);
});

test('deleted files of a live run are shown to the person, once', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  rmSync(join(kit.project.root, '.stepfast'), { recursive: true });
  expect((await kit.fire('Stop')).json.systemMessage).toContain(run);
  expect((await kit.fire('Stop')).stdout).toBe('');
});

test('deleted files of a run that has ended turns ago are shown as well', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person', name: 'ann' } }, { run });
  expect((await kit.fire('Stop')).json.systemMessage).toContain('cancelled');
  expect((await kit.fire('Stop')).stdout).toBe('');
  rmSync(join(kit.project.root, '.stepfast'), { recursive: true });
  expect((await kit.fire('Stop')).json.systemMessage).toContain(run);
  expect((await kit.fire('Stop')).stdout).toBe('');
});

test('[U15] a model cannot schedule a command of the person', async () => {
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  const schedule = (prompt: string) =>
    kit.fire('PreToolUse', { tool_name: 'CronCreate', tool_use_id: prompt, tool_input: { prompt } });
  expect((await schedule('/stepfast:approve')).json.hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
  });
  expect((await schedule('run the tests')).stdout).toBe('');
});
