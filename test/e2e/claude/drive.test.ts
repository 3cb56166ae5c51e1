/** Claude Code without a person, as the driver uses it. Each test is a fact that the driver depends on. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { contextOf, lastUser, reply, subagent, toolCall, toolsOf } from '../../../src/testing/index.ts';
import { drivenVariable, endProcesses, markedProcesses } from '../../../src/workspace/index.ts';
import { createDrivenProject, type DrivenProject } from '../../kit/driven.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN write the plan. }
`;

let stage: DrivenProject;
beforeEach(async () => {
  stage = await createDrivenProject({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(async () => await stage[Symbol.asyncDispose]());

const of = (type: string) => stage.events.filter((event) => event.type === type);
const never = () => new Promise<never>(() => {});
const seen = (): string => contextOf(stage.model.requestsOf('main').at(-1) ?? expect.unreachable());

it('a turn reports its tools, its last message, and what the process has spent so far', async () => {
  const { model, driver, env, project } = stage;
  model.on(
    lastUser(/first/),
    reply.tool('Read', { file_path: join(project.root, 'a.txt') }),
    reply.text('One.'),
  );
  model.on(lastUser(/second/), reply.text('Two.'));
  expect(await driver.find(env, project.root)).toMatchObject({ version: expect.stringMatching(/^2\./) });
  const known: string[] = [];
  const session = await stage.open({
    model: 'claude-sonnet-5-5',
    onSession: async (id) => void known.push(id),
  });
  expect(known).toEqual([session.session]);
  const first = await session.send('first');
  expect(first).toMatchObject({ lastMessage: 'One.', denials: [] });
  expect(first).not.toHaveProperty('failure');
  const [opened, closed] = of('tool');
  expect(opened).toMatchObject({ name: 'Read', open: true, detail: join(project.root, 'a.txt') });
  expect(closed).toEqual({ type: 'tool', id: expect.anything(), name: 'Read', open: false });
  expect(of('text')).toEqual([{ type: 'text', text: 'One.' }]);
  const second = await session.send('second');
  expect(second.spent.tokens).toBeGreaterThan(first.spent.tokens * 1.2);
  expect(second.spent.cost).toBeGreaterThan(first.spent.cost ?? 0);
  expect(new Set(model.requestsOf('main').map((each) => each.session))).toEqual(new Set(known));
  expect(model.requestsOf('main').map(({ body }) => body.model)).toEqual(Array(3).fill('claude-sonnet-5-5'));
  await session.end();
  await session.exited;
});

it('a new session has another id, another conversation, and has spent nothing', async () => {
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const one = await stage.open();
  const { spent } = await one.send('ALPHA');
  await one.end();
  const two = await stage.open();
  expect(two.session).not.toBe(one.session);
  expect((await two.send('BETA')).spent.tokens).toBeLessThan(spent.tokens * 1.2);
  expect(seen()).not.toContain('ALPHA');
});

it('a compaction is true only once the host has reported it', async () => {
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const session = await stage.open();
  expect(await session.compact()).toBe(false);
  await session.send('hello');
  expect(await session.compact('KEEP-THIS')).toBe(true);
  expect(of('compacted')).toEqual([{ type: 'compacted', trigger: 'manual' }]);
  expect(stage.model.all().some((each) => contextOf(each).includes('KEEP-THIS'))).toBe(true);
  expect(await session.send('more')).toMatchObject({ lastMessage: 'Yes.' });
});

it.each([false, true])(
  'hooks and tools of Stepfast are there once, installed by the person: %s',
  async (installed) => {
    const { model } = stage;
    if (installed) {
      // The host copies what it installs, so not a checkout with its dependencies.
      const copy = join(stage.project.root, '..', 'plugin');
      for (const name of ['.claude-plugin', 'dist', 'hooks', 'skills'])
        cpSync(join(packageRoot(), name), join(copy, name), { recursive: true });
      stage.program('plugin', 'marketplace', 'add', copy);
      stage.program('plugin', 'install', 'stepfast@stepfast', '--scope', 'local');
    }
    model.on(lastUser(/begin/), toolCall.start('w'), reply.text('Begun.'));
    model.always(lastUser(/./), () => reply.text('Yes.'));
    const session = await stage.open({ env: { ...stage.env, ENABLE_TOOL_SEARCH: 'false' } });
    expect((await session.send('begin')).denials).toEqual([]);
    expect(await session.compact()).toBe(true);
    await session.send('more');
    expect(seen().match(/INSTRUCTIONS-PLAN/g)).toHaveLength(1);
    const tools = toolsOf(model.requestsOf('main').at(-1) ?? expect.unreachable());
    expect(tools.filter((name) => name.endsWith('__workflow_advance'))).toHaveLength(1);
  },
);

describe('permissions', () => {
  const write = reply.tool('Bash', { command: 'touch b.txt', description: 'Write' });
  const written = (): boolean => existsSync(join(stage.project.root, 'b.txt'));

  it('what would ask a person is refused at once and reported', async () => {
    stage.model.on(lastUser(/go/), write, reply.text('It was refused.'));
    stage.model.always(lastUser(/./), () => reply.text('Yes.'));
    const session = await stage.open();
    expect(await session.send('go')).toMatchObject({ denials: ['Bash'], lastMessage: 'It was refused.' });
    expect(of('denied')).toEqual([{ type: 'denied', tool: 'Bash' }]);
    expect(written()).toBe(false);
    expect((await session.send('more')).denials).toEqual([]);
  });

  it('tools of the workflow are allowed, others that it forbids are not there', async () => {
    stage.model.on(lastUser(/go/), write, reply.text('Done.'));
    const session = await stage.open({ tools: ['Bash(touch *)'], cannot: ['WebFetch'] });
    expect(await session.send('go')).toMatchObject({ denials: [], lastMessage: 'Done.' });
    expect(written()).toBe(true);
    expect(toolsOf(stage.model.requestsOf('main').at(-1) ?? expect.unreachable())).not.toContain('WebFetch');
  });

  it('a permission mode of the workflow applies', async () => {
    const edit = reply.tool('Write', { file_path: join(stage.project.root, 'b.txt'), content: 'x' });
    stage.model.on(lastUser(/go/), edit, reply.text('Done.'));
    const session = await stage.open({ permissions: 'acceptEdits' });
    expect((await session.send('go')).denials).toEqual([]);
    expect(written()).toBe(true);
  });

  it('a mode that bypasses permissions is refused', async () => {
    const opened = stage.open({ permissions: 'bypassPermissions' });
    await expect(opened).rejects.toMatchObject({ code: 'bad_permissions' });
  });
});

it('a turn whose model never answers is interrupted, and the session goes on', async () => {
  stage.model.on(lastUser(/hang/), never);
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const session = await stage.open();
  const turn = session.send('hang');
  await expect.poll(() => stage.model.requestsOf('main').length).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(await turn).not.toHaveProperty('failure');
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a tool that never ends is interrupted, and its call is closed', async () => {
  const hang = reply.tool('Bash', { command: 'while :; do sleep 0.1; done', description: 'Hang' });
  stage.model.on(lastUser(/hang/), hang);
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const session = await stage.open({ tools: ['Bash'] });
  const turn = session.send('hang');
  await expect.poll(() => of('tool').length).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(of('tool').at(-1)).toMatchObject({ name: 'Bash', open: false });
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a host that is killed in a turn is a failure of the turn, and its session can be resumed', async () => {
  stage.model.on(lastUser(/hang/), never);
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const session = await stage.open();
  await session.send('REMEMBER-THIS');
  const turn = session.send('hang');
  await expect.poll(() => stage.model.requestsOf('main').length).toBe(2);
  process.kill(-session.pid, 'SIGKILL');
  expect(await turn).toMatchObject({ lastMessage: '', failure: { kind: 'exit', signal: 'SIGKILL' } });
  expect(await session.send('more')).toMatchObject({ failure: { kind: 'exit' } });
  await session.exited;
  const again = await stage.open({ resume: session.session });
  expect(await again.send('go on')).toMatchObject({ lastMessage: 'Yes.' });
  expect(seen()).toContain('REMEMBER-THIS');
  expect(stage.model.requestsOf('main').at(-1)?.session).toBe(session.session);
});

it('a session that was ended is resumed, and its new process has spent nothing', async () => {
  stage.model.always(lastUser(/./), () => reply.text('Yes.'));
  const session = await stage.open();
  for (const prompt of ['one', 'two', 'three']) await session.send(prompt);
  const before = await session.send('four');
  await session.end();
  const again = await stage.open({ resume: session.session });
  const { spent } = await again.send('five');
  expect(spent.tokens).toBeLessThan(before.spent.tokens / 2);
  expect(spent.cost).toBeLessThan((before.spent.cost ?? 0) / 2);
});

it('a session that does not exist cannot be resumed', async () => {
  const session = await stage.open({ resume: randomUUID() });
  const { failure } = await session.send('go on');
  expect(failure).toMatchObject({ kind: 'exit', code: 1 });
});

describe('trouble with the model service', () => {
  const reset = Math.floor(Date.now() / 1000) + 7200;
  const unified = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(reset),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  };

  it.each([
    [429, 'rate_limit_error', 'Too many requests', { 'retry-after': '1' }, {}],
    [429, 'rate_limit_error', `Claude AI usage limit reached|${reset}`, {}, { resetAt: reset * 1000 }],
    [500, 'api_error', 'Internal server error', {}, {}],
    [529, 'overloaded_error', 'Overloaded', {}, {}],
    [401, 'authentication_error', 'invalid x-api-key', {}, {}],
  ])('%i %s: %s', async (status, type, message, headers, more) => {
    stage.model.on(lastUser(/go/), ...Array(2).fill(reply.error(status, type, message, headers)));
    stage.model.always(lastUser(/./), () => reply.text('Yes.'));
    const session = await stage.open({ env: { ...stage.env, CLAUDE_CODE_MAX_RETRIES: '1' } });
    const { failure, lastMessage } = await session.send('go');
    expect(lastMessage).toBe('');
    expect(failure).toEqual({ kind: 'model_service', status, text: expect.any(String), ...more });
    expect(of('retry')).toEqual([{ type: 'retry', status, waitMs: expect.any(Number) }]);
    expect(of('text')).toEqual([]);
    expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
  });

  it('the usage limit of a subscription has the time of its reset, and is not retried', async () => {
    const { ANTHROPIC_API_KEY: _key, ...env } = stage.env;
    stage.model.on(lastUser(/go/), reply.error(429, 'rate_limit_error', 'Limit', unified));
    const session = await stage.open({ env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-dummy' } });
    const { failure } = await session.send('go');
    expect(failure).toMatchObject({ kind: 'model_service', status: 429, resetAt: reset * 1000 });
    expect(of('retry')).toEqual([]);
  });
});

it('a turn ends when the subagents that it left in the background have ended', async () => {
  let release: (() => void) | undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.model.on(lastUser(/go/), toolCall.agent('INNER work', { background: true }), reply.text('Started.'));
  stage.model.on(subagent(), async () => {
    await released;
    return reply.text('Inner done.');
  });
  stage.model.always(lastUser(/./), () => reply.text('All done.'));
  const session = await stage.open({ tools: ['Agent'] });
  const turn = session.send('go');
  await expect.poll(() => of('text')).toContainEqual({ type: 'text', text: 'Started.' });
  release?.();
  expect(await turn).toMatchObject({ lastMessage: 'All done.' });
});

it('a turn ends when the model has heard of every subagent that ended while it wrote its answer', async () => {
  const inner = toolCall.agent('INNER work', { background: true });
  const answer = async () => {
    await setTimeout(1_000);
    return reply.text('Started.');
  };
  stage.model.on(lastUser(/go/), inner, inner, answer);
  stage.model.always(subagent(), () => reply.text('Inner done.'));
  stage.model.always(lastUser(/./), () => reply.text('All done.'));
  const session = await stage.open({ tools: ['Agent'] });
  expect(await session.send('go')).toMatchObject({ lastMessage: 'All done.' });
  expect(seen().match(/<task-notification>/g)).toHaveLength(2);
});

it('what a session leaves behind is found by its mark; a gate that it started has none', async () => {
  const mark = randomUUID();
  const gate = 'echo "[$STEPFAST_DRIVEN]" > gate.txt';
  stage.project.write({
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Plans\nsteps:\n  - { id: plan, type: action, instructions: Plan., gate: [{ run: ${JSON.stringify(gate)} }] }\n`,
  });
  stage.project.trust('w');
  const left = 'echo "[$STEPFAST_DRIVEN]" > tool.txt; setsid sleep 1234 >/dev/null 2>&1 </dev/null &';
  stage.model.on(
    lastUser(/go/),
    toolCall.start('w'),
    reply.tool('Bash', { command: left, description: 'Leave' }),
    toolCall.advance('Planned.'),
    reply.text('Done.'),
  );
  const session = await stage.open({ tools: ['Bash'], env: { ...stage.env, [drivenVariable]: mark } });
  expect(await session.send('go')).toMatchObject({ lastMessage: 'Done.', denials: [] });
  const read = (name: string): string => readFileSync(join(stage.project.root, name), 'utf8').trim();
  expect(read('tool.txt')).toBe(`[${mark}]`);
  await expect.poll(() => existsSync(join(stage.project.root, 'gate.txt'))).toBe(true);
  expect(read('gate.txt')).toBe('[]');
  await session.end();
  const found = markedProcesses(mark);
  expect(found.map(({ command }) => command)).toEqual(['sleep 1234']);
  await endProcesses(found);
  await expect.poll(() => markedProcesses(mark)).toEqual([]);
});

it('a host that is not installed is reported', async () => {
  const env = { ...stage.env, PATH: '/nowhere' };
  expect(await stage.driver.find(env, stage.project.root)).toBeUndefined();
  await expect(stage.open({ env })).rejects.toMatchObject({ code: 'host_missing' });
});
