import { request } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lastUser, mainTurn, summariser } from './match.ts';
import { reply } from './reply.ts';
import { createScriptedModel, type ScriptedModel } from './scripted-model.ts';
import { forgetsAll } from './summary.ts';

let model: ScriptedModel;
beforeEach(async () => {
  model = await createScriptedModel();
});
afterEach(async () => await model[Symbol.asyncDispose]());

const headers = { 'x-claude-code-session-id': 's' };

function body(content: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content }],
    tools: [{ name: 'Bash' }],
    ...more,
  });
}

async function post(text: string, path = '/v1/messages?beta=true'): Promise<Response> {
  return await fetch(`${model.url}${path}`, { method: 'POST', headers, body: text });
}

it('an answer as JSON has its content, why it stopped and the usage of the script', async () => {
  model.on(lastUser(/run/), reply.tool('Bash', { command: 'ls' }, { usage: { input_tokens: 5 } }));
  expect(await (await post(body('run'))).json()).toMatchObject({
    type: 'message',
    model: 'm',
    content: [{ type: 'tool_use', id: expect.any(String), name: 'Bash', input: { command: 'ls' } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 5, output_tokens: 20 },
  });
});

it('an answer as a stream has the events of the API in their order', async () => {
  model.on(mainTurn(), reply.text('two words', { wordMs: 1 }));
  const text = await (await post(body('x', { stream: true }))).text();
  expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect(text).toContain('"text":"two "');
});

it('tokens are counted, errors are errors, other addresses are told', async () => {
  expect(await (await post(body('x'), '/v1/messages/count_tokens')).json()).toEqual({
    input_tokens: expect.any(Number),
  });
  model.on(mainTurn(), reply.error(529, 'overloaded_error', 'Busy'));
  const refused = await post(body('x'));
  expect([refused.status, await refused.json()]).toEqual([
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
  ]);
  expect((await post('{}', '/v1/elsewhere')).status).toBe(404);
  expect((await post('no json')).status).toBe(500);
  expect(model.strays()).toEqual([
    'POST /v1/elsewhere',
    expect.stringContaining('/v1/messages: SyntaxError'),
  ]);
});

it('the same server answers on its Unix socket', async () => {
  model.on(mainTurn(), reply.text('Here.'));
  const answer = await new Promise<string>((resolve, reject) => {
    const options = { socketPath: model.socket, path: '/v1/messages', method: 'POST' };
    const asked = request(options, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    });
    asked.on('error', reject).end(body('x'));
  });
  expect(answer).toContain('Here.');
  expect(model.all()).toHaveLength(1);
});

it('the first request after a compaction is of the same session, and one must be there', async () => {
  model.always(mainTurn(), reply.text('ok'));
  model.always(summariser(), forgetsAll());
  expect(() => model.firstRequestAfterCompaction()).toThrow('the summariser was asked 0 times');
  await post(body('before MARKER'));
  await post(body('CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.'));
  expect(() => model.firstRequestAfterCompaction()).toThrow(
    'asked nothing after the compaction with request 2',
  );
  await fetch(`${model.url}/v1/messages`, { method: 'POST', body: body('another session') });
  const agent = { ...headers, 'x-claude-code-agent-id': 'a' };
  await fetch(`${model.url}/v1/messages`, { method: 'POST', headers: agent, body: body('a subagent') });
  await post(body('after'));
  expect(model.firstRequestAfterCompaction().n).toBe(5);
  expect(model.firstRequestAfterCompaction(0).n).toBe(5);
  expect(() => model.firstRequestAfterCompaction(1)).toThrow('no compaction 1');
  expect(model.containing('MARKER').map(({ n }) => n)).toEqual([1]);
  expect(model.ofSession('s').all()).toHaveLength(4);
  expect(model.since(4).requestsOf('main')).toHaveLength(1);
  expect(model.unmatched().map(({ kind }) => kind)).toEqual(['subagent']);
});
