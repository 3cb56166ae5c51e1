import { expect, it } from 'vitest';
import { allOf, lastUser, mainTurn, small, subagent, summariser, systemPrompt, withTool } from './match.ts';
import { type Reply, reply } from './reply.ts';
import { contextOf, type Message, readRequest } from './request.ts';
import { createScript } from './script.ts';
import { forgetsAll } from './summary.ts';

const instructions = 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSummarise.';

function asked(
  content: Message['content'] | Message[],
  options: { session?: string; agent?: string; tools?: string[]; system?: string } = {},
) {
  const { session = 's', agent, tools = ['Bash'], system = 'You are an agent.' } = options;
  const messages: Message[] =
    Array.isArray(content) && content.every((part) => 'role' in part) ? content : [{ role: 'user', content }];
  const headers = { 'x-claude-code-session-id': session, 'x-claude-code-agent-id': agent };
  return readRequest(1, { model: 'm', messages, system, tools: tools.map((name) => ({ name })) }, headers);
}

function said(given: Reply): string | undefined {
  return given.type === 'message' ? (given.content[0]?.text ?? given.content[0]?.name) : given.message;
}

it('whose request it is: conversation, subagent, summariser or side question', () => {
  expect(asked('hello').kind).toBe('main');
  expect(asked('hello', { agent: 'a1' })).toMatchObject({ kind: 'subagent', agent: 'a1' });
  expect(asked([{ type: 'text', text: instructions }]).kind).toBe('summariser');
  expect(asked([{ type: 'text', text: instructions }], { agent: 'a1' })).toMatchObject({
    kind: 'summariser',
    agent: 'a1',
  });
  expect(asked('x', { system: 'You are an AI tasked with summarizing conversations.' }).kind).toBe(
    'summariser',
  );
  expect(asked('title?', { tools: [] }).kind).toBe('small');
  expect(asked(`He said: ${instructions}`).kind).toBe('main');
});

it('what a person wrote last is no tool result, no reminder and no summary', () => {
  const messages: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>x</system-reminder>' },
        { type: 'text', text: 'fix it' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'RESULT' }] }],
    },
    { role: 'user', content: 'This session is being continued from a previous conversation that ran out.' },
    { role: 'system', content: 'injected' },
  ];
  const request = asked(messages);
  expect(request.lastUser).toBe('fix it');
  for (const text of ['You are an agent.', '<system-reminder>x', '"command":"ls"', 'RESULT', 'injected'])
    expect(contextOf(request)).toContain(text);
  expect(contextOf(request, { toolResults: false })).not.toContain('RESULT');
});

it('rules answer in turn, earlier ones first, and what is left is counted', async () => {
  const script = createScript();
  script.on(lastUser(/fix/), reply.text('one'), () => reply.text('two'));
  script.on(mainTurn(), reply.text('any'));
  script.always(lastUser(/fix/), reply.text('again'));
  const answers: (string | undefined)[] = [];
  for (let n = 0; n < 5; n++) answers.push(said((await script.choose(asked('fix it'))).reply));
  expect(answers).toEqual(['one', 'two', 'any', 'again', 'again']);
  script.on(lastUser(/never/), reply.text('x'));
  expect(script.left()).toBe(1);
  expect((await script.choose(asked('other'))).matched).toBe(false);
});

it('a rule that calls tools keeps its conversation through a compaction, and no other', async () => {
  const script = createScript();
  const call = reply.tool('Bash', { command: 'ls' });
  script.always(summariser(), forgetsAll());
  script.on(lastUser(/loop/), call, call, reply.text('done'));
  script.on(subagent(/dig/), call, reply.text('dug'));
  const ask = async (...args: Parameters<typeof asked>) => said((await script.choose(asked(...args))).reply);
  expect(await ask('loop')).toBe('Bash');
  expect(await ask('dig', { agent: 'a' })).toBe('Bash');
  expect(await ask([{ type: 'text', text: instructions }])).toContain('<summary>');
  expect((await script.choose(asked('elsewhere', { session: 't' }))).matched).toBe(false);
  expect(await ask('This session is being continued from a previous conversation.')).toBe('Bash');
  expect(await ask('dug?', { agent: 'a' })).toBe('dug');
  expect(await ask('')).toBe('done');
  expect((await script.choose(asked(''))).matched).toBe(false);
  expect(script.left()).toBe(0);
});

it('rules can ask for tools, the system prompt and side questions', () => {
  expect(withTool('Bash')(asked('x'))).toBe(true);
  expect(withTool(/^mcp__/)(asked('x'))).toBe(false);
  expect(systemPrompt(/an agent/)(asked('an agent', { system: 'other' }))).toBe(false);
  expect(allOf(mainTurn(), systemPrompt(/an agent/))(asked('x'))).toBe(true);
  expect(small(/title/)(asked('title?', { tools: [] }))).toBe(true);
  expect(small(/title/)(asked('title?'))).toBe(false);
});
