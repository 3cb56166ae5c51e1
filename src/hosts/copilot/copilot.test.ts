import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hosts } from '../index.ts';
import { copilot } from './index.ts';

const env = { COPILOT_HOME: '/h' };
const base = { sessionId: 's1', timestamp: 1794954117233, cwd: '/p' };
const transcript = join('/h', 'session-state', 's1', 'events.jsonl');
const parse = (event: string, more: object = {}) => copilot.parse(event, { ...base, ...more }, env);

/** As recorded from 1.0.102. The other events are in `crossfire.test.ts`. */
const recorded: readonly [event: string, payload: object, kind: string][] = [
  ['sessionStart', { source: 'new', initialPrompt: 'go' }, 'session_start'],
  [
    'subagentStart',
    { transcriptPath: transcript, agentName: 'task', agentId: 'x', agentType: 'task', parentAgentId: 's1' },
    'subagent_start',
  ],
  [
    'subagentStop',
    { transcriptPath: transcript, agentId: 'x', agentType: 'task', response: 'OK', stop_hook_active: false },
    'subagent_stop',
  ],
];

describe('payloads', () => {
  test.each(recorded)('[pain 7] %s is an event of this host and of no other', (event, payload, kind) => {
    expect(parse(event, payload)).toMatchObject({ host: 'copilot', kind, session: 's1', transcript });
    for (const host of hosts.filter(({ name }) => name !== 'copilot'))
      for (const { event: theirs } of [...host.capabilities, { event }])
        expect(host.parse(theirs, { ...base, ...payload }, env)).toBeUndefined();
  });

  test('[pain 7] payloads in the shape of Claude Code are not for its own hooks', () => {
    const payload = {
      hook_event_name: 'Stop',
      session_id: 's1',
      timestamp: '2026-11-17T22:23:48.890Z',
      cwd: '/p',
    };
    for (const event of ['Stop', 'agentStop']) expect(copilot.parse(event, payload, env)).toBeUndefined();
  });

  test('copies of an event have one id, and calls of one message differ', () => {
    const call = (path: string) => parse('preToolUse', { toolName: 'view', toolArgs: { path } })?.id;
    expect(call('/p/a')).toBe(call('/p/a'));
    expect(call('/p/a')).not.toBe(call('/p/b'));
    expect(parse('agentStop')?.id).not.toBe(parse('agentStop', { timestamp: base.timestamp + 1 })?.id);
  });

  test('events in a subagent belong to the session that started it', () => {
    const agent = { sessionId: 'x', agentId: 'x', agentType: 'task', parentAgentId: 's1' };
    expect(parse('preToolUse', { ...agent, toolName: 'bash', toolArgs: {} })).toMatchObject({
      session: 's1',
      agent: { id: 'x', type: 'task' },
    });
    expect(parse('userPromptSubmitted', { ...agent, prompt: 'x' })).toBeUndefined();
    expect(parse('agentStop', { ...agent, transcriptPath: transcript })).toBeUndefined();
  });

  test('the skill is a command, expanded or as typed', () => {
    const expanded =
      'The user explicitly invoked the "/stepfast" skill. Follow its instructions now.\n\n<skill-context name="stepfast">\n<typed>go fix it</typed>\n</skill-context>';
    for (const prompt of [expanded, '/stepfast go fix it'])
      expect(parse('userPromptSubmitted', { prompt })?.prompt).toBe('/stepfast go fix it');
    expect(copilot.commands.test('/stepfaster go')).toBe(false);
  });

  test('a permission for a tool of somebody else is not ours to give', () => {
    expect(parse('permissionRequest', { toolName: 'bash', toolInput: { command: 'ls' } })).toBeUndefined();
  });

  test('tools are known by what they do', () => {
    const tool = (toolName: string, toolArgs: unknown, text?: string) =>
      parse('postToolUse', { toolName, toolArgs, toolResult: { textResultForLlm: text } })?.tool;
    expect(tool('view', { path: '/p/a' }, 'text')).toMatchObject({ kind: 'read', shown: 'text' });
    expect(tool('edit', { path: '/p/a' })).toMatchObject({ kind: 'write', path: '/p/a' });
    expect(tool('apply_patch', '*** Begin Patch\n*** Add File: b.ts\n')).toMatchObject({ paths: ['b.ts'] });
    expect(tool('task', { agent_type: 'explore', prompt: 'Look.' })).toMatchObject({
      kind: 'agent',
      agent: 'explore',
      prompt: 'Look.',
    });
    expect(tool('stepfast-workflow_advance', { at: 'a@1' }, '{"run":"r","at":"b@1"}')).toMatchObject({
      kind: 'stepfast',
      own: true,
      at: 'a@1',
      answer: { run: 'r', at: 'b@1', refused: false },
    });
  });
});

