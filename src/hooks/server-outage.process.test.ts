import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeServer, startFakeServer } from '../../test/kit/fake-server.ts';
import { createHookKit, type HookKit, patientMs } from '../../test/kit/hooks.ts';
import { createMemoryStore } from '../../test/kit/memory-store.ts';
import { hashDefinition } from '../definition/index.ts';
import { createEngine, type Engine, newRun } from '../engine/index.ts';
import { StepfastError } from '../errors.ts';
import { lastKnownText } from '../messages/index.ts';
import { isRefused } from '../runtime/index.ts';
import { lastKnownRun } from './last-known-run.ts';
import { noteOutage, patienceFor } from './server-outage.ts';
import { openSessionRecord } from './session-record.ts';

const workflow = `name: w
description: Two steps, stops are held
stop: hold
agents: { looker: { description: Looks, cannot: [Edit] } }
steps:
  - { id: plan, type: action, agent: looker, instructions: "Write the plan of the bridge." }
  - { id: build, type: action, instructions: Build. }
`;

let engine: Engine;
let server: FakeServer;
let kit: HookKit;
beforeEach(async () => {
  engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  server = await startFakeServer(engine);
  kit = createHookKit({ '.stepfast/workflows/w.yaml': workflow });
  kit.project.env.STEPFAST_URL = server.url;
  kit.project.env.STEPFAST_TOKEN = server.token;
});
afterEach(async () => {
  await server.close();
  kit[Symbol.dispose]();
});

async function started(session = 'a'): Promise<{ run: string; at: string }> {
  const who = { session, host: 'claude-code', witness: 'hooks' as const };
  const { run = '', reply } = await kit.project.runtime().start({ workflow: 'w' }, who);
  if (isRefused(reply)) throw new Error(JSON.stringify(reply));
  return { run, at: reply.at ?? '' };
}

function comeBack(): void {
  server.fault = () => 'none';
  kit.project.env.STEPFAST_HOOK_WAIT_MS = patientMs;
}

const environment = (env: Record<string, string>, now = Date.now()) => ({
  env,
  commandEnv: env,
  home: '',
  now: () => now,
  pid: undefined,
  program: '',
  maxWaitMs: 4000,
});

