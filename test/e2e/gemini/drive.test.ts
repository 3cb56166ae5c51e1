/** Gemini CLI over the Agent Client Protocol, as the driver uses it. Each test is a fact that the driver depends on. */
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { contextOf, lastUser, reply, toolsOf } from '../../../src/testing/index.ts';
import { createGeminiStage, type GeminiStage, own, shell } from '../../kit/gemini.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
`;

let stage: GeminiStage;
beforeEach(async () => {
  stage = await createGeminiStage({ '.stepfast/workflows/w.yaml': workflow });
  stage.project.trust('w');
});
afterEach(async () => await stage[Symbol.asyncDispose]());

const of = (type: string) => stage.events.filter((event) => event.type === type);
const there = (file: string): boolean => existsSync(join(stage.project.root, file));
const never = () => new Promise<never>(() => {});

it('a turn reports its tools, its last message and its tokens; only the tools of Stepfast are allowed', async () => {
  const { model, project } = stage;
  model.on(
    lastUser(/first/),
    own('workflow_start', { workflow: 'w' }),
    shell('touch b.txt'),
    reply.tool('read_file', { file_path: 'a.txt' }),
    reply.text('One.'),
  );
  const known: string[] = [];
  const session = await stage.open({ onSession: async (id) => void known.push(id) });
  expect(known).toEqual([session.session]);
  const first = await session.send('first');
  expect(first).toMatchObject({ lastMessage: 'One.', denials: ['run_shell_command'] });
  expect(first).not.toHaveProperty('failure');
  expect(first.spent.tokens).toBeGreaterThan(4 * 20);
  expect(there('b.txt')).toBe(false);
  expect(of('denied')).toEqual([{ type: 'denied', tool: 'run_shell_command' }]);
  expect(of('text')).toEqual([{ type: 'text', text: 'One.' }]);
  expect(of('tool').map((event) => event.type === 'tool' && [event.name, event.open])).toEqual([
    ['mcp_stepfast_workflow_start', true],
    ['mcp_stepfast_workflow_start', false],
    ['read_file', true],
    ['read_file', false],
  ]);
  // The server knows whose tools it serves.
  const { sessions } = await (await project.onlyRun()).state();
  expect(sessions[session.session]).toMatchObject({ host: 'gemini', witness: 'driver' });
  model.on(lastUser(/second/), reply.text('Two.'));
  const second = await session.send('second');
  expect(second.spent.tokens).toBeGreaterThan(first.spent.tokens);
  expect(second).toMatchObject({ lastMessage: 'Two.', denials: [] });
  // It cannot be asked to compress: the driver opens a new session.
  expect(await session.compact()).toBe(false);
  await session.end();
  await session.exited;
  expect(() => process.kill(session.pid, 0)).toThrow();
});

it("the workflow's lists hold: what is listed needs no question, all else is not there", async () => {
  const { model } = stage;
  const session = await stage.open({
    tools: ['Bash(touch *)', 'Read', 'replace'],
    cannot: ['Edit', 'Bash(touch secret*)'],
  });
  model.on(
    lastUser(/go/),
    shell('touch b.txt'),
    shell('touch secret.txt'),
    shell('cp a.txt c.txt'),
    reply.tool('write_file', { file_path: 'd.txt', content: 'x' }),
    reply.tool('replace', { file_path: 'a.txt', old_string: 'a', new_string: 'b', instruction: 'x' }),
    own('workflow_start', { workflow: 'w' }),
    reply.text('Done.'),
  );
  expect(await session.send('go')).toMatchObject({ lastMessage: 'Done.' });
  expect(['b.txt', 'secret.txt', 'c.txt', 'd.txt'].map(there)).toEqual([true, false, false, false]);
  const [request] = model.requestsOf('main');
  const listed = toolsOf(request ?? expect.unreachable());
  expect(listed).toEqual(
    expect.arrayContaining(['run_shell_command', 'read_file', 'mcp_stepfast_workflow_start']),
  );
  expect(listed).not.toEqual(expect.arrayContaining(['replace']));
  expect(listed).not.toEqual(expect.arrayContaining(['write_file']));
  expect(await stage.project.onlyRun()).toBeDefined();
});

it('an interrupted turn ends, and the session goes on; a resumed one knows its conversation', async () => {
  const { model } = stage;
  model.on(lastUser(/long/), () => {
    void session.interrupt();
    return never();
  });
  const session = await stage.open();
  expect(await session.send('long')).toMatchObject({ interrupted: true, denials: [] });
  model.on(lastUser(/next/), reply.text('Going on with MARKER.'));
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Going on with MARKER.' });
  await session.end();
  // In the same minute the host would write over the file of the conversation.
  const chats = join(stage.home, '.gemini', 'tmp', 'project', 'chats');
  for (const name of readdirSync(chats))
    renameSync(join(chats, name), join(chats, name.replace(/T\d\d-\d\d/, 'T00-00')));
  const resumed = await stage.open({ resume: session.session });
  expect(resumed.session).toBe(session.session);
  model.on(lastUser(/again/), reply.text('Back.'));
  expect(await resumed.send('again')).toMatchObject({ lastMessage: expect.stringMatching(/Back\.$/) });
  const last = model.requestsOf('main').at(-1);
  expect(contextOf(last ?? expect.unreachable())).toContain('MARKER');
});

it('trouble with the model service has its status, and the session goes on', async () => {
  const { model } = stage;
  const session = await stage.open();
  model.on(lastUser(/busy/), reply.error(429, 'RESOURCE_EXHAUSTED', 'Slow down.'));
  expect(await session.send('busy')).toMatchObject({ failure: { kind: 'model_service', status: 429 } });
  model.on(lastUser(/broken/), reply.error(500, 'INTERNAL', 'Broken.'));
  expect(await session.send('broken')).toMatchObject({ failure: { kind: 'model_service', status: 500 } });
  model.on(lastUser(/fine/), reply.text('Fine.'));
  expect(await session.send('fine')).toMatchObject({ lastMessage: 'Fine.' });
});

it('a process that ends in the turn is a failure, and so is one without a login', async () => {
  const { model } = stage;
  const session = await stage.open();
  model.on(lastUser(/die/), () => {
    process.kill(-session.pid, 'SIGKILL');
    return never();
  });
  const failure = { kind: 'exit' };
  expect(await session.send('die')).toMatchObject({ failure });
  expect(await session.send('more')).toMatchObject({ failure });
  await session.exited;
  const { GEMINI_API_KEY: _key, ...env } = stage.env;
  const without = await stage.open({ env });
  expect(await without.send('hello')).toMatchObject({ failure: { kind: 'model_service' } });
  expect(await without.send('hello')).toMatchObject({ failure: { kind: 'exit' } });
  await expect(stage.open({ permissions: 'yolo' })).rejects.toMatchObject({ code: 'bad_permissions' });
});
