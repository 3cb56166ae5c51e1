import { expect, test } from 'vitest';
import { arrival } from './arrival.ts';
import { registrations } from './capabilities.ts';
import { hasRules, policyFor } from './drive/policy.ts';
import { extensionHooks, extensionManifest } from './extension.ts';
import { gemini } from './gemini.ts';

/** As 0.61.0 sends them. */
const common = {
  session_id: 'd99170f0-c4f6-4a60-9f4e-a5fee7cf86cd',
  transcript_path: '/h/.gemini/tmp/project/chats/session-2026-11-17T22-25-d99170f0.jsonl',
  cwd: '/p',
  timestamp: '2026-11-17T22:25:36.828Z',
};
const parse = (event: string, more: object = {}) =>
  gemini.parse(event, { ...common, hook_event_name: event, ...more }, {});

test('a prompt, a stop and their texts', () => {
  expect(parse('BeforeAgent', { prompt: 'go' })).toEqual({
    host: 'gemini',
    kind: 'prompt',
    session: common.session_id,
    cwd: '/p',
    transcript: common.transcript_path,
    id: common.timestamp,
    prompt: 'go',
  });
  const first = '<hook_context>Unfinished here.</hook_context>\n\ncontinue';
  expect(parse('BeforeAgent', { prompt: first })?.prompt).toBe('continue');
  expect(
    parse('AfterAgent', { prompt: 'go', prompt_response: 'Done.', stop_hook_active: true }),
  ).toMatchObject({
    kind: 'stop',
    lastMessage: 'Done.',
    stopActive: true,
  });
  expect(parse('SessionStart', { source: 'resume' })).toMatchObject({ source: 'resume' });
  expect(parse('SessionEnd', { reason: 'clear' })).toMatchObject({ cleared: true });
});

test('the event before every request is no compaction', () => {
  expect(parse('PreCompress', { trigger: 'auto' })).toBeUndefined();
  expect(parse('PreCompress', { trigger: 'manual' })).toMatchObject({ kind: 'before_compact' });
});

test('tools: what a shell showed, whether a file was read as a whole, the answer behind the wrapping', () => {
  const used = (tool_name: string, tool_input: object, tool_response?: object) =>
    parse('AfterTool', { tool_name, tool_input, tool_response })?.tool;
  expect(used('run_shell_command', { command: 'echo hi' }, { returnDisplay: 'hi' })).toEqual({
    name: 'run_shell_command',
    kind: 'shell',
    command: 'echo hi',
    shown: 'hi',
  });
  const read = (more: object, returnDisplay = '') =>
    used('read_file', { file_path: 'a.txt', ...more }, { llmContent: 'a', returnDisplay });
  expect(read({})).toEqual({ name: 'read_file', kind: 'read', path: 'a.txt', whole: true });
  expect(read({ start_line: 2 })).toMatchObject({ whole: false });
  expect(read({}, 'Read lines 1-2000 of 9000')).toMatchObject({ whole: false });
  const answer = '{"at":"b2kd2f67:plan#1","run":"w-1"}';
  const llmContent = [{ text: `<untrusted_context>\n${answer}\n</untrusted_context>` }];
  expect(used('mcp_stepfast_workflow_start', { at: 'x' }, { llmContent, returnDisplay: answer })).toEqual({
    name: 'mcp_stepfast_workflow_start',
    kind: 'stepfast',
    call: 'workflow_start',
    at: 'x',
    answer: { at: 'b2kd2f67:plan#1', run: 'w-1', refused: false },
  });
});

