import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  type PrepareStepFunction,
  streamText,
  ToolLoopAgent,
  tool,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { main } from '../../../examples/agent-loop.ts';
import { scriptedModel } from '../../../examples/scripted-model.ts';
import { createContextWindow } from './context-window.ts';
import { createPrepareStep } from './prepare-step.ts';

const create = () => createContextWindow<ModelMessage>({ systemPrompt: 'You are a coder.' });
const textOf = (text: string): Awaited<ReturnType<MockLanguageModelV4['doGenerate']>> => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
  warnings: [],
});
const partText = (part: unknown): unknown => (part as { text?: string } | undefined)?.text;
const anyInput = jsonSchema<{ path?: string }>({ type: 'object' });
const tools = {
  read_file: tool({
    inputSchema: anyInput,
    execute: ({ path }) => `${path}: ${'line of code; '.repeat(60)}`,
  }),
  decide: tool({ inputSchema: anyInput, execute: () => 'noted' }),
  advance: tool({ inputSchema: anyInput, execute: () => 'running' }),
};

test("the types of the AI SDK's own messages go in and come out", () => {
  const window = create();
  expectTypeOf(window.messages()).toExtend<ModelMessage[]>();
  expectTypeOf(window.conversation()).toExtend<ModelMessage[]>();
  expectTypeOf<ModelMessage>().toExtend<Parameters<typeof window.push>[0]>();
  expectTypeOf(createPrepareStep(window, { maxTokens: 1 })).toExtend<PrepareStepFunction<typeof tools>>();
  window.append('tool', [
    { type: 'tool-result', toolCallId: 'a', toolName: 'read', output: { type: 'json', value: 1 } },
  ]);
  // @ts-expect-error a tool message of the AI SDK has parts
  window.append('tool', 'text');
  // @ts-expect-error not a part of the AI SDK
  window.append('user', [{ type: 'nonsense' }]);
  const plain = createContextWindow({ systemPrompt: '' });
  plain.append('tool', 'text');
  // @ts-expect-error plain messages have no parts
  plain.append('user', [{ type: 'text', text: 'x' }]);
  // Types only: at run time everything is kept except the result without a call.
  expect(window.conversation()).toHaveLength(2);
});

test('parts of every type stay as they are', () => {
  const window = create();
  const messages: ModelMessage[] = [
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: 'Look',
          providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
        { type: 'file', mediaType: 'image/png', data: new Uint8Array(100_000) },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'short' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm', providerOptions: { anthropic: { signature: 'abc' } } },
        { type: 'custom', kind: 'openai.item' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'read_file', input: { path: 'a.ts' } },
      ],
      providerOptions: { openai: { itemId: '1' } },
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'read_file',
          output: {
            type: 'content',
            value: [
              { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'A'.repeat(90_000) } },
            ],
          },
        },
      ],
    },
  ];
  window.push(...messages);
  expect(window.conversation()).toEqual(messages);
  window.conversation().forEach((message, index) => {
    expect(message).toBe(messages[index]);
  });
  const { conversation } = window.tokens();
  expect(conversation).toBeGreaterThan(3200);
  expect(conversation).toBeLessThan(3400);
});

