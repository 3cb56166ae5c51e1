/** A program that speaks the protocol as others may; what a real one does is in test/e2e/gemini/drive.test.ts. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isRunning } from '../../../test/kit/is-running.ts';
import type { DrivenOptions, DrivenSession, HostEvent } from '../../runtime/index.ts';
import { textIn } from '../payload.ts';
import type { AcpAgent } from './agent.ts';
import { openSession } from './session.ts';

let folder: string;
let session: DrivenSession | undefined;
const events: HostEvent[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepfast-acp-test-'));
  events.length = 0;
});
afterEach(async () => {
  await session?.end(0);
  rmSync(folder, { recursive: true, force: true });
});

const agent: AcpAgent = {
  name: 'fake',
  program: 'fake',
  title: 'Fake',
  reports: ['turns'],
  launch: ({ env }) => ({ args: [], env }),
  toolName: (call) => textIn(call, 'title') ?? '',
  isOwn: ({ toolCall }) => JSON.stringify(toolCall).includes('own'),
  tokens: (answer) => Number(answer.tokens ?? 0),
  compact: '/compact',
};

/**
 * An agent that does this with each prompt. `say` sends an update, `ask` a request and resolves with the answer, `done`
 * ends the turn; `text` is the prompt and `opened` the parameters of the session.
 */
async function open(body: string, options: Partial<DrivenOptions> = {}): Promise<DrivenSession> {
  const script = `#!/usr/bin/env node
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const say = (sessionUpdate, parts) => send({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate, ...parts } } });
require('node:fs').writeFileSync('pid', String(process.pid));
const asked = new Map();
const ask = (method, params) => new Promise((resolve) => { const id = 'q' + asked.size; asked.set(id, resolve); send({ id, method, params }); });
let opened, cancelled = () => {};
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return asked.get(id)(result ?? error);
  if (method === 'initialize') return send({ id, result: { protocolVersion: 1 } });
  if (method === 'session/new' || method === 'session/load') {
    opened = { method, ...params };
    if (params.cwd.endsWith('nowhere')) return send({ id, error: { code: -32000, message: 'Authentication required' } });
    if (method === 'session/load') say('agent_message_chunk', { content: { type: 'text', text: 'OLD' } });
    return send({ id, result: method === 'session/new' ? { sessionId: 's1' } : {} });
  }
  if (method === 'session/cancel') return cancelled();
  const text = params.prompt[0].text;
  const done = (more) => send({ id, result: { stopReason: 'end_turn', ...more } });
  const fail = (code, message) => send({ id, error: { code, message } });
  const chunk = (text) => say('agent_message_chunk', { content: { type: 'text', text } });
  ${body}
});`;
  writeFileSync(join(folder, 'fake'), script);
  chmodSync(join(folder, 'fake'), 0o755);
  const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
  session = await openSession(agent, {
    cwd: folder,
    env: { PATH, STEPFAST_SLOT: '3', OTHER: 'x' },
    command: ['node', 'cli.js'],
    onEvent: (event) => events.push(event),
    ...options,
  });
  return session;
}

const onUnix = test.skipIf(process.platform === 'win32');
const without = (type: string): HostEvent[] => events.filter((event) => event.type !== type);

onUnix('the tools come from a server that knows its session', async () => {
  const host = await open('done({ tokens: 5 }); chunk(JSON.stringify(opened));');
  expect(host.session).toBe('s1');
  await host.send('go');
  const { spent } = await host.send('go');
  expect(spent).toEqual({ tokens: 10 });
  const probe = await open(
    'require("node:fs").writeFileSync("opened.json", JSON.stringify(opened)); done();',
  );
  await probe.send('go');
  const { mcpServers } = JSON.parse(readFileSync(join(folder, 'opened.json'), 'utf8'));
  const file = mcpServers[0].env.find(({ name }: { name: string }) => name === 'STEPFAST_SESSION_FILE').value;
  expect(mcpServers).toEqual([
    {
      name: 'stepfast',
      command: 'node',
      args: ['cli.js', 'mcp'],
      env: [
        { name: 'STEPFAST_SLOT', value: '3' },
        { name: 'STEPFAST_SESSION_FILE', value: file },
      ],
    },
  ]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ host: 'fake', session: 's1' });
  await probe.end(0);
  await probe.exited;
  expect(existsSync(file)).toBe(false);
});

