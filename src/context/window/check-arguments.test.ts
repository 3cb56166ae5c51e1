import { expect, test } from 'vitest';
import { StepfastError } from '../../errors.ts';
import { type ContextWindowOptions, createContextWindow } from './context-window.ts';
import type { WindowMessage } from './message.ts';

const create = () => createContextWindow<WindowMessage>({ systemPrompt: 'You are a coder.' });
const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } };

/** As JavaScript calls it, where no type is in the way. */
function refusal(make: () => void): { code: string; message: string } {
  try {
    make();
  } catch (error) {
    if (error instanceof StepfastError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a message whose content is null has no parts, and stays as it is', async () => {
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
  [undefined, 'push: messages[1] is undefined: give a message { role, content }'],
  ['Hello', "push: messages[1] is 'Hello': give a message { role, content }"],
  [
    { role: 'robot', content: 'x' },
    "push: messages[1].role is 'robot': give one of system, user, assistant, tool",
  ],
  [
    { role: 'user' },
    'push: messages[1].content is undefined: give a text, a list of parts, or null where there is none',
  ],
  [
    { role: 'user', content: 3 },
    'push: messages[1].content is a number: give a text, a list of parts, or null where there is none',
  ],
  [
    { role: 'user', content: [{ type: 'text', text: 'x' }, 'y'] },
    "push: messages[1].content[1] is 'y': give a part { type, ... }",
  ],
])('of several messages, one that is %j is refused with its place, and none is taken', (bad, message) => {
  const window = create();
  const push = () => window.push({ role: 'user', content: 'Hello' }, bad as WindowMessage);
  expect(refusal(push)).toEqual({ code: 'bad_message', message });
  expect(window.conversation()).toEqual([]);
});

test('an append without content or with an unknown role is refused, and the window goes on', () => {
  const window = create();
  expect(refusal(() => window.append('assistant', undefined as never))).toEqual({
    code: 'bad_message',
    message: 'append: content is undefined: give a text, a list of parts, or null where there is none',
  });
  expect(refusal(() => window.append('robot' as never, 'x' as never)).message).toMatch(/^append: role is /);
  window.append('user', 'Hello');
  expect(window.messages()).toHaveLength(2);
});

test.each<[unknown, string]>([
  [undefined, 'createContextWindow: options is undefined: give { systemPrompt }'],
  [{}, 'createContextWindow: systemPrompt is undefined: give a text'],
  [
    { systemPrompt: 'x', summarise: 'briefly' },
    "createContextWindow: summarise is 'briefly': give a function",
  ],
  [{ systemPrompt: 'x', onCompacted: 1 }, 'createContextWindow: onCompacted is a number: give a function'],
  [{ systemPrompt: 'x', countTokens: {} }, 'createContextWindow: countTokens is an object: give a function'],
  [
    { systemPrompt: 'x', fileTokens: Number.NaN },
    'createContextWindow: fileTokens is NaN: give a number of tokens',
  ],
])('a window with the options %j is refused', (options, message) => {
  expect(refusal(() => createContextWindow(options as ContextWindowOptions))).toEqual({
    code: 'bad_option',
    message,
  });
});