test('nothing but JSON is printed', () => {
  const printed = (event: string, output: object) => {
    const input = parse(event, { trigger: 'manual' }) ?? expect.unreachable();
    const { stdout, exitCode } = gemini.render(input, output);
    expect(exitCode).toBe(0);
    return stdout === '' ? undefined : JSON.parse(stdout);
  };
  expect(printed('BeforeAgent', { context: 'C', say: 'S' })).toEqual({
    systemMessage: 'S',
    hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: 'C' },
  });
  expect(printed('PreCompress', { survive: 'all of it' })).toBeUndefined();
  expect(printed('BeforeTool', { deny: 'No.' })).toEqual({ decision: 'deny', reason: 'No.' });
  expect(printed('AfterAgent', { block: 'Go on.' })).toEqual({ decision: 'deny', reason: 'Go on.' });
  expect(printed('BeforeAgent', { stop: 'Answered.' })).toMatchObject({ continue: false });
});

test('injected text is found as the host writes it down, and only after the last compression', () => {
  const given = { id: 'b-1', text: 'Briefing b-1 <of> run\n' };
  const line = (text: string) =>
    JSON.stringify({ id: 'x', type: 'user', content: [{ text: 'go' }, { text }] });
  const whole = line('<hook_context>Briefing b-1 &lt;of&gt; run</hook_context>');
  const compressed = JSON.stringify({
    $set: { messages: [{ type: 'user', content: [{ text: 'Summary' }] }] },
  });
  expect(arrival(`${compressed}\n${whole}\n{"$set":{"lastUpdated":"x"}}\n`, given)).toBe('whole');
  expect(arrival(line('<hook_context>Briefing b-1 &lt;o</hook_context>'), given)).toBe('cut');
  expect(arrival(`${whole}\n${compressed}`, given)).toBe('missing');
  const output = `x\n\n<hook_context>Briefing b-1 &lt;of&gt; run</hook_context>`;
  const result = { content: [{ functionResponse: { response: { output } } }] };
  expect(arrival(JSON.stringify(result), given)).toBe('whole');
});

test('the files of the extension: times in milliseconds, paths in the plugin', () => {
  const { hooks } = extensionHooks() as {
    hooks: Record<string, { hooks: { timeout: number; command: string }[] }[]>;
  };
  const all = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  expect(all).toHaveLength(registrations.length);
  expect(all.every(({ timeout }) => timeout >= 5_000)).toBe(true);
  expect(
    all.every(({ command }) => command.includes('${extension'.concat('Path}/../hooks/stepfast-hook.sh'))),
  ).toBe(true);
  expect(extensionManifest('1.2.3')).toMatchObject({ name: 'stepfast', version: '1.2.3' });
});

test("the workflow's lists become a policy in which the first match decides", () => {
  const rules = (options: Parameters<typeof policyFor>[0]): string[] =>
    policyFor(options)
      .split('[[rule]]')
      .filter((rule) => rule.trim() !== '' && !rule.includes('mcp_stepfast_'))
      .map((rule) =>
        rule
          .trim()
          .replace(/\ndenyMessage.*/, '')
          .replaceAll('\n', '; '),
      );
  expect(rules({})).toEqual([]);
  expect([hasRules({}), hasRules({ tools: ['Frobnicate'] }), hasRules({ tools: [] })]).toEqual([
    false,
    false,
    true,
  ]);
  expect(rules({ cannot: ['Edit', 'Bash(git push *)', 'mcp__docs__*', 'web_*'] })).toEqual([
    'toolName = "replace"; decision = "deny"; priority = 998',
    'toolName = "run_shell_command"; commandRegex = "git push(?: |\\")"; decision = "deny"; priority = 998',
    'mcpName = "docs"; toolName = "*"; decision = "deny"; priority = 998',
    'toolName = "web_fetch"; decision = "deny"; priority = 998',
  ]);
  expect(rules({ tools: ['run_shell_command', 'Bash(npm test)', 'mcp__docs__search'] })).toEqual([
    'toolName = "run_shell_command"; decision = "allow"; priority = 997; allowRedirection = true',
    'toolName = "run_shell_command"; commandRegex = "npm test\\""; decision = "allow"; priority = 997',
    'toolName = "mcp_docs_search"; decision = "allow"; priority = 997',
    'toolName = "update_topic"; decision = "allow"; priority = 997',
    'toolName = "*"; decision = "deny"; priority = 996',
  ]);
});
