import { describe, expect, test } from 'vitest';
import { capabilities, registrations } from './capabilities.ts';
import { claudeCode } from './claude-code.ts';
import { kindOf } from './parse-payload.ts';

const base = { session_id: 's', transcript_path: '/t.jsonl', cwd: '/p', prompt_id: 'p1' };
const parse = (event: string, more: object = {}, env = {}) =>
  claudeCode.parse(event, { ...base, hook_event_name: event, ...more }, env);

describe('what Claude Code tells', () => {
  test('every event of the table is parsed', () => {
    for (const [event, kind] of Object.entries(kindOf)) {
      const agent = event.startsWith('Subagent') ? { agent_id: 'a1', agent_type: 'worker' } : {};
      expect(parse(event, agent)).toMatchObject({ host: 'claude-code', kind, session: 's', cwd: '/p' });
    }
    expect(capabilities.map(({ event }) => event).sort()).toEqual(Object.keys(kindOf).sort());
    expect(new Set(registrations.map(({ event }) => event)).size).toBe(capabilities.length);
  });

  test('every tool is looked at before it is used, each by one hook', () => {
    const matchers = registrations
      .filter(({ event }) => event === 'PreToolUse')
      .map(({ matcher = '.*', mark }) => ({ mark, whole: new RegExp(`^(?:${matcher})$`) }));
    const marksOf = (name: string) =>
      matchers.filter(({ whole }) => whole.test(name)).map(({ mark }) => mark);
    for (const name of ['Edit', 'Bash', 'Grep', 'WebFetch', 'TodoWrite', 'AgentOutput', 'mcp__browser__open'])
      expect(marksOf(name)).toEqual(['before_tool']);
    for (const name of ['mcp__stepfast__workflow_status', 'mcp__plugin_stepfast_stepfast__workflow_note'])
      expect(marksOf(name)).toEqual(['before_tool-stepfast']);
    for (const name of ['Agent', 'Task']) expect(marksOf(name)).toEqual(['before_tool-agent']);
  });

  test.each([
    ['SessionStart', { source: 'compact', model: 'm' }, { source: 'compact', id: 'p1' }],
    ['SessionEnd', { reason: 'clear' }, { cleared: true }],
    ['PreCompact', { trigger: 'auto', custom_instructions: null }, { trigger: 'auto' }],
    ['Stop', { stop_hook_active: true }, { stopActive: true }],
  ])('%s has what is its own', (event, payload, own) => {
    expect(parse(event, payload)).toMatchObject(own);
  });

  test('a call of a Stepfast tool tells the run and the position, however its answer is wrapped', () => {
    const answer = { run: 'w-20261114-k3f9x2ab', at: 'k3f9x2ab:plan#1' };
    const text = JSON.stringify(answer);
    for (const tool_response of [
      answer,
      text,
      [{ type: 'text', text }],
      { content: [{ type: 'text', text }] },
      { content: [], structuredContent: answer },
    ])
      for (const tool_name of [
        'mcp__stepfast__workflow_status',
        'mcp__plugin_stepfast_stepfast__workflow_status',
      ])
        expect(parse('PostToolUse', { tool_name, tool_input: { at: 'x' }, tool_response })?.tool).toEqual({
          name: tool_name,
          kind: 'stepfast',
          call: 'workflow_status',
          at: 'x',
          answer: { ...answer, refused: false },
        });
  });

  test('a refusal is one, and other servers are not Stepfast', () => {
    const refusal = { content: [{ type: 'text', text: '{"code":"stale_handle","at":"k:plan#1"}' }] };
    const tool = (tool_name: string) =>
      parse('PostToolUse', { tool_name, tool_input: {}, tool_response: refusal })?.tool;
    expect(tool('mcp__stepfast__workflow_advance')?.answer?.refused).toBe(true);
    expect(tool('mcp__notstepfast__workflow_advance')?.kind).toBe('other');
    expect(tool('constructor')?.kind).toBe('other');
  });

  test('a part of a file is not the whole file', () => {
    const read = (file: object, input: object = {}) =>
      parse('PostToolUse', {
        tool_name: 'Read',
        tool_input: { file_path: '/p/a', ...input },
        tool_response: { file },
      })?.tool?.whole;
    expect(read({ startLine: 1, numLines: 9, totalLines: 9 })).toBe(true);
    expect(read({ startLine: 1, numLines: 9, totalLines: 10 })).toBe(false);
    expect(read({ startLine: 2, numLines: 9, totalLines: 9 })).toBe(false);
    expect(read({}, { offset: 3 })).toBe(false);
  });

  test('[pain 15] a subagent is told apart from its session, and the summariser is ignored', () => {
    expect(parse('PreToolUse', { agent_id: 'a1', agent_type: 'worker' })?.agent).toEqual({
      id: 'a1',
      type: 'worker',
    });
    expect(parse('SubagentStop', { agent_id: 'a1', agent_type: '' })).toBeUndefined();
    expect(parse('SubagentStart')).toBeUndefined();
  });

  test.each([
    [{ cursor_version: '3.1' }, {}],
    [{ turn_id: 't1' }, {}],
    [{ timestamp: '2026-11-15T08:00:00.000Z' }, {}],
    [{ timestamp: '2026-11-15T08:00:00.000Z' }, { GEMINI_PROJECT_DIR: '/p' }],
  ])("another host's payload is ignored: %j", (payload, env) => {
    expect(parse('SessionStart', payload, env)).toBeUndefined();
    expect(parse('SessionStart', {}, { GEMINI_PROJECT_DIR: '/p' })).toBeDefined();
  });

  test.each([
    [null],
    [[]],
    ['text'],
    [{}],
    [{ ...base, hook_event_name: 'Stop' }],
    [{ ...base, session_id: 7 }],
  ])('what is no payload of this event is ignored: %j', (payload) => {
    expect(claudeCode.parse('SessionStart', payload, {})).toBeUndefined();
  });
});

