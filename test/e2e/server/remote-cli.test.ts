import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../../../src/testing/index.ts';
import { startTeam, startWire, type Team, type Wire } from '../../kit/server/remote.ts';

const hook = join(import.meta.dirname, '../../../dist/hook.cjs');
const plain = `name: plain
description: Two steps
steps:
  - { id: plan, type: action, instructions: "Plan the bridge." }
  - { id: build, type: action, instructions: Build. }
`;
const gated = `name: gated
description: One gate
steps:
  - id: work
    type: action
    instructions: Work.
    gate: [{ run: 'while test -e wait.txt; do sleep 0.2; done; test -f done.txt && test -z "$STEPFAST_TOKEN$STEPFAST_URL"' }]
`;

let team: Team;
let wire: Wire;
let project: TestProject;
beforeAll(async () => {
  team = await startTeam();
});
afterAll(async () => await team[Symbol.asyncDispose]());
beforeEach(async () => {
  wire = await startWire(team);
  project = createTestProject({
    '.stepfast/workflows/plain.yaml': plain,
    '.stepfast/workflows/gated.yaml': gated,
  });
});
afterEach(async () => {
  await wire[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function started(program: readonly string[], input = '', env: Record<string, string> = project.env) {
  const child = spawn(process.execPath, program, { cwd: project.root, env });
  const ended = new Promise<Ended>((resolve) => {
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (bytes) => (stdout += bytes));
    child.stderr.on('data', (bytes) => (stderr += bytes));
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  child.stdin.end(input);
  return ended;
}
const stepfast = (args: readonly string[], ...input: string[]): Promise<Ended> =>
  project.run(args, { input });
const json = async (...args: string[]) => {
  const { stdout, stderr } = await stepfast([...args, '--json']);
  return JSON.parse(stdout === '' ? JSON.stringify({ stderr }) : stdout);
};
const login = (token = team.token('agent')): Promise<Ended> =>
  stepfast(['login', `${wire.url}/`, '--token-stdin'], token);
const fire = (event: string, payload: object = {}, env = project.env): Promise<Ended> =>
  started(
    [hook, '--host', 'claude-code', event],
    JSON.stringify({ session_id: 'a', cwd: project.root, hook_event_name: event, ...payload }),
    env,
  );
const events = async (run: string) => (await team.engine.entries(run)).flatMap((entry) => entry.events);
const logins = (): string => join(project.env.HOME ?? '', '.local/state/stepfast/servers');

describe('logging in', () => {
  test('a token is tried, kept for this project and for its owner alone, and forgotten', async () => {
    const refused = await login('sf_wrong_token_that_nobody_knows');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('does not accept this token') });
    expect(existsSync(logins())).toBe(false);
    const { code, stdout } = await login();
    expect(code).toBe(0);
    expect(stdout).toMatch(/project 'project-1', as agent 'robot', scopes read, write/);
    const [file = ''] = readdirSync(logins());
    expect(statSync(join(logins(), file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(logins(), file), 'utf8'))).toMatchObject({ url: wire.url });
    expect(project.git('status', '--porcelain')).not.toContain('servers');
    expect((await stepfast(['logout'])).stdout).toContain(wire.url);
    expect(readdirSync(logins())).toEqual([]);
    expect((await json('start', 'plain')).run).toBeDefined();
    expect(readdirSync(join(project.root, '.stepfast/runs'))).toHaveLength(1);
  });

  test('without a terminal and without a token nothing is asked for', async () => {
    const { code, stderr } = await stepfast(['login', wire.url]);
    expect(code).toBe(2);
    expect(stderr).toContain('--token-stdin');
  });
});

describe('every command', () => {
  test('works on a run of the server as on one of files', async () => {
    await login();
    const { run, at } = await json('start', 'plain', '--summary', 'The bridge');
    expect(existsSync(join(project.root, '.stepfast/runs', run))).toBe(false);
    expect((await team.engine.view(run))?.state.summary).toBe('The bridge');
    expect(await json('status')).toMatchObject({ run, step: 'plan' });
    expect((await stepfast(['note', 'decision', 'Use steel'])).code).toBe(0);
    expect((await stepfast(['todo', '-'], '- [ ] girders')).code).toBe(0);
    expect((await stepfast(['prime'])).stdout).toContain('Plan the bridge.');
    expect(await json('advance', 'Planned.', '--at', at)).toMatchObject({ step: 'build' });
    expect((await stepfast(['log'])).stdout).toContain('Planned.');
    expect(await json('runs')).toMatchObject({ runs: [{ run }] });
    expect((await json('sessions')).run).toBe(run);
    const exported = JSON.parse((await stepfast(['export', run.slice(-8)])).stdout);
    expect(exported).toMatchObject({ run });
    for (const command of ['push', 'repair'] as const) {
      const { code, stderr } = await stepfast([command, run]);
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stderr).toContain(`stored on ${wire.url}`);
    }
    expect((await json('doctor')).sections).toContainEqual(
      expect.objectContaining({ title: 'Server', checks: [expect.objectContaining({ state: 'ok' })] }),
    );
    expect(await json('advance', 'Built.')).toMatchObject({ status: 'complete' });
    expect((await stepfast(['status'])).stderr).toContain(run);
    expect((await json('runs', '--all')).runs.map((each: { run: string }) => each.run)).toContain(run);
  });

  test('gates run here, and a server that is away when they end gets what they found later', async () => {
    project.trust('gated');
    await login();
    const { run } = await json('start', 'gated');
    project.write({ 'done.txt': '', 'wait.txt': '' });
    const advancing = stepfast(['advance', 'Done.', '--run', run, '--json']);
    await until(async () => (await events(run)).some(({ type }) => type === 'gates.started'));
    wire.mode = 'away';
    project.git('clean', '-fq', 'wait.txt');
    await until(async () => wire.refused > 0);
    expect((await events(run)).some(({ type }) => type === 'gates.finished')).toBe(false);
    wire.mode = 'on';
    await until(async () => (await events(run)).some(({ type }) => type === 'gates.finished'));
    expect(JSON.parse((await advancing).stdout)).toMatchObject({ status: 'complete' });
    expect((await events(run)).filter(({ type }) => type === 'position.completed')).toHaveLength(1);
  });
});

describe('hooks, as programs', () => {
  test('a session is briefed from the server, and from memory when it is dead', async () => {
    await login();
    const { run, at } = await json('start', 'plain', '--summary', 'The bridge');
    const context = ({ stdout }: Ended): string =>
      stdout === '' ? '' : JSON.parse(stdout).hookSpecificOutput?.additionalContext;
    const patient = { ...project.env, STEPFAST_HOOK_WAIT_MS: '60000' };
    expect(context(await fire('SessionStart', { source: 'startup' }, patient))).toContain(run);
    const called = {
      tool_name: 'mcp__plugin_stepfast_stepfast__workflow_status',
      tool_use_id: 'c1',
      tool_input: {},
      tool_response: [{ type: 'text', text: JSON.stringify({ run, at }) }],
    };
    const first = await fire('PostToolUse', called, patient);
    expect(context(first)).toContain('Plan the bridge.');
    for (const mode of ['hang', 'away'] as const) {
      wire.mode = mode;
      const late = await fire('SessionStart', { source: 'resume', prompt_id: mode });
      expect(late.code).toBe(0);
      expect(context(late)).toContain('Plan the bridge.');
      const tool = await fire('PreToolUse', { tool_name: 'Edit', tool_use_id: mode, tool_input: {} });
      expect(tool).toMatchObject({ code: 0, stdout: expect.not.stringContaining('deny') });
      expect((await fire('Stop', { prompt_id: mode })).code).toBe(0);
    }
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('it did not happen within two minutes');
}
