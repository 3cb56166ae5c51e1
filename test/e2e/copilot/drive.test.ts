/** Copilot CLI without a person, as the driver uses it. Each test is a fact that the driver depends on. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { hostNamed } from '../../../src/hosts/index.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../../src/runtime/index.ts';
import { contextOf, lastUser, reply, toolsOf } from '../../../src/testing/index.ts';
import { type CopilotLab, call, createCopilotLab } from '../../kit/copilot.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN write the plan. }
`;

let lab: CopilotLab;
let driver: HostDriver;
let events: HostEvent[];
let sessions: DrivenSession[];
beforeEach(async () => {
  lab = await createCopilotLab({ '.stepfast/workflows/w.yaml': workflow });
  driver = (await hostNamed('copilot')?.driver?.()) ?? expect.unreachable();
  [events, sessions] = [[], []];
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
    onEvent: (event) => void events.push(event),
    ...options,
  });
  sessions.push(session);
  return session;
}

const of = (type: string) => events.filter((event) => event.type === type);
const never = () => new Promise<never>(() => {});
const seen = (): string => lab.contexts().at(-1) ?? '';
const always = (): void => lab.model.always(lastUser(/./), () => reply.text('Yes.'));

it('a turn reports its tools, its last message, and what the session has spent so far', async () => {
  const path = join(lab.project.root, 'a.txt');
  lab.model.on(lastUser(/first/), call.view(path), reply.text('One.'));
  lab.model.on(lastUser(/second/), reply.text('Two.'));
  expect(await driver.find(lab.env, lab.project.root)).toMatchObject({ version: '1.0.102' });
  const known: string[] = [];
  const session = await open({ model: 'claude-sonnet-4.6', onSession: async (id) => void known.push(id) });
  expect(known).toEqual([session.session]);
  const first = await session.send('first');
  expect(first).toMatchObject({ lastMessage: 'One.', denials: [] });
  expect(first).not.toHaveProperty('failure');
  const [opened, closed] = of('tool');
  expect(opened).toMatchObject({ name: 'view', open: true, detail: path });
  expect(closed).toEqual({ type: 'tool', id: expect.anything(), name: 'view', open: false });
  expect(of('text')).toEqual([{ type: 'text', text: 'One.' }]);
  const second = await session.send('second');
  expect(second.spent.tokens).toBeGreaterThan(first.spent.tokens * 1.2);
  expect(seen()).toContain('first');
  expect(lab.sessions()).toEqual(known);
  await session.end();
  await session.exited;
});

it('a compaction is true only once the host has reported it', async () => {
  always();
  const session = await open();
  await session.send('hello');
  expect(await session.compact('KEEP-THIS')).toBe(true);
  expect(of('compacted')).toEqual([{ type: 'compacted', trigger: 'manual' }]);
  expect(lab.model.all().some((each) => contextOf(each).includes('KEEP-THIS'))).toBe(true);
  expect(await session.send('more')).toMatchObject({ lastMessage: 'Yes.' });
  const other = await open();
  expect(await other.compact()).toBe(false);
});

it.each([false, true])(
  'hooks and tools of Stepfast are there once, installed by the person: %s',
  async (installed) => {
    if (installed)
      expect(await lab.stepfast('init', '--host', 'copilot', '--yes')).toMatchObject({ code: 0 });
    lab.model.on(lastUser(/begin/), call.start('w'), reply.text('Begun.'));
    always();
    const session = await open();
    expect((await session.send('begin')).denials).toEqual([]);
    expect(await session.compact()).toBe(true);
    await session.send('more');
    expect(seen().match(/INSTRUCTIONS-PLAN/g)).toHaveLength(1);
    const tools = toolsOf(lab.model.requestsOf('main').at(-1) ?? expect.unreachable());
    expect(tools.filter((name) => name.endsWith('workflow_advance'))).toHaveLength(1);
  },
);

describe('permissions', () => {
  const write = call.bash('touch b.txt');
  const written = (): boolean => existsSync(join(lab.project.root, 'b.txt'));

  it('what would ask a person is refused at once and reported', async () => {
    lab.model.on(lastUser(/go/), write, reply.text('It was refused.'));
    always();
    const session = await open();
    expect(await session.send('go')).toMatchObject({ denials: ['bash'], lastMessage: 'It was refused.' });
    expect(of('denied')).toEqual([{ type: 'denied', tool: 'bash' }]);
    expect(written()).toBe(false);
    expect((await session.send('more')).denials).toEqual([]);
  });

  it('tools of the workflow are allowed, others that it forbids are not there', async () => {
    lab.model.on(lastUser(/go/), write, reply.text('Done.'));
    const session = await open({ tools: ['Bash(touch *)'], cannot: ['glob'] });
    expect(await session.send('go')).toMatchObject({ denials: [], lastMessage: 'Done.' });
    expect(written()).toBe(true);
    const tools = toolsOf(lab.model.requestsOf('main').at(-1) ?? expect.unreachable());
    expect(tools).toContain('grep');
    expect(tools).not.toContain('glob');
  });

  it('a mode that bypasses permissions is refused', async () => {
    await expect(open({ permissions: 'allow-all' })).rejects.toMatchObject({ code: 'bad_permissions' });
  });
});

it('a tool that never ends is interrupted, and its call is closed', async () => {
  lab.model.on(lastUser(/hang/), call.bash('while :; do sleep 0.1; done'));
  always();
  const session = await open({ tools: ['Bash'] });
  const turn = session.send('hang');
  await expect.poll(() => of('tool').length).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(of('tool').at(-1)).toMatchObject({ name: 'bash', open: false });
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a host that is killed in a turn is a failure of the turn, and its session can be resumed', async () => {
  lab.model.on(lastUser(/hang/), never);
  always();
  const session = await open();
  await session.send('REMEMBER-THIS');
  const turn = session.send('hang');
  await expect.poll(() => lab.model.requestsOf('main').length).toBe(2);
  process.kill(-session.pid, 'SIGKILL');
  expect(await turn).toMatchObject({ lastMessage: '', failure: { kind: 'exit', signal: 'SIGKILL' } });
  expect(await session.send('more')).toMatchObject({ failure: { kind: 'exit' } });
  await session.exited;
  const again = await open({ resume: session.session });
  const { lastMessage, spent } = await again.send('go on');
  expect(lastMessage).toBe('Yes.');
  expect(spent.tokens).toBeGreaterThan(0);
  expect(seen()).toContain('REMEMBER-THIS');
  expect(lab.sessions()).toEqual([session.session]);
});

it('a session that does not exist cannot be resumed', async () => {
  const session = await open({ resume: randomUUID() });
  const { failure } = await session.send('go on');
  expect(failure).toMatchObject({ kind: 'exit', code: 1 });
});

it('a context that is too long is told apart from trouble with the model service', async () => {
  const message = 'prompt is too long: 200000 tokens > 128000 maximum';
  let troubled = true;
  lab.model.always(
    () => true,
    () => (troubled ? reply.error(400, 'invalid_request_error', message) : reply.text('Yes.')),
  );
  const session = await open();
  const { failure, lastMessage } = await session.send('go');
  expect(lastMessage).toBe('');
  expect(failure).toMatchObject({ kind: 'limit' });
  expect(of('retry')[0]).toEqual({ type: 'retry', status: 400 });
  troubled = false;
  expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
});

it('a host that is not installed is reported', async () => {
  const env = { ...lab.env, PATH: '/nowhere' };
  expect(await driver.find(env, lab.project.root)).toBeUndefined();
  await expect(open({ env })).rejects.toMatchObject({ code: 'host_missing' });
});
