/** Copilot CLI without a person, as the driver uses it. Each test is a fact that the driver depends on. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/cli/index.ts';
import { hostNamed } from '../../../src/hosts/index.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../../src/runtime/index.ts';
import { contextOf, lastUser, reply, toolsOf } from '../../../src/testing/index.ts';
import { drivenVariable, endProcesses, markedProcesses } from '../../../src/workspace/index.ts';
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

it('a new session has another id, another conversation, and has spent nothing', async () => {
  always();
  const one = await open();
  const { spent } = await one.send('ALPHA');
  await one.end();
  const two = await open();
  expect(two.session).not.toBe(one.session);
  expect((await two.send('BETA')).spent.tokens).toBeLessThan(spent.tokens * 1.2);
  expect(seen()).not.toContain('ALPHA');
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

it('a turn whose model never answers is interrupted, and the session goes on', async () => {
  lab.model.on(lastUser(/hang/), never);
  always();
  const session = await open();
  const turn = session.send('hang');
  await expect.poll(() => lab.model.requestsOf('main').length).toBe(1);
  await session.interrupt();
  expect(await turn).toMatchObject({ interrupted: true });
  expect(await turn).not.toHaveProperty('failure');
  expect(await session.send('next')).toMatchObject({ lastMessage: 'Yes.' });
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

it.each([
  [401, 'authentication_error', 'invalid x-api-key', 'model_service'],
  [429, 'rate_limit_error', 'Too many requests', 'model_service'],
  [400, 'invalid_request_error', 'prompt is too long: 200000 tokens > 128000 maximum', 'limit'],
])('trouble with the model service is told: %i %s', async (status, type, message, kind) => {
  let troubled = true;
  lab.model.always(
    () => true,
    () => (troubled ? reply.error(status, type, message, { 'retry-after': '1' }) : reply.text('Yes.')),
  );
  const session = await open();
  const { failure, lastMessage } = await session.send('go');
  expect(lastMessage).toBe('');
  expect(failure).toMatchObject({ kind });
  expect(of('retry')[0]).toEqual({ type: 'retry', status });
  troubled = false;
  expect(await session.send('again')).toMatchObject({ lastMessage: 'Yes.' });
});

it('what a session leaves behind is found by its mark; a gate that it started has none', async () => {
  const mark = randomUUID();
  const gate = 'echo "[$STEPFAST_DRIVEN]" > gate.txt';
  lab.project.write({
    '.stepfast/workflows/w.yaml': `name: w\ndescription: Plans\nsteps:\n  - { id: plan, type: action, instructions: Plan., gate: [{ run: ${JSON.stringify(gate)} }] }\n`,
  });
  lab.project.trust('w');
  const left = 'echo "[$STEPFAST_DRIVEN]" > tool.txt; setsid sleep 1234 >/dev/null 2>&1 </dev/null &';
  lab.model.on(
    lastUser(/go/),
    call.start('w'),
    call.bash(left),
    call.advance('Planned.'),
    reply.text('Done.'),
  );
  const session = await open({ tools: ['Bash'], env: { ...lab.env, [drivenVariable]: mark } });
  expect(await session.send('go')).toMatchObject({ lastMessage: 'Done.', denials: [] });
  const read = (name: string): string => readFileSync(join(lab.project.root, name), 'utf8').trim();
  expect(read('tool.txt')).toBe(`[${mark}]`);
  await expect.poll(() => existsSync(join(lab.project.root, 'gate.txt'))).toBe(true);
  expect(read('gate.txt')).toBe('[]');
  await session.end();
  const found = markedProcesses(mark);
  expect(found.map(({ command }) => command)).toEqual(['sleep 1234']);
  await endProcesses(found);
  await expect.poll(() => markedProcesses(mark)).toEqual([]);
});

it('a host that is not installed is reported', async () => {
  const env = { ...lab.env, PATH: '/nowhere' };
  expect(await driver.find(env, lab.project.root)).toBeUndefined();
  await expect(open({ env })).rejects.toMatchObject({ code: 'host_missing' });
});