describe('answers', () => {
  const answer = (event: string, payload: object, output: object) => {
    const input = parse(event, payload);
    if (!input) throw new Error('not parsed');
    return copilot.render(input, output);
  };

  test('never fail before a tool, whatever there is to say', () => {
    const denied = answer('preToolUse', { toolName: 'bash', toolArgs: {} }, { deny: 'No.', say: 'Look.' });
    expect(denied.exitCode).toBe(0);
    expect(JSON.parse(denied.stdout)).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: 'No.',
    });
  });

  test('show a text to the person with exit 2, beside what the model gets', () => {
    expect(answer('userPromptSubmitted', { prompt: 'x' }, { say: 'Look.', context: 'C' })).toEqual({
      stdout: '{"additionalContext":"C"}',
      stderr: 'Look.\n',
      exitCode: 2,
    });
    expect(answer('agentStop', {}, { block: 'Go on.', say: 'Look.' })).toEqual({
      stdout: '{"decision":"block","reason":"Go on."}',
      exitCode: 0,
    });
  });

  test('allow our own tools where the host asks', () => {
    const asked = { toolName: 'stepfast/workflow_status', toolInput: {} };
    expect(answer('permissionRequest', asked, { allow: true }).stdout).toBe('{"behavior":"allow"}');
    const before = { toolName: 'stepfast-workflow_status', toolArgs: {} };
    expect(answer('preToolUse', before, { allow: true }).stdout).toBe('');
  });
});

const record = (type: string, data: object, more: object = {}): string =>
  JSON.stringify({ type, data, ...more });
const hookEnd = (hookType: string, output: object) => record('hook.end', { hookType, success: true, output });
const prompt = (content: string, transformedContent = content) =>
  record('user.message', { content, transformedContent });
const started = record('session.start', {});
const compacted = (more: object = {}) =>
  record('session.compaction_complete', {
    success: true,
    trigger: 'threshold',
    summaryContent: 'S',
    ...more,
  });
const file = (...records: string[]): string => records.join('\n');

describe('arrival', () => {
  const injected = { id: 'b-1', text: 'BRIEFING b-1' };
  const atStart = hookEnd('sessionStart', { additionalContext: injected.text });
  test.each([
    ['nothing was sent yet', file(started, atStart), 'unknown'],
    [
      'resumed, and nothing was sent since',
      file(started, prompt('x'), record('session.resume', {})),
      'unknown',
    ],
    ['at the start of the session', file(started, atStart, prompt('x')), 'whole'],
    ['in the prompt', file(started, prompt('x', `x\n${injected.text}`)), 'whole'],
    [
      'in the result of a tool',
      file(started, prompt('x'), record('tool.execution_complete', { result: { content: injected.text } })),
      'whole',
    ],
    [
      'after a compaction in the middle of a turn',
      file(
        ...[started, prompt('x'), compacted()],
        record('tool.execution_complete', { result: { content: injected.text } }),
      ),
      'whole',
    ],
    ['in part', file(started, prompt('x', 'x\nBRIEF b-1')), 'cut'],
    ['not at all', file(started, hookEnd('sessionStart', {}), prompt('x')), 'missing'],
    ['before a compaction', file(started, atStart, prompt('x'), compacted(), prompt('y')), 'missing'],
    ['before one that failed', file(started, atStart, prompt('x'), compacted({ success: false })), 'whole'],
  ])('%s', (_, text, expected) => {
    expect(copilot.arrival?.(text, injected)).toBe(expected);
  });
});

