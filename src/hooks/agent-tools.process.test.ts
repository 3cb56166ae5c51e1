import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHookKit, type HookKit } from '../../test/kit/hooks.ts';

const workflow = `name: w
description: Looks, then builds
agents:
  looker: { description: Looks, tools: [Read, "Bash(git *)", mcp__docs] }
  writer: { description: Writes, cannot: [Bash, "mcp__*"] }
  silent: { description: Says nothing, tools: [] }
  elsewhere: { description: Works in another host, tools: [read_file, run_shell_command] }
  older: { description: Has names of another time, tools: [Task, read, MultiEdit] }
steps:
  - { id: look, type: action, agent: looker, instructions: Look at it. }
  - { id: write, type: action, agent: writer, instructions: Write it. }
  - { id: say, type: action, agent: silent, instructions: Say it. }
  - { id: other, type: action, agent: elsewhere, instructions: Do it. }
  - { id: old, type: action, agent: older, instructions: Do it. }
  - { id: free, type: action, instructions: Do it. }
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

let count = 0;
/** Why the tool is refused; undefined where it is not. */
async function use(tool: string, input: object = {}, more: object = {}): Promise<string | undefined> {
  count += 1;
  const { json } = await kit.fire('PreToolUse', {
    tool_name: tool,
    tool_use_id: `t${count}`,
    tool_input: input,
    ...more,
  });
  const { permissionDecision, permissionDecisionReason } = (json.hookSpecificOutput ?? {}) as Record<
    string,
    string
  >;
  return permissionDecision === 'deny' ? permissionDecisionReason : undefined;
}

async function goTo(step: string): Promise<void> {
  while (!at.includes(`:${step}#`)) {
    at = await kit.call(run, { type: 'advance', output: 'Done.', at });
    await kit.called('a', { run, at });
  }
}

/** Those of the tools that are refused now. */
async function refused(...tools: string[]): Promise<string[]> {
  const found = await Promise.all(tools.map(async (tool) => ((await use(tool)) === undefined ? [] : [tool])));
  return found.flat();
}

const sub = { agent_id: 's1', agent_type: 'general-purpose' };

test('A14: tools that are not in the list are refused, and the refusal names the allowed ones', async () => {
  expect(await refused('Read', 'Edit', 'Write', 'Grep', 'CronCreate', 'WebFetch')).toEqual([
    'Edit',
    'Write',
    'Grep',
    'CronCreate',
    'WebFetch',
  ]);
  const why = await use('Edit');
  for (const part of [at, 'looker', 'Edit', 'Read', 'Bash(git *)', 'mcp__docs']) expect(why).toContain(part);
  expect(kit.log().filter(({ what }) => what === 'denied')).toHaveLength(6);
});

test('A14: a pattern allows some commands of the shell, and a server all of its tools', async () => {
  expect(await use('Bash', { command: 'git status' })).toBeUndefined();
  expect(await use('Bash', { command: 'git status; rm x' })).toContain('Bash');
  expect(await refused('mcp__docs__search', 'mcp__docsx__search', 'mcp__web__search')).toEqual([
    'mcp__docsx__search',
    'mcp__web__search',
  ]);
});

test("A14: Stepfast's own tools, and those with which an agent finds them, are never refused", async () => {
  const own = ['mcp__stepfast__workflow_advance', 'mcp__plugin_stepfast_stepfast__workflow_note'];
  for (const step of ['look', 'write', 'say']) {
    await goTo(step);
    expect(await refused(...own)).toEqual([]);
  }
  expect(await refused('ToolSearch', 'Read')).toEqual(['Read']);
});

test('A14: cannot refuses by name and by beginning, and nothing else', async () => {
  await goTo('write');
  expect(await refused('Bash', 'Edit', 'mcp__web__search', 'Read')).toEqual(['Bash', 'mcp__web__search']);
  expect(await use('Bash', { command: 'true' })).toMatch(/writer.*Bash/);
});

test('A14: names of other hosts limit nothing here, older names count as the current ones', async () => {
  await goTo('other');
  expect(await refused('Read', 'Bash', 'Edit')).toEqual([]);
  await goTo('old');
  expect(await refused('Read', 'Edit', 'Agent', 'Bash')).toEqual(['Bash']);
  await goTo('free');
  expect(await refused('Read', 'Bash', 'Edit')).toEqual([]);
});

test('A14: other sessions are not limited', async () => {
  expect(await use('Edit', {}, { session_id: 'b' })).toBeUndefined();
  expect(await use('Edit', {}, { session_id: 'b', ...sub })).toBeUndefined();
});

test('A14: the position may be handed over, and a subagent has its limits', async () => {
  const hand = (prompt: string) => use('Agent', { subagent_type: 'general-purpose', prompt });
  expect(await hand('Edit it for me.')).toContain('Agent');
  expect(await hand(`Do ${at}.`)).toBeUndefined();
  await kit.fire('SubagentStart', sub);
  expect(await use('Edit', {}, sub)).toContain('looker');
  expect(await use('Read', {}, sub)).toBeUndefined();
});

test('A14: a subagent without a position has the limits of the session that started it', async () => {
  await kit.fire('SubagentStart', sub);
  expect(await use('Edit', {}, sub)).toContain('looker');
  await goTo('write');
  expect(await use('Edit', {}, sub)).toBeUndefined();
  expect(await use('Bash', { command: 'true' }, sub)).toContain('writer');
});

test('A14: a subagent that reviews has the limits of the reviewer', async () => {
  kit[Symbol.dispose]();
  kit = createHookKit({
    '.stepfast/workflows/w.yaml': `name: w
description: x
agents: { critic: { description: Judges, tools: [Read] } }
steps:
  - { id: write, type: action, instructions: Write it., review: { by: critic } }
`,
  });
  const begun = await kit.start();
  const edits = (more = {}): Promise<string | undefined> => use('Edit', {}, more);
  await kit.called('a', begun);
  await kit.runtime.call(
    { type: 'advance', output: 'Done.', at: begun.at },
    { session: 'a' },
    { run: begun.run },
  );
  expect(await edits()).toBeUndefined();
  await use('Agent', { subagent_type: 'general-purpose', prompt: `Review ${begun.at}.` });
  await kit.fire('SubagentStart', sub);
  expect(await edits(sub)).toContain('critic');
});
