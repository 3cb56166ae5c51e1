/** OpenCode without a person, as the driver uses it. Each test is a fact that the driver depends on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { hostNamed } from '../../../src/hosts/index.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../../src/runtime/index.ts';
import { contextOf, lastUser, mainTurn, reply, summariser, toolsOf } from '../../../src/testing/index.ts';
import { createOpenCodeLab, type OpenCodeLab } from '../../kit/opencode.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN write the plan. }
`;

let lab: OpenCodeLab;
let driver: HostDriver;
let events: HostEvent[];
let sessions: DrivenSession[];

async function prepare(config: object = {}, installed = false): Promise<void> {
  lab = await createOpenCodeLab({ '.stepfast/workflows/w.yaml': workflow }, { installed, config });
}

beforeEach(async () => {
  driver = (await hostNamed('opencode')?.driver?.()) ?? expect.unreachable();
  events = [];
  sessions = [];
});
afterEach(async () => {
  for (const session of sessions) await session.end(0);
  await lab[Symbol.asyncDispose]();
});

async function open(options: Partial<DrivenOptions> = {}): Promise<DrivenSession> {
  const session = await driver.open({
    cwd: lab.project.root,
    env: lab.env,
    command: [process.execPath, join(packageRoot(), 'dist', 'cli.js')],
    plugin: packageRoot(),
    onEvent: (event) => events.push(event),
    ...options,
  });
  sessions.push(session);
  return session;
}

const waits = { timeout: 60_000 };
const of = (type: string) => events.filter((event) => event.type === type);
const never = () => new Promise<never>(() => {});
const main = () => lab.model.requestsOf('main');
const seen = (): string => contextOf(main().at(-1) ?? expect.unreachable());
const always = () => lab.model.always(mainTurn(), () => reply.text('Yes.'));

it('a turn reports its tools, its last message, and what the process has spent so far', async () => {
  await prepare();
  const { model, env, project } = lab;
  model.on(
    lastUser(/first/),
    reply.tool('read', { filePath: join(project.root, 'a.txt') }),
    reply.text('One.'),
  );
  model.on(lastUser(/second/), reply.text('Two.'));
  expect(await driver.find(env, project.root)).toMatchObject({ version: expect.stringMatching(/^1\./) });
  const known: string[] = [];
  const session = await open({ model: 'fake/m1', onSession: async (id) => void known.push(id) });
  expect(known).toEqual([session.session]);
  const first = await session.send('first');
  expect(first).toMatchObject({ lastMessage: 'One.', denials: [] });
  expect(first).not.toHaveProperty('failure');
  expect(of('tool')).toMatchObject([
    { name: 'read', open: true, detail: join(project.root, 'a.txt') },
    { name: 'read', open: false },
  ]);
  expect(of('text')).toEqual([{ type: 'text', text: 'One.' }]);
  const second = await session.send('second');
  expect(second.lastMessage).toBe('Two.');
  expect(second.spent.tokens).toBeGreaterThan(first.spent.tokens * 1.2);
  expect(second.spent.cost).toBeGreaterThan(first.spent.cost ?? 0);
  await session.end();
  await session.exited;
});

it('a compaction is true only once the host has reported it', async () => {
  await prepare();
  lab.model.always(summariser(), () => reply.text('SUMMARY'));
  always();
  const session = await open();
  expect(await session.compact()).toBe(false);
  await session.send('hello');
  expect(await session.compact('KEEP-THIS')).toBe(true);
  expect(of('compacted')).toEqual([{ type: 'compacted', trigger: 'manual' }]);
  expect(lab.model.all().some((each) => contextOf(each).includes('KEEP-THIS'))).toBe(true);
  expect(await session.send('more')).toMatchObject({ lastMessage: 'Yes.' });
  expect(seen()).toContain('SUMMARY');
});

it.each([false, true])(
  'hooks and tools of Stepfast are there once, installed by the person: %s',
  async (installed) => {
    await prepare({}, installed);
    const start = reply.tool('stepfast_workflow_start', { workflow: 'w' });
    lab.model.on(lastUser(/begin/), start, reply.text('Begun.'));
    lab.model.always(summariser(), () => reply.text('SUMMARY'));
    always();
    const session = await open();
    expect((await session.send('begin')).denials).toEqual([]);
    expect(await session.compact()).toBe(true);
    await session.send('more');
    expect(seen().match(/INSTRUCTIONS-PLAN/g)).toHaveLength(1);
    const tools = toolsOf(main().at(-1) ?? expect.unreachable());
    expect(tools.filter((name) => name.endsWith('_workflow_advance'))).toHaveLength(1);
  },
);

describe('permissions', () => {
  const write = reply.tool('bash', { command: 'touch b.txt', description: 'Write' });
  const written = (): boolean => existsSync(join(lab.project.root, 'b.txt'));

  it('what would ask a person is refused at once and reported', async () => {
    await prepare({ permission: { bash: 'ask' } });
    lab.model.on(lastUser(/go/), write, reply.text('It was refused.'));
    always();
    const session = await open();
    expect(await session.send('go')).toMatchObject({ denials: ['bash'], lastMessage: 'It was refused.' });
    expect(of('denied')).toEqual([{ type: 'denied', tool: 'bash' }]);
    expect(written()).toBe(false);
    expect((await session.send('more')).denials).toEqual([]);
  });

  it('tools of the workflow are allowed, others that it forbids are not there', async () => {
    await prepare({ permission: { bash: 'ask' } });
    lab.model.on(lastUser(/go/), write, reply.text('Done.'));
    const session = await open({ tools: ['Bash(touch *)'], cannot: ['WebFetch'] });
    expect(await session.send('go')).toMatchObject({ denials: [], lastMessage: 'Done.' });
    expect(written()).toBe(true);
    expect(toolsOf(main().at(-1) ?? expect.unreachable())).not.toContain('webfetch');
  });

  it('a mode that the host does not have is refused', async () => {
    await prepare();
    await expect(open({ permissions: 'bypassPermissions' })).rejects.toMatchObject({
      code: 'bad_permissions',
    });
  });
});

it('a turn whose model never answers is interrupted, and the session goes on', async () => {
  await prepare();
  lab.model.on(lastUser(/hang/), never);
  always();
  const session = await open();
  const turn = session.send('hang');
  await expect.poll(() => main().length, waits).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(await turn).not.toHaveProperty('failure');
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a tool that never ends is interrupted, and its call is closed', async () => {
  await prepare();
  lab.model.on(
    lastUser(/hang/),
    reply.tool('bash', { command: 'while :; do sleep 0.1; done', description: 'Hang' }),
  );
  always();
  const session = await open();
  const turn = session.send('hang');
  await expect.poll(() => of('tool').length, waits).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(of('tool').at(-1)).toMatchObject({ name: 'bash', open: false });
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a host that is killed in a turn is a failure of the turn, and its session can be resumed', async () => {
  await prepare();
  lab.model.on(lastUser(/hang/), never);
  always();
  const session = await open();
  await session.send('REMEMBER-THIS');
  const turn = session.send('hang');
  await expect.poll(() => main().length, waits).toBe(2);
  process.kill(-session.pid, 'SIGKILL');
  expect(await turn).toMatchObject({ lastMessage: '', failure: { kind: 'exit', signal: 'SIGKILL' } });
  expect(await session.send('more')).toMatchObject({ failure: { kind: 'exit' } });
  await session.exited;
  const again = await open({ resume: session.session });
  const { lastMessage, spent } = await again.send('go on');
  expect(lastMessage).toBe('Yes.');
  expect(spent.tokens).toBeGreaterThan(0);
  expect(seen()).toContain('REMEMBER-THIS');
});

it('a session that does not exist cannot be resumed', async () => {
  await prepare();
  const session = await open({ resume: 'ses_0000000000000000000000000' });
  expect((await session.send('go on')).failure).toMatchObject({ kind: 'exit', code: 1 });
});

it.each([
  [500, 'api_error', 'Internal server error'],
  [401, 'authentication_error', 'invalid x-api-key'],
])('trouble with the model service: %i %s', async (status, type, message) => {
  await prepare();
  // The host joins prompts without an answer between them.
  lab.model.always(lastUser(/^go$/), () => reply.error(status, type, message));
  always();
  const session = await open();
  const { failure, lastMessage } = await session.send('go');
  expect(lastMessage).toBe('');
  expect(failure).toMatchObject({ kind: 'model_service', text: expect.any(String) });
  expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a host that is not installed is reported', async () => {
  await prepare();
  const env = { ...lab.env, PATH: '/nowhere' };
  expect(await driver.find(env, lab.project.root)).toBeUndefined();
  await expect(open({ env })).rejects.toMatchObject({ code: 'host_missing' });
});