onUnix(
  'updates are events: text in one piece, tools once, compactions, the cost of the session',
  async () => {
    const host = await open(`
    console.log('npm warn');
    chunk('I '); chunk('read.');
    say('tool_call', { toolCallId: '1', title: 'Read', status: 'pending' });
    say('tool_call_update', { toolCallId: '1', status: 'in_progress' });
    say('tool_call_update', { toolCallId: '1', status: 'completed' });
    say('tool_call', { toolCallId: '2', title: 'Wait', status: 'in_progress' });
    say('compaction_update', { compactionId: 'c', status: 'in_progress' });
    say('compaction_update', { compactionId: 'c', status: 'completed' });
    say('compaction_update', { compactionId: 'c', status: 'completed' });
    say('usage_update', { used: 9, size: 10, cost: { amount: 0.5, currency: 'USD' } });
    say('unheard_of', { content: 3 });
    chunk('Done.'); done();`);
    expect(await host.send('go')).toEqual({
      lastMessage: 'Done.',
      spent: { tokens: 0, cost: 0.5 },
      denials: [],
    });
    const tool = (id: string, name: string, open: boolean) => ({
      ...{ type: 'tool', id, name, open },
      ...(open ? { detail: name } : {}),
    });
    expect(without('activity')).toEqual([
      { type: 'text', text: 'I read.' },
      tool('1', 'Read', true),
      tool('1', 'Read', false),
      tool('2', 'Wait', true),
      { type: 'compacted', trigger: 'auto' },
      { type: 'text', text: 'Done.' },
      tool('2', 'Wait', false),
    ]);
  },
);

onUnix('only own tools are allowed, once; files and terminals are not offered', async () => {
  const host = await open(`
    const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({ kind, optionId: kind }));
    const answers = [];
    for (const title of ['own', 'shell'])
      answers.push((await ask('session/request_permission', { options, toolCall: { toolCallId: title, title } })).outcome);
    answers.push((await ask('session/request_permission', { toolCall: { toolCallId: 'x', title: 'x' } })).outcome);
    answers.push((await ask('fs/read_text_file', { path: '/etc/passwd' })).code);
    chunk(JSON.stringify(answers)); done();`);
  const { lastMessage, denials } = await host.send('go');
  expect(JSON.parse(lastMessage)).toEqual([
    { outcome: 'selected', optionId: 'allow_once' },
    { outcome: 'selected', optionId: 'reject_once' },
    { outcome: 'cancelled' },
    -32_601,
  ]);
  expect(denials).toEqual(['shell', 'x']);
  expect(events.filter(({ type }) => type === 'denied')).toHaveLength(2);
});

onUnix('a compaction counts only if the agent has reported it', async () => {
  const host = await open(
    "if (text === '/compact keep x') say('compaction_update', { compactionId: 'c', status: 'completed' }); done();",
  );
  expect(await host.compact()).toBe(false);
  expect(await host.compact('keep x')).toBe(true);
});

onUnix('an interrupt ends the turn, also where the agent reports it as an error', async () => {
  const host = await open(`
    if (text === 'one') cancelled = () => done({ stopReason: 'cancelled' });
    else cancelled = () => fail(-32603, 'aborted');
    say('tool_call', { toolCallId: text, title: 'Wait', status: 'in_progress' });`);
  for (const prompt of ['one', 'two']) {
    const turn = host.send(prompt);
    await expect.poll(() => events.some((event) => event.type === 'tool' && event.id === prompt)).toBe(true);
    await expect(host.send('more')).rejects.toMatchObject({ code: 'busy' });
    await host.interrupt();
    expect(await turn).toMatchObject({ interrupted: true });
  }
});

test.skipIf(process.platform === 'win32').each([
  ['fail(429, "Slow down.")', { kind: 'model_service', status: 429, text: 'Slow down.' }],
  ['fail(-32603, "Broken.")', { kind: 'model_service', text: 'Broken.' }],
  ['fail(400, "The prompt is too long.")', { kind: 'limit', text: 'The prompt is too long.' }],
  ['done({ stopReason: "max_turn_requests" })', { kind: 'limit', text: 'max_turn_requests' }],
  [
    'console.error("out of memory"); process.exit(7)',
    { kind: 'exit', code: 7, signal: null, text: 'out of memory' },
  ],
])('%s is the failure %j', async (body, failure) => {
  const host = await open(`chunk('Half.'); ${body};`);
  expect(await host.send('go')).toMatchObject({ lastMessage: '', failure });
});

onUnix('a session that cannot be opened fails in its first turn, then counts as ended', async () => {
  mkdirSync(join(folder, 'nowhere'));
  const host = await open('done();', { cwd: join(folder, 'nowhere') });
  expect(await host.send('go')).toMatchObject({
    failure: { kind: 'model_service', text: 'Authentication required' },
  });
  expect(await host.send('go')).toMatchObject({ failure: { kind: 'exit' } });
});

onUnix('a program whose session the driver refuses as it begins is ended', async () => {
  const onSession = async () => await Promise.reject(new Error('refused'));
  await expect(open('', { onSession })).rejects.toThrow('refused');
  expect(isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
});

onUnix('what a loaded conversation repeats is not said again', async () => {
  const host = await open('chunk("New."); done();', { resume: 's9' });
  expect(host.session).toBe('s9');
  expect(await host.send('go')).toMatchObject({ lastMessage: 'New.' });
  expect(without('activity')).toEqual([{ type: 'text', text: 'New.' }]);
});
