import { expect, test } from 'vitest';
import type { DrivenOptions } from '../../../runtime/index.ts';
import { argumentsFor, environmentFor } from './command-line.ts';
import { createTurnReader } from './stream.ts';

const options: DrivenOptions = { cwd: '/p', env: {}, command: ['stepfast'], onEvent() {} };
const line = (type: string, data: object = {}, more: object = {}): string =>
  JSON.stringify({ type, data, ...more });

test.each([
  ['Bash', ['--allow-tool=shell', '--allow-tool=write']],
  ['Bash(git *)', ['--allow-tool=shell(git:*)']],
  ['bash(npm test)', ['--allow-tool=shell(npm test)']],
  ['Write', ['--allow-tool=write']],
  ['mcp__browser__*', ['--allow-tool=browser']],
  ['mcp__browser__open', ['--allow-tool=browser(open)']],
  ['Read', []],
  ['*', []],
])('%s of a workflow is allowed in the words of the host', (tool, rules) => {
  const args = argumentsFor({ ...options, tools: [tool] });
  expect(args.filter((each) => each.startsWith('--allow-tool'))).toEqual(['--allow-tool=stepfast', ...rules]);
});

test('what a workflow forbids is hidden, or denied where it has a pattern', () => {
  const args = argumentsFor({ ...options, cannot: ['WebFetch', 'Bash(git push *)', 'mcp__x__y', 'Nothing'] });
  const refused = args.filter((each) => /deny|excluded/.test(each));
  expect(refused).toEqual([
    '--excluded-tools=web_fetch',
    '--deny-tool=shell(git push:*)',
    '--deny-tool=x(y)',
  ]);
});

test('nothing allows everything', () => {
  for (const permissions of ['allow-all', 'yolo', 'bypassPermissions'])
    expect(() => argumentsFor({ ...options, permissions })).toThrow(
      expect.objectContaining({ code: 'bad_permissions' }),
    );
  expect(argumentsFor({ ...options, permissions: 'plan' })).toContain('plan');
});

test('a surrounding session of the host is not inherited', () => {
  expect(environmentFor({ COPILOT_CLI: '1', COPILOT_AGENT_SESSION_ID: 's', COPILOT_HOME: '/h' })).toEqual({
    COPILOT_HOME: '/h',
  });
});

test('a turn is read from its lines', () => {
  const reader = createTurnReader();
  const call = { toolCallId: 't', toolName: 'bash', arguments: { command: 'touch b\nls' } };
  const events = [
    'not a line of the stream',
    line('tool.execution_start', call),
    line('tool.execution_complete', {
      toolCallId: 't',
      success: false,
      error: { code: 'denied', message: 'No.' },
    }),
    line('assistant.message', { content: 'Inner.' }, { agentId: 'a' }),
    line('assistant.message', { content: 'Done.' }),
    line('result'),
  ]
    .flatMap((each) => reader.read(each))
    .filter(({ type }) => type !== 'activity');
  expect(events).toEqual([
    { type: 'tool', id: 't', name: 'bash', open: true, detail: 'touch b' },
    { type: 'tool', id: 't', name: 'bash', open: false },
    { type: 'denied', tool: 'bash' },
    { type: 'text', text: 'Done.' },
  ]);
  expect(reader).toMatchObject({ lastMessage: 'Done.', denials: ['bash'], ended: true, failure: undefined });
});

test('a turn that was cancelled is known by its record, with or without an end', () => {
  const reader = createTurnReader();
  for (const each of [line('abort', { reason: 'user_abort' }), line('result')]) reader.read(each);
  expect(reader).toMatchObject({ aborted: true, ended: true });
});

test('what a hook denies is not a question to a person', () => {
  const reader = createTurnReader();
  reader.read(line('tool.execution_start', { toolCallId: 't', toolName: 'edit' }));
  const error = { code: 'denied', message: 'Denied by preToolUse hook: no' };
  reader.read(line('tool.execution_complete', { toolCallId: 't', success: false, error }));
  expect(reader.denials).toEqual([]);
});

test('trouble of the model service is told apart from a context that is too long', () => {
  const service = createTurnReader();
  service.read(line('model.call_failure', { statusCode: 529 }));
  expect(service.read(line('assistant.turn_retry', { reason: 'api_error' }))).toContainEqual({
    type: 'retry',
    status: 529,
  });
  service.read(line('session.error', { errorType: 'query', message: 'x', statusCode: 529 }));
  expect(service.failure).toEqual({ kind: 'model_service', status: 529, text: 'x' });
  const long = createTurnReader();
  long.read(line('session.error', { errorType: 'context_limit', message: 'x', statusCode: 400 }));
  expect(long.failure).toEqual({ kind: 'limit', text: 'x' });
});
