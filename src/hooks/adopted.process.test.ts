import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';

const plan = (status: string): string => `# Tokens\n\n**Status**: ${status}\n\n## Phase 1: Design 🔄\n`;
const file = 'CLAUDE/Plan/001-tokens/PLAN.md';
const workflow = `name: w
description: One step
steps: [{ id: do, type: action, instructions: Do it. }]
`;

let kit: HookKit;
beforeEach(() => {
  kit = createHookKit({ [file]: plan('🔄 In Progress'), '.stepfast/workflows/w.yaml': workflow });
});
afterEach(() => kit[Symbol.dispose]());

const before = () => kit.fire('PreCompact', { trigger: 'auto' });
const after = async () => (await kit.fire('SessionStart', { source: 'compact' })).context;

test('[M15] a plan that is complete is not briefed after a compaction', async () => {
  await before();
  expect(await after()).toContain('ACTION REQUIRED');
  kit.project.write({ [file]: plan('✅ Complete') });
  expect((await before()).stdout).toBe('');
  expect(await after()).toBe('');
});

test('[M15] a plan that is gone is not briefed, and is again when it is back', async () => {
  await before();
  expect(await after()).toContain('ACTION REQUIRED');
  rmSync(join(kit.project.root, file));
  expect((await before()).stdout).toBe('');
  expect(await after()).toBe('');
  kit.project.write({ [file]: plan('🔄 In Progress') });
  expect((await before()).stdout).toContain('tokens-');
  expect(await after()).toContain('ACTION REQUIRED');
});

test('[M15] before a compaction the live run is spoken of, not the plan that is complete', async () => {
  await before();
  await after();
  const { run, at } = await kit.start();
  await kit.called('a', { run, at });
  kit.project.write({ [file]: plan('✅ Complete') });
  const { stdout } = await before();
  expect(stdout).toContain(run);
  expect(stdout).not.toContain('tokens-');
  expect(await after()).toContain(at);
});
