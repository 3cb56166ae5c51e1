import { describe, expect, test } from 'vitest';
import type { WindowMessage } from './message.ts';
import { groupStarts, sendable } from './tool-pairs.ts';

const user = (content: string): WindowMessage => ({ role: 'user', content });
const says = (...content: object[]): WindowMessage => ({ role: 'assistant', content });
const tool = (...content: object[]): WindowMessage => ({ role: 'tool', content });
const text = { type: 'text', text: 'Let me look.' };
const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'read', input: {} });
const result = (toolCallId: string) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'read',
  output: { type: 'text', value: 'x' },
});

test('messages that a provider accepts stay the same objects', () => {
  const messages = [
    user('Hi'),
    says(text, call('a'), call('b')),
    tool(result('a')),
    tool(result('b')),
    says(text),
  ];
  const sent = sendable(messages);
  expect(sent).toHaveLength(5);
  sent.forEach((message, index) => {
    expect(message).toBe(messages[index]);
  });
});

test('a result without a call is removed, and its message if nothing else is in it', () => {
  expect(sendable([user('Hi'), tool(result('gone')), says(text)])).toEqual([user('Hi'), says(text)]);
  expect(sendable([says(call('a')), tool(result('gone'), result('a'))])).toEqual([
    says(call('a')),
    tool(result('a')),
  ]);
});

test('a second result of the same call is removed', () => {
  expect(sendable([says(call('a')), tool(result('a')), tool(result('a'))])).toEqual([
    says(call('a')),
    tool(result('a')),
  ]);
});

test('a message sent while a tool ran follows the results', () => {
  const messages = [
    says(call('a'), call('b')),
    tool(result('a')),
    user('Hurry'),
    tool(result('b')),
    says(text),
  ];
  expect(sendable(messages)).toEqual([
    says(call('a'), call('b')),
    tool(result('a')),
    tool(result('b')),
    user('Hurry'),
    says(text),
  ]);
});

test('an unanswered call is removed once the conversation continues', () => {
  expect(sendable([says(text, call('a')), user('Stop')])).toEqual([says(text), user('Stop')]);
  expect(sendable([says(call('a')), user('Stop'), says(text)])).toEqual([user('Stop'), says(text)]);
  expect(sendable([says(call('a'), call('b')), tool(result('b')), says(text), tool(result('a'))])).toEqual([
    says(call('b')),
    tool(result('b')),
    says(text),
  ]);
});

test('reasoning is removed with its only call', () => {
  const reasoning = { type: 'reasoning', text: 'I should read it.' };
  expect(sendable([user('Hi'), says(reasoning, call('a')), user('Stop')])).toEqual([
    user('Hi'),
    user('Stop'),
  ]);
});

describe('approvals', () => {
  const request = (toolCallId: string) => ({
    type: 'tool-approval-request',
    approvalId: `of ${toolCallId}`,
    toolCallId,
  });
  const response = (toolCallId: string, approved = true) => ({
    type: 'tool-approval-response',
    approvalId: `of ${toolCallId}`,
    approved,
  });

  test('a call at the end may still be answered, also by an approval', () => {
    const messages = [user('Hi'), says(call('a'), request('a')), tool(response('a'))];
    expect(sendable(messages)).toEqual(messages);
    expect(groupStarts(messages)).toEqual([0, 1]);
  });

  test('an unanswered request is removed with its call', () => {
    expect(sendable([user('Hi'), says(call('a'), request('a')), user('Never mind')])).toEqual([
      user('Hi'),
      user('Never mind'),
    ]);
    expect(sendable([says(text, call('a'), request('a')), user('Never mind')])).toEqual([
      says(text),
      user('Never mind'),
    ]);
  });

  test.each([true, false])('a response (%s) keeps its call open, and is the last message', (approved) => {
    const asked = says(call('a'), request('a'));
    const decided = tool(response('a', approved));
    expect(sendable([user('Hi'), asked, user('Wait'), decided])).toEqual([
      user('Hi'),
      user('Wait'),
      asked,
      decided,
    ]);
    expect(sendable([user('Hi'), asked, user('Wait'), decided, user('Well?')])).toEqual([
      user('Hi'),
      user('Wait'),
      user('Well?'),
      asked,
      decided,
    ]);
    expect(sendable([user('Hi'), asked, user('Wait'), decided, tool(result('a'))])).toEqual([
      user('Hi'),
      asked,
      decided,
      tool(result('a')),
      user('Wait'),
    ]);
  });

  test('only the decided one of two calls stays open', () => {
    const asked = says(call('a'), call('b'), request('a'), request('b'));
    expect(sendable([asked, user('Wait'), tool(response('b'))])).toEqual([
      user('Wait'),
      says(call('b'), request('b')),
      tool(response('b')),
    ]);
  });

  test('a response is removed with its abandoned call, and a late response is not sent', () => {
    const asked = says(call('a'), request('a'));
    expect(sendable([asked, tool(response('a')), says(text)])).toEqual([says(text)]);
    expect(sendable([asked, user('Wait'), says(text), tool(response('a'))])).toEqual([
      user('Wait'),
      says(text),
    ]);
    expect(sendable([asked, tool(result('a')), tool(response('a'))])).toEqual([asked, tool(result('a'))]);
  });

  test('a reused id loses only the abandoned call', () => {
    const first = says(call('a'), call('b'), call('c'));
    const again = says(result('b'), call('a'));
    expect(sendable([first, tool(result('a')), again, user('Stop')])).toEqual([
      says(call('a'), call('b')),
      tool(result('a')),
      says(result('b')),
      user('Stop'),
    ]);
  });

  test('a request of the provider forms one group with its response', () => {
    const own = { ...call('a'), providerExecuted: true };
    const messages = [user('Hi'), says(own, request('a')), user('Wait'), tool(response('a'))];
    expect(sendable(messages)).toEqual(messages);
    expect(groupStarts(messages)).toEqual([0, 1]);
  });
});

test('a provider-executed call may be answered in the same or a later message', () => {
  const own = { ...call('a'), providerExecuted: true };
  const messages = [says(own), user('And?'), says(result('a'), text)];
  expect(sendable(messages)).toEqual(messages);
  expect(groupStarts(messages)).toEqual([0]);
  expect(sendable([says(call('a'), result('a')), user('And?')])).toEqual([
    says(call('a'), result('a')),
    user('And?'),
  ]);
});

test('calls and all their results are one group; a reused id belongs to its last call', () => {
  const messages = [
    user('Hi'),
    says(call('a'), call('b')),
    tool(result('a')),
    tool(result('b')),
    user('Again'),
    says(call('a')),
    tool(result('a')),
  ];
  expect(sendable(messages)).toEqual(messages);
  expect(groupStarts(messages)).toEqual([0, 1, 4, 5]);
});

test('a plain tool message belongs to the message before it', () => {
  const plain: WindowMessage = { role: 'tool', content: '3 tests passed' };
  expect(groupStarts([user('Hi'), says(text), plain, plain, user('Good')])).toEqual([0, 1, 4]);
});

test("Anthropic's own parts are pairs too", () => {
  const use = says({ type: 'tool_use', id: 'a', name: 'read', input: {} });
  const answer: WindowMessage = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }],
  };
  expect(groupStarts([user('Hi'), use, answer, user('Good')])).toEqual([0, 1, 3]);
  expect(sendable([user('Hi'), answer])).toEqual([user('Hi')]);
});
