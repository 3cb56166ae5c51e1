import { expect, test } from 'vitest';
import { StepfastError } from '../../errors.ts';
import { type ContextWindowOptions, createContextWindow } from './context-window.ts';
import type { WindowMessage } from './message.ts';

const create = () => createContextWindow<WindowMessage>({ systemPrompt: 'You are a coder.' });
const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } };

/** Calls without types, as from JavaScript. */
function refusal(make: () => void): { code: string; data: unknown } {
  try {
    make();
  } catch (error) {
    if (error instanceof StepfastError) return { code: error.code, data: error.data };
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a message with null content has no parts and stays unchanged', async () => {
  const window = create();
  const calls = { role: 'assistant' as const, content: null, tool_calls: [call] };
  const result = { role: 'tool' as const, content: 'export {}', tool_call_id: 'a' };
  window.append('user', 'Read it');
  window.push(calls, result);
  window.append('assistant', null);
  expect(window.conversation().slice(1, 3)).toEqual([calls, result]);
  expect(window.tokens().conversation).toBeGreaterThan(3 * 4);
  for (let n = 0; n < 9; n += 1) window.append('user', `message ${n} ${'x'.repeat(400)}`);
  expect(await window.compact(400)).toMatchObject({ compacted: true });
});

test.each<[unknown, string]>([
  [undefined, 'messages[1]'],
  ['Hello', 'messages[1]'],
  [{ role: 'robot', content: 'x' }, 'messages[1].role'],
  [{ role: 'user' }, 'messages[1].content'],
  [{ role: 'user', content: 3 }, 'messages[1].content'],
  [{ role: 'user', content: [{ type: 'text', text: 'x' }, 'y'] }, 'messages[1].content[1]'],
])('push refuses %j by its path and adds nothing', (bad, argument) => {
  const window = create();
  const push = () => window.push({ role: 'user', content: 'Hello' }, bad as WindowMessage);
  expect(refusal(push)).toEqual({ code: 'bad_message', data: { call: 'push', argument } });
  expect(window.conversation()).toEqual([]);
});

test('append refuses missing content and an unknown role, and the window stays usable', () => {
  const window = create();
  const data = (argument: string) => ({ code: 'bad_message', data: { call: 'append', argument } });
  expect(refusal(() => window.append('assistant', undefined as never))).toEqual(data('content'));
  expect(refusal(() => window.append('robot' as never, 'x' as never))).toEqual(data('role'));
  window.append('user', 'Hello');
  expect(window.messages()).toHaveLength(2);
});

test.each<[unknown, string]>([
  [undefined, 'options'],
  [{}, 'systemPrompt'],
  [{ systemPrompt: 'x', summarise: 'briefly' }, 'summarise'],
  [{ systemPrompt: 'x', onCompacted: 1 }, 'onCompacted'],
  [{ systemPrompt: 'x', countTokens: {} }, 'countTokens'],
  [{ systemPrompt: 'x', fileTokens: Number.NaN }, 'fileTokens'],
])('createContextWindow refuses the options %j', (options, argument) => {
  expect(refusal(() => createContextWindow(options as ContextWindowOptions))).toEqual({
    code: 'bad_option',
    data: { call: 'createContextWindow', argument },
  });
});
