import { expect, test } from 'vitest';
import { lastUser, mainTurn } from './match.ts';
import { reply } from './reply.ts';
import { contextOf, toolsOf } from './request.ts';
import { createScriptedModel, type ScriptedModel } from './scripted-model.ts';

const post = async ({ url }: ScriptedModel, method: string, body: object): Promise<Response> =>
  await fetch(`${url}/v1beta/models/gemini-x:${method}`, { method: 'POST', body: JSON.stringify(body) });

const user = (text: string) => ({ role: 'user', parts: [{ text }] });
const tools = [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: { type: 'object' } }] }];

test('a request of the Gemini API is answered by the same script, in its own format', async () => {
  await using model = await createScriptedModel();
  model.on(lastUser(/go/), reply.tool('read_file', { file_path: 'a.txt' }), reply.text('Read.'));
  const called = await post(model, 'streamGenerateContent?alt=sse', {
    contents: [
      user('<session_context>\nwhere\n</session_context>'),
      user('<hook_context>B</hook_context>\n\ngo'),
    ],
    systemInstruction: { parts: [{ text: 'SYSTEM' }] },
    tools,
  });
  const [line = ''] = (await called.text()).split('\n');
  const first = JSON.parse(line.slice('data: '.length));
  const functionCall = { name: 'read_file', args: { file_path: 'a.txt' } };
  expect(first.candidates).toEqual([
    { index: 0, content: { role: 'model', parts: [{ functionCall }] }, finishReason: 'STOP' },
  ]);
  expect(first.usageMetadata.promptTokenCount).toBeGreaterThan(0);
  const answered = await post(model, 'generateContent', {
    contents: [
      user('go'),
      { role: 'model', parts: [{ functionCall }] },
      { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'OUTPUT' } } }] },
    ],
    tools,
  });
  expect(await answered.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: 'Read.' }] } }] });
  const [one, two] = model.all();
  expect(one).toMatchObject({ kind: 'main', lastUser: 'go', matched: true, body: { model: 'gemini-x' } });
  expect(one && [contextOf(one).includes('SYSTEM'), toolsOf(one)]).toEqual([true, ['read_file']]);
  expect(two && contextOf(two)).toContain('OUTPUT');
});

test('words are sent one by one, and an error has its status', async () => {
  await using model = await createScriptedModel();
  model.on(mainTurn(), reply.text('one two three', { wordMs: 1 }));
  model.on(mainTurn(), reply.error(429, 'RESOURCE_EXHAUSTED', 'Slow down.', { 'retry-after': '1' }));
  const body = { contents: [user('go')], tools };
  const lines = (await (await post(model, 'streamGenerateContent', body)).text()).trim().split('\n\n');
  expect(lines).toHaveLength(3);
  expect(lines.map((line) => line.includes('finishReason'))).toEqual([false, false, true]);
  const refused = await post(model, 'streamGenerateContent', body);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
});

test('side questions and summaries are told apart from turns, and other methods are strays', async () => {
  await using model = await createScriptedModel();
  await post(model, 'generateContent', { contents: [user('Who speaks next?')] });
  await post(model, 'generateContent', {
    contents: [user('First, reason in your scratchpad.')],
    systemInstruction: { parts: [{ text: 'Write a <state_snapshot>.' }] },
  });
  expect(model.all().map(({ kind }) => kind)).toEqual(['small', 'summariser']);
  expect((await post(model, 'embedContent', {})).status).toBe(404);
  expect(model.strays()).toHaveLength(1);
});
