import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, filesIn, type HookKit } from '../../test/kit/hooks.ts';

const workflow = `name: w
description: Plans and builds
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, instructions: Build it. }
`;

let kit: HookKit;
let run: string;
let at: string;
beforeEach(async () => {
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  ({ run, at } = await kit.start());
  await kit.called('a', { run, at });
});
afterEach(() => kit[Symbol.dispose]());
const shell = (id: string) =>
  kit.fire('PostToolUse', {
    tool_name: 'Bash',
    tool_use_id: id,
    tool_input: { command: 'ls' },
    tool_response: {},
  });
const compact = () => kit.fire('SessionStart', { source: 'compact' });
const marks = (...more: string[]): string[] =>
  filesIn(join(kit.runtime.project.directory, 'sessions', 'marks', ...more));
const state = async () => (await kit.runtime.engine.view(run))?.state;

test('[P4/11] a run that ended leaves no marks, also where a briefing was never proven', async () => {
  await compact();
  await kit.runtime.call({ type: 'cancel' }, { actor: { kind: 'person', name: 'ann' } }, { run });
  expect(marks()).toContain('after_tool-shell');
  await shell('b1');
  expect(marks()).not.toContain('after_tool-shell');
  expect((await kit.fire('Stop')).json.systemMessage).toContain('cancelled');
  expect(marks()).toEqual(['because']);
});

test('a session that crashed before its briefing was proven leaves no marks for ever', async () => {
  await compact();
  expect(marks('because').filter((name) => name.startsWith('sent.'))).toHaveLength(1);
  kit.wait(3 * 24 * 3_600_000);
  await kit.fire('SessionStart', { session_id: 'n', source: 'startup' });
  await kit.fire('SessionEnd', { session_id: 'n', reason: 'other' });
  expect(marks('because').filter((name) => name.startsWith('sent.'))).toEqual([]);
});

test('[pain 6] a handle that stands in the summary as well does not prove a briefing that was lost', async () => {
  await kit.fire('PreCompact', { trigger: 'auto' });
  expect((await compact()).context).toContain('ACTION REQUIRED');
  kit.writeDown({ type: 'system', subtype: 'compact_boundary' });
  const { context } = await kit.called('a', { run, at }, { tool_input: { at } });
  expect(context).toContain('ACTION REQUIRED');
  expect((await state())?.briefings.a).toBeUndefined();
});
