import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, filesIn, type HookKit } from '../../test/kit/hooks.ts';
import { statusline } from '../cli/statusline/line.ts';
import { callTool } from '../mcp/calls.ts';
import { createBindings } from '../runtime/index.ts';

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

/** The host shows its status line, with a context that is this full. */
const fills = (percent: number | null, session = 'a'): Promise<string> =>
  statusline(
    JSON.stringify({
      session_id: session,
      cwd: kit.project.root,
      context_window: { used_percentage: percent },
    }),
    { env: { NO_COLOR: '1' }, now: Date.now() },
  );
const prompt = async (more: object = {}): Promise<string> =>
  (await kit.fire('UserPromptSubmit', { prompt: 'go on', ...more })).context;
let count = 0;
const used = async (tool = 'Write', more: object = {}): Promise<string> => {
  count += 1;
  const call = { tool_name: tool, tool_use_id: `u${count}`, tool_input: {}, tool_response: {}, ...more };
  return (await kit.fire('PostToolUse', call)).context;
};
const marks = (): string[] => filesIn(join(kit.runtime.project.directory, 'sessions', 'marks'));
const told = /75|8\d|9\d/;

test('A15: below 75 percent nothing is said', async () => {
  for (const percent of [null, 0, 41, 74]) {
    await fills(percent);
    expect([await prompt(), await used()]).toEqual(['', '']);
  }
});

test('A15: the agent is told once at 75 and once at 90 percent, by the next hook', async () => {
  await fills(74.6);
  expect(await used()).toMatch(/75/);
  for (const percent of [75, 78, 89]) {
    await fills(percent);
    expect([await prompt(), await used()]).toEqual(['', '']);
  }
  await fills(91);
  expect(await prompt()).toMatch(/91/);
  await fills(97);
  expect([await prompt(), await used()]).toEqual(['', '']);
});

test('A15: of a context that passes both levels at once the agent is told once', async () => {
  await fills(93);
  expect(await prompt()).toMatch(/93/);
  await fills(80);
  expect([await prompt(), await used()]).toEqual(['', '']);
});

test('A15: two hooks that run at the same time tell it once', async () => {
  await fills(80);
  const all = await Promise.all([used('Write'), used('Edit'), used('Read'), prompt()]);
  expect(all.filter((text) => told.test(text))).toHaveLength(1);
});

test('A15: after a compaction it is told again, and not before the context fills again', async () => {
  await fills(92);
  expect(await prompt()).toMatch(/92/);
  await kit.fire('PreCompact', { trigger: 'auto' });
  const { context } = await kit.fire('SessionStart', { source: 'compact' });
  kit.accept(context);
  const key = { host: 'claude-code', session: 'a' };
  expect(await createBindings(kit.runtime.project.directory).get(key)).not.toHaveProperty('pressure');
  await fills(null);
  expect([await prompt(), await used()]).toEqual(['', '']);
  await fills(76);
  expect(await used()).toMatch(/76/);
  expect(await used()).toBe('');
});

test('A15: a session that replaces a cleared one begins with an empty context', async () => {
  await fills(92);
  await kit.fire('SessionEnd', { reason: 'clear' });
  const { context } = await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
  expect(context).toContain('Write the plan.');
  kit.accept(context);
  expect(await prompt({ session_id: 'b' })).toBe('');
  await fills(77, 'b');
  expect(await used('Write', { session_id: 'b' })).toMatch(/77/);
});

test('A15: hooks run after every tool until it is told, and no longer', async () => {
  const tools = ['after_tool-read', 'after_tool-shell'];
  expect(marks()).not.toEqual(expect.arrayContaining(tools));
  await fills(60);
  expect(marks()).not.toEqual(expect.arrayContaining(tools));
  await fills(76);
  expect(marks()).toEqual(expect.arrayContaining(tools));
  expect(await used('Bash')).toMatch(/76/);
  await used('Bash');
  await fills(77);
  expect(marks().filter((name) => tools.includes(name))).toEqual([]);
});

test('A15: subagents and sessions without a part in the run are not told', async () => {
  await fills(95);
  await fills(95, 'stranger');
  expect(await used('Write', { agent_id: 's1', agent_type: 'worker' })).toBe('');
  await prompt({ session_id: 'stranger' });
  expect(await prompt({ session_id: 'stranger' })).toBe('');
});

test('A15: the status shows it, to the agent and to the person', async () => {
  const statusOf = async (session: string): Promise<unknown> => {
    const who = { session, host: 'claude-code', witness: 'hooks' } as const;
    const answer = await callTool('workflow_status', {}, kit.runtime, { who, options: {} });
    return 'structured' in answer && 'context_used' in answer.structured
      ? answer.structured.context_used
      : undefined;
  };
  const shown = async () => JSON.parse((await kit.project.run(['status', '--json'])).stdout).context_used;
  await fills(74);
  expect([await statusOf('a'), await shown()]).toEqual([undefined, undefined]);
  await fills(82);
  expect([await statusOf('a'), await statusOf('a/s1'), await shown()]).toEqual([82, undefined, 82]);
  expect((await kit.project.run(['status'])).stdout).toMatch(/^context +.*82/m);
  await kit.fire('SessionEnd', { reason: 'other' });
  expect(await shown()).toBeUndefined();
});
