import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';

const workflow = `name: w
description: Plans and builds
boundaries: require
stop: hold
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD }
`;

let kit: HookKit;
let run: string;
let at: string;
const who = (session: string) => ({ session, host: 'claude-code', witness: 'hooks' }) as const;
beforeEach(async () => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  const begun = await kit.runtime.start({ workflow: 'w' }, who('a'));
  run = begun.run ?? '';
  at = 'at' in begun.reply ? (begun.reply.at ?? '') : '';
  await kit.called('a', { run, at });
});
afterEach(() => kit[Symbol.dispose]());
const startup = (session: string) => kit.fire('SessionStart', { session_id: session, source: 'startup' });
const compact = (session: string) => kit.fire('SessionStart', { session_id: session, source: 'compact' });

test('[P4/2] a session that was told two lines is not told more by its compaction', async () => {
  expect((await startup('b')).context.split('\n')).toHaveLength(2);
  expect((await kit.fire('PreCompact', { session_id: 'b', trigger: 'auto' })).stdout).toBe('');
  expect((await compact('b')).context).toBe('');
});

test('[U10] a session that started beside another takes the run up with a typed continue once that one has ended', async () => {
  await startup('b');
  const typed = () => kit.fire('UserPromptSubmit', { session_id: 'b', prompt: 'continue' });
  expect((await typed()).stdout).toBe('');
  await kit.fire('SessionEnd', { session_id: 'a', reason: 'other' });
  expect((await typed()).context).toContain('ACTION REQUIRED');
});

test('[P4/2] a session with no part in the run that only looks is not bound, one that asks by a handle is', async () => {
  await startup('b');
  await kit.called('b', { run, at });
  expect((await kit.fire('Stop', { session_id: 'b', stop_hook_active: false })).stdout).toBe('');
  await kit.called('b', { run, at }, { tool_input: { at } });
  expect((await kit.fire('Stop', { session_id: 'b', stop_hook_active: false })).held).toBeDefined();
});

test('[P4/4] [M3] a session that has no part in the run is offered it by its compaction', async () => {
  await kit.fire('SessionEnd', { session_id: 'a', reason: 'other' });
  kit.writeDown({ type: 'user' });
  await kit.fire('UserPromptSubmit', { session_id: 'old', prompt: 'hello' });
  expect((await compact('old')).context.split('\n')).toHaveLength(2);
});

test('[P4/4] a session that took a run up and has made no call is briefed again after each compaction', async () => {
  await kit.fire('SessionEnd', { session_id: 'a', reason: 'other' });
  expect((await startup('b')).context).not.toContain('ACTION REQUIRED');
  const taken = await kit.fire('UserPromptSubmit', { session_id: 'b', prompt: 'continue' });
  expect(taken.context).toContain('ACTION REQUIRED');
  expect((await compact('b')).context).toContain('ACTION REQUIRED');
  for (const _ of [1, 2])
    expect((await kit.fire('PreCompact', { session_id: 'b', trigger: 'auto' })).stdout).toContain(run);
  expect((await compact('b')).context).toContain('ACTION REQUIRED');
});

test('a session that went into another project keeps to the run that it is bound to', async () => {
  using other = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  await other.runtime.start({ workflow: 'w', summary: 'OTHER' }, who('z'));
  await other.fire('SessionEnd', { session_id: 'z', reason: 'other' });
  kit.project.env.CLAUDE_PROJECT_DIR = kit.project.root;
  const there = { cwd: other.project.root };
  const { context } = await kit.fire('SessionStart', { source: 'compact', ...there });
  expect(context).toContain(run);
  expect(context).not.toContain('OTHER');
  expect((await kit.fire('Stop', { stop_hook_active: false, ...there })).held).toContain(at);
});

test('a session that works on another run is not told again of the one that it was told of first', async () => {
  await kit.fire('SessionEnd', { session_id: 'a', reason: 'other' });
  expect((await startup('n')).context).toContain(run);
  kit.writeDown({ type: 'user' });
  const other = await kit.runtime.start({ workflow: 'w', summary: 'What the user asked for' }, who('n'));
  const called = await kit.called('n', { run: other.run ?? '', at: other.reply.at ?? '' });
  expect(called.context).not.toContain(run);
});