describe('createPrepareStep', () => {
  test('keeps every request of a loop within the limit, whole pairs and the instructions of the window', async () => {
    const window = create();
    const model = scriptedModel();
    const compactions: number[] = [];
    window.append('user', 'Begin');
    const result = await generateText({
      model,
      tools,
      instructions: 'not these',
      messages: window.conversation(),
      prepareStep: createPrepareStep(window, {
        maxTokens: 1500,
        onCompaction: ({ after }) => compactions.push(after),
      }),
      stopWhen: isStepCount(50),
    });
    window.push(...result.finalStep.response.messages);
    expect(compactions.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...compactions)).toBeLessThanOrEqual(1500);
    for (const { prompt } of model.doGenerateCalls) {
      expect(prompt[0]).toMatchObject({ role: 'system', content: 'You are a coder.' });
      expect(prompt[1]?.role).toBe('user');
      expect(JSON.stringify(prompt).match(/\[Earlier conversation/g) ?? []).toHaveLength(
        prompt[1]?.role === 'user' && JSON.stringify(prompt[1]).includes('[Earlier') ? 1 : 0,
      );
    }
    expect(window.conversation().at(-1)).toMatchObject({ role: 'assistant' });
  });

  test('a second call that continues from the window adds only new messages', async () => {
    const window = create();
    const model = new MockLanguageModelV4({ doGenerate: async () => textOf('Yes.') });
    for (const question of ['One?', 'Two?', 'Three?']) {
      window.append('user', question);
      const prepareStep = createPrepareStep(window, { maxTokens: 1000 });
      const { finalStep } = await generateText({ model, messages: window.conversation(), prepareStep });
      window.push(...finalStep.response.messages);
    }
    expect(window.conversation().map(({ role }) => role)).toEqual(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? 'assistant' : 'user')),
    );
    expect(model.doGenerateCalls.at(-1)?.prompt).toHaveLength(6);
  });

  test('a call with a prompt of its own is another conversation', async () => {
    const window = create();
    const model = new MockLanguageModelV4({ doGenerate: async () => textOf('Yes.') });
    const agent = new ToolLoopAgent({ model, prepareStep: createPrepareStep(window, { maxTokens: 1000 }) });
    await agent.generate({ prompt: 'One?' });
    await agent.generate({ prompt: 'Two?' });
    expect(window.conversation()).toMatchObject([{ role: 'user', content: 'Two?' }]);
  });

  test('streamText accepts it too, and a window without a prompt keeps the instructions', async () => {
    const window = createContextWindow<ModelMessage>({ systemPrompt: '' });
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            const { finishReason, usage } = textOf('');
            controller.enqueue({ type: 'finish', finishReason, usage });
            controller.close();
          },
        }),
      }),
    });
    const prepareStep = createPrepareStep(window, { maxTokens: 1000 });
    await streamText({ model, prompt: 'One?', instructions: 'Be brief.', prepareStep }).consumeStream();
    expect(model.doStreamCalls[0]?.prompt).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user' },
    ]);
  });

  test('a message appended while a tool runs follows the results and stays there', async () => {
    const window = create();
    const model = scriptedModel();
    let runs = 0;
    const execute = () => {
      window.append('user', `Hurry up, ${++runs}`);
      return 'x';
    };
    window.append('user', 'Begin');
    await generateText({
      model,
      tools: { ...tools, read_file: tool({ inputSchema: anyInput, execute }) },
      messages: window.conversation(),
      prepareStep: createPrepareStep(window, { maxTokens: 10_000 }),
      stopWhen: isStepCount(3),
    });
    const said = model.doGenerateCalls.map(({ prompt }) =>
      prompt.slice(1).map(({ role, content }) => (role === 'user' ? partText(content[0]) : role)),
    );
    const first = ['Begin', 'assistant', 'tool', 'Hurry up, 1'];
    expect(said).toEqual([['Begin'], first, [...first, 'assistant', 'tool', 'Hurry up, 2', 'Hurry up, 3']]);
  });

  test('a message appended while the summarizer works precedes the answer that saw it', async () => {
    const window = createContextWindow<ModelMessage>({
      systemPrompt: 'You are a coder.',
      countTokens: (text) => text.length,
      summarise: async () => {
        window.append('user', 'Hurry up');
        return 'Summary';
      },
    });
    const prepare = createPrepareStep(window, { maxTokens: 400 });
    for (let n = 1; n <= 5; n++) window.append('user', `message ${n}`.padEnd(100, '.'));
    const own = window.conversation();
    const { messages } = await prepare({ messages: own });
    expect(messages.at(-1)?.content).toBe('Hurry up');
    const answer: ModelMessage = { role: 'assistant', content: 'I do.' };
    window.append('user', 'Thanks');
    const next = await prepare({ messages: [...own, answer] });
    expect(next.messages.slice(-3).map(({ content }) => content)).toEqual(['Hurry up', 'I do.', 'Thanks']);
  });

  describe('approvals', () => {
    async function ask(decide: (window: ReturnType<typeof create>, ids: string[]) => void) {
      const window = create();
      let ran = 0;
      let asked = 0;
      const call = { type: 'tool-call' as const, toolCallId: 'c', toolName: 'run', input: '{}' };
      const model = new MockLanguageModelV4({
        doGenerate: async () => (asked++ ? textOf('Done.') : { ...textOf(''), content: [call] }),
      });
      const run = tool({ inputSchema: anyInput, needsApproval: true, execute: () => `ran ${++ran}` });
      const go = async () => {
        const result = await generateText({
          model,
          tools: { run },
          messages: window.conversation(),
          prepareStep: createPrepareStep(window, { maxTokens: 1000 }),
          stopWhen: isStepCount(5),
        });
        window.push(...result.finalStep.response.messages);
        return result;
      };
      window.append('user', 'Begin');
      const { content } = await go();
      decide(
        window,
        content.flatMap((part) => (part.type === 'tool-approval-request' ? part.approvalId : [])),
      );
      await go();
      const [, sent = []] = model.doGenerateCalls.map(({ prompt }) =>
        prompt.slice(1).map(({ role, content: parts }) => {
          expect(parts.length, 'no message is empty').toBeGreaterThan(0);
          return role === 'user' ? partText(parts[0]) : role;
        }),
      );
      return { ran, sent };
    }
    const decision = (approvalId: string | undefined, approved: boolean): ModelMessage => ({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: approvalId ?? '', approved }],
    });

    test('an unanswered approval request is removed', async () => {
      const { ran, sent } = await ask((window) => window.append('user', 'Never mind'));
      expect(ran).toBe(0);
      expect(sent).toEqual(['Begin', 'Never mind']);
    });

    test.each([true, false])('a response (%s) after a user message counts', async (approved) => {
      const { ran, sent } = await ask((window, [id]) => {
        window.append('user', 'Wait');
        window.push(decision(id, approved));
      });
      expect(ran).toBe(approved ? 1 : 0);
      expect(sent).toEqual(['Begin', 'assistant', 'tool', 'Wait']);
    });
  });
});

test('the example goes through at least two compactions and loses nothing', async () => {
  const { compactions, requests } = await main();
  expect(compactions.length).toBeGreaterThanOrEqual(2);
  expect(requests).toBe(14);
});