describe('a run on a server', () => {
  test('a session that begins is briefed from the server, and bound there', async () => {
    const { run, at } = await started();
    const { context } = await kit.fire('SessionStart', { source: 'startup' });
    expect(context).toContain('Write the plan of the bridge.');
    expect(context).toContain(at);
    kit.accept(context);
    await kit.called('a', { run, at });
    expect((await engine.view(run))?.state.sessions.a?.worktree).toMatch(/^\{project_root\}@/);
  });

  test('what others did meanwhile is told, not what was kept', async () => {
    const { run, at } = await started();
    await kit.fire('SessionStart', { source: 'startup' });
    await kit.fire('SessionEnd', { reason: 'other' });
    await engine.execute(run, { type: 'advance', now: Date.now(), at, output: 'Planned elsewhere.' });
    await kit.fire('SessionStart', { session_id: 'b', source: 'startup' });
    const { context } = await kit.fire('UserPromptSubmit', { session_id: 'b', prompt: 'continue' });
    expect(context).toContain('Planned elsewhere.');
  });

  test('stops are held by it, and tools denied, as for a run of files', async () => {
    const { run, at } = await started();
    await kit.fire('SessionStart', { source: 'startup' });
    await kit.called('a', { run, at });
    const denied = await kit.fire('PreToolUse', { tool_name: 'Edit', tool_input: {}, tool_use_id: 'x' });
    expect(denied.json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect((await kit.fire('Stop')).held).toBeDefined();
  });

  test('tools cost no request while nothing has changed', async () => {
    const { run, at } = await started();
    const { context } = await kit.fire('SessionStart', { source: 'startup' });
    kit.accept(context);
    await kit.called('a', { run, at });
    await kit.fire('PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 'y' });
    const { length } = server.requests;
    for (let count = 0; count < 5; count += 1)
      await kit.fire('PreToolUse', { tool_name: 'Read', tool_input: {}, tool_use_id: `z${count}` });
    expect(server.requests).toHaveLength(length);
  });
});

describe.each(['hang', 'refuse'] as const)('a server that does not answer: %s', (how) => {
  // A hook that asks a server that hangs ends only by its own limit.
  const goAway = (): void => {
    delete kit.project.env.STEPFAST_HOOK_WAIT_MS;
    server.fault = () =>
      how === 'hang' ? 'hang' : { status: 401, body: '{"code":"unauthorized","message":"x"}' };
  };

  test('a session that begins is told what was known, and as of when', async () => {
    const { run, at } = await started();
    const first = await kit.fire('SessionStart', { source: 'startup' });
    kit.accept(first.context);
    await kit.called('a', { run, at });
    goAway();
    kit.wait(10 * 60_000);
    const { context, exitCode, json } = await kit.fire('SessionStart', { session_id: 'a', source: 'resume' });
    expect(exitCode).toBe(0);
    const known = lastKnownRun(kit.runtime.project, run, 0)?.at ?? 0;
    expect(context.split('\n')[0]).toBe(lastKnownText(known, known + 10 * 60_000));
    expect(context).toContain('Write the plan of the bridge.');
    expect(json.systemMessage).toContain(server.url);
    // Once it answers, the session is told what holds now.
    comeBack();
    await engine.execute(run, { type: 'advance', now: Date.now(), at, output: 'Planned elsewhere.' });
    kit.wait(60_000);
    const { context: fresh } = await kit.fire('UserPromptSubmit', { prompt: 'Go on' });
    expect(fresh).toContain('Planned elsewhere.');
  });

  test('nothing is denied, held or bound for want of an answer, and the person is told once', async () => {
    const { run, at } = await started();
    await kit.fire('SessionStart', { source: 'startup' });
    await kit.called('a', { run, at });
    goAway();
    kit.wait(10 * 60_000);
    const edit = { tool_name: 'Edit', tool_input: {}, tool_use_id: 'e1' };
    const fired = [
      await kit.fire('PreToolUse', edit),
      await kit.fire('PostToolUse', edit),
      await kit.fire('UserPromptSubmit', { prompt: 'Go on' }),
      await kit.fire('Stop'),
      await kit.fire('SubagentStop', { agent_id: 'x', agent_type: 'y' }),
      await kit.fire('SessionEnd', { reason: 'other' }),
    ];
    expect(fired.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(fired.flatMap(({ held }) => held ?? [])).toEqual([]);
    expect(fired.map(({ stdout }) => stdout).join('')).not.toContain('deny');
    expect(fired.flatMap(({ json }) => json.systemMessage ?? [])).toHaveLength(1);
    comeBack();
    kit.wait(60_000);
    expect((await kit.fire('Stop')).held).toBeDefined();
  });

  test('a compaction keeps the run and its handle, and the run hears of it later', async () => {
    const { run, at } = await started();
    const { context } = await kit.fire('SessionStart', { source: 'startup' });
    kit.accept(context);
    await kit.called('a', { run, at });
    goAway();
    const before = await kit.fire('PreCompact', { trigger: 'auto' });
    expect(before.stdout).toContain(run);
    const after = await kit.fire('SessionStart', { source: 'compact' });
    const known = lastKnownRun(kit.runtime.project, run, 0)?.at ?? 0;
    expect(after.context.split('\n')[0]).toBe(lastKnownText(known, known));
    expect(after.context).toContain('Write the plan of the bridge.');
    comeBack();
    kit.wait(60_000);
    await kit.fire('UserPromptSubmit', { prompt: 'Go on' });
    const events = (await engine.entries(run)).flatMap((entry) => entry.events);
    expect(events.filter(({ type }) => type === 'session.reset')).toHaveLength(1);
  });
});

test('a server that missed one answer is asked again, however often hooks fire meanwhile', () => {
  const { project } = kit.runtime;
  const input = { kind: 'after_tool', host: 'claude-code', session: 'a', cwd: kit.project.root } as const;
  const record = openSessionRecord(project, input);
  const at = (now: number) => environment({}, now);
  const missed = new StepfastError('server_unreachable', 'It is away.');
  const began = Date.now();
  noteOutage(missed, input, { project, record, environment: at(began) });
  const asked: number[] = [];
  for (let seconds = 10; seconds <= 60; seconds += 10) {
    const now = began + seconds * 1000;
    if (patienceFor(project, input.kind, at(now)) > 0) asked.push(seconds);
    noteOutage(missed, input, { project, record, environment: at(now) });
  }
  expect(asked).toEqual([20, 40, 60]);
});

test('a machine whose clock is slow tells a run of a compaction that came after another', async () => {
  kit.wait(-10 * 60_000);
  const { run, at } = await started();
  const { context } = await kit.fire('SessionStart', { source: 'startup' });
  kit.accept(context);
  await kit.called('a', { run, at });
  const before = Date.now() - 5 * 60_000;
  await engine.execute(run, { type: 'boundary', now: before, session: 'a', by: 'hook', saw: 'compact' });
  server.fault = () => ({ status: 401, body: '{"code":"unauthorized","message":"x"}' });
  await kit.fire('PreCompact', { trigger: 'auto' });
  await kit.fire('SessionStart', { source: 'compact' });
  comeBack();
  kit.wait(60_000);
  await kit.fire('UserPromptSubmit', { prompt: 'Go on' });
  const events = (await engine.entries(run)).flatMap((entry) => entry.events);
  expect(events.filter(({ type }) => type === 'session.reset')).toHaveLength(2);
});

test('hooks wait no longer than a second, and as long as a new connection to a distant server takes', () => {
  const { project } = kit.runtime;
  const patience = (kind: 'session_start' | 'before_tool', asked?: string): number =>
    patienceFor(project, kind, environment(asked === undefined ? {} : { STEPFAST_HOOK_WAIT_MS: asked }));
  expect(patience('session_start')).toBe(1000);
  expect(patience('before_tool')).toBe(800);
  expect(patience('before_tool', '2500')).toBe(2500);
  expect(patience('session_start', '1e9')).toBe(4000);
  expect(patience('session_start', 'x')).toBe(1000);
});

test('a project without a server asks none, whatever others have', async () => {
  delete kit.project.env.STEPFAST_URL;
  const { run, at } = await started();
  const { context } = await kit.fire('SessionStart', { source: 'startup' });
  expect(context).toContain(at);
  expect(await engine.ids()).not.toContain(run);
  expect(server.requests).toEqual([]);
});