test('a compaction runs beside the turn, and may fail', () => {
  const timestamp = '2026-11-18T07:00:17.702Z';
  const begun = record('session.compaction_start', { trigger: 'threshold' }, { timestamp });
  const done = (more: object = {}) =>
    record('session.compaction_complete', { success: true, ...more }, { timestamp });
  expect(copilot.compactionState?.(file(started), 0)).toBeUndefined();
  expect(copilot.compactionState?.(file(started, begun, prompt('x')), 0)).toBe('running');
  expect(copilot.compactionState?.(file(begun, done()), 0)).toBe('done');
  expect(copilot.compactionState?.(file(begun, done({ success: false })), 0)).toBe('failed');
  // An earlier one says nothing about one that the host has not written yet.
  expect(copilot.compactionState?.(file(begun, done()), Date.parse(timestamp) + 1)).toBeUndefined();
  expect(copilot.lastCompaction?.(file(begun, compacted()))).toEqual({ trigger: 'auto', summary: 'S' });
});

describe('a turn', () => {
  const tool = (toolName: string, input: object, more: object = {}) =>
    record('tool.execution_start', { toolName, arguments: input }, more);
  const said = record('assistant.message', { content: 'Done?' });
  const stop = record('hook.start', { hookType: 'agentStop', input: { timestamp: 5 } });
  test.each([
    ['with a write', [prompt('x'), tool('create', { path: 'a' }), said, stop], true],
    ['with a command', [prompt('x'), tool('bash', { command: 'npm i' }), said, stop], true],
    ['with reading only', [prompt('x'), tool('bash', { command: 'cat a' }), tool('view', {}), stop], false],
    ['before this one', [prompt('x'), tool('create', {}), prompt('y'), said, stop], false],
    [
      'that goes on after it was held',
      [
        prompt('x'),
        tool('create', {}),
        hookEnd('agentStop', { decision: 'block', reason: 'R' }),
        prompt('R'),
        stop,
      ],
      true,
    ],
    ['in a subagent', [prompt('x'), tool('create', {}, { agentId: 'a' }), stop], false],
    ['that is not written yet', [prompt('x'), tool('create', {})], undefined],
  ])('%s', (_, records, expected) => {
    expect(copilot.acted?.(file(started, ...records), '5-', undefined)).toBe(expected);
  });

  test('has a last message', () => {
    expect(copilot.lastMessage?.(file(prompt('x'), said, stop), '5-')).toBe('Done?');
  });
});

test('spending is what was not read from a cache, with subagents and compactions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-copilot-'));
  try {
    const at = (second: number) => ({ timestamp: new Date(second * 1000).toISOString() });
    const usage = { inputTokens: 1150, outputTokens: 7, cacheReadTokens: 1000, cacheWriteTokens: 50 };
    const records = [
      record('session.usage_record', { usage }, at(1)),
      record('user.message', { content: 'x' }, at(10)),
      record('session.usage_record', { usage }, at(11)),
      record('session.usage_record', { usage }, { ...at(12), agentId: 'a' }),
      record('hook.end', { hookType: 'agentStop', output: { reason: 'R' } }, at(13)),
      record('user.message', { content: 'R' }, at(14)),
      record(
        'session.compaction_complete',
        { compactionTokensUsed: { inputTokens: 10, outputTokens: 1 } },
        at(15),
      ),
    ];
    writeFileSync(join(folder, 'events.jsonl'), file(...records));
    expect(await copilot.spending?.(join(folder, 'events.jsonl'), 10_000)).toEqual({
      turns: 1,
      tokens: 157 + 157 + 11,
      activeMs: 5_000,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