describe('what Claude Code is told', () => {
  const render = (event: string, output: Parameters<typeof claudeCode.render>[1], more = {}) => {
    const input = parse(event, more);
    if (!input) throw new Error(event);
    return claudeCode.render(input, output);
  };

  test.each(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart'])(
    '%s injects as additionalContext',
    (event) => {
      const { stdout, exitCode } = render(event, { context: 'C' }, { agent_id: 'a', agent_type: 't' });
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toEqual({
        hookSpecificOutput: { hookEventName: event, additionalContext: 'C' },
      });
    },
  );

  test('PreCompact prints plain text and no context, SessionEnd prints nothing', () => {
    expect(render('PreCompact', { survive: 'Keep this.', context: 'C' }).stdout).toBe('Keep this.');
    expect(render('SessionEnd', { context: 'C' }).stdout).toBe('');
  });

  test('a tool is denied, and a stop is held, with a reason', () => {
    expect(JSON.parse(render('PreToolUse', { deny: 'No.' }).stdout).hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: 'No.',
    });
    expect(JSON.parse(render('Stop', { block: 'Go on.' }).stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Go on.' },
    });
    const agent = { agent_id: 'a', agent_type: 't' };
    expect(JSON.parse(render('SubagentStop', { block: 'Go on.' }, agent).stdout)).toMatchObject({
      decision: 'block',
    });
    expect(JSON.parse(render('Stop', { say: 'Hello.' }).stdout)).toEqual({ systemMessage: 'Hello.' });
    expect(render('Stop', {}).stdout).toBe('');
  });

  test('[pain 8] nothing over 9,000 characters is injected, and a cut is said', () => {
    const { stdout } = render('SessionStart', { context: 'x'.repeat(20_000) });
    const { additionalContext } = JSON.parse(stdout).hookSpecificOutput;
    expect(additionalContext).toHaveLength(9000);
    expect(additionalContext).toMatch(/\(cut here: workflow_context has all of it\)$/);
  });
});

test('the last compaction is found with its summary and what triggered it', () => {
  const boundary = (trigger: string) => ({ subtype: 'compact_boundary', compactMetadata: { trigger } });
  const summary = (content: string) => ({ type: 'user', isCompactSummary: true, message: { content } });
  const last = (...records: object[]) =>
    claudeCode.lastCompaction?.(['half"}', ...records.map((each) => JSON.stringify(each))].join('\n'));
  const twice = [boundary('auto'), summary('First.'), boundary('manual'), summary('Second.')];
  expect(last(...twice)).toEqual({ trigger: 'manual', summary: 'Second.' });
  expect(last(...twice.slice(0, 2))).toEqual({ trigger: 'auto', summary: 'First.' });
  expect(last(...twice.slice(0, 3))).toBeUndefined();
  expect(
    last({ type: 'user', message: { content: '"compact_boundary" "isCompactSummary"' } }),
  ).toBeUndefined();
});

describe('whether it arrived', () => {
  const sent = { id: 'b-abcdefgh', text: 'Briefing b-abcdefgh\nall of it' };
  const line = (record: object): string => JSON.stringify(record);
  const attachment = (content: unknown, type = 'hook_additional_context') =>
    line({ type: 'attachment', attachment: { type, content } });
  const boundary = line({ type: 'system', subtype: 'compact_boundary' });
  const arrival = (...lines: string[]) => claudeCode.arrival?.(lines.join('\n'), sent);

  test('only what the host accepted, after the last compaction, proves it', () => {
    expect(arrival(attachment([sent.text]))).toBe('whole');
    expect(arrival('half a line"}', boundary, attachment([`${sent.text}\n`]))).toBe('whole');
    expect(arrival(attachment([sent.text]), boundary)).toBe('missing');
    expect(arrival(attachment([sent.text], 'hook_success'))).toBe('missing');
    expect(arrival(line({ type: 'user', text: '"compact_boundary"' }), attachment(sent.text))).toBe('whole');
    expect(arrival('')).toBe('missing');
  });

  test('a preview is a cut', () => {
    expect(arrival(attachment(['<persisted-output>Briefing b-abcdefgh']))).toBe('cut');
  });

  test('words that speak of a boundary are none', () => {
    const words = line({ type: 'user', message: { content: 'the "compact_boundary" record' } });
    expect(arrival(attachment([sent.text]), words)).toBe('whole');
  });
});
