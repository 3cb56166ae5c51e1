import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeServer } from '../../../test/kit/fake-server.ts';
import { createHookKit } from '../../../test/kit/hooks.ts';
import { createMemoryStore } from '../../../test/kit/memory-store.ts';
import { hashDefinition } from '../../definition/index.ts';
import { createEngine, newRun } from '../../engine/index.ts';
import type { Notification } from '../../machine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { cliProgram } from '../../testing/programs.ts';
import { stateDirectory } from '../../workspace/index.ts';
import { deliverNotification } from './deliver.ts';
import { lastNotifications } from './log.ts';

const workflow = (name: string, notify = 'notify: [waiting, ended, budget]') => `name: ${name}
description: Plans and builds
${notify}
steps:
  - { id: plan, type: action, title: The plan, instructions: Plan., review: { by: human } }
  - { id: build, type: action, instructions: Build., budget: { turns: 3 } }
`;
const files = {
  '.stepfast/workflows/w.yaml': workflow('w'),
  '.stepfast/workflows/quiet.yaml': workflow('quiet', ''),
};
/** Where a command writes one line for each notification: it runs in the user's home. */
const names = ['EVENT', 'KIND', 'RUN', 'WORKFLOW', 'SUMMARY', 'POSITION', 'REASON'];
const line = `printf '%s\\n' "${names.map((name) => `$STEPFAST_${name}`).join('|')}" >> told`;
const me = { session: 's' };
const person = { kind: 'person' as const, name: 'ann' };

let project: TestProject;
beforeEach(() => {
  project = createTestProject(files);
});
afterEach(() => project[Symbol.dispose]());

const configure = (notify: object, { home } = project): void => {
  mkdirSync(join(home, '.config/stepfast'), { recursive: true });
  writeFileSync(join(home, '.config/stepfast/config.yaml'), JSON.stringify({ notify }));
};
const told = ({ home } = project): string[][] =>
  existsSync(join(home, 'told'))
    ? readFileSync(join(home, 'told'), 'utf8')
        .trim()
        .split('\n')
        .map((each) => each.split('|'))
    : [];
const events = (): (string | undefined)[] => told().map(([event]) => event);
const log = ({ home, env } = project) => lastNotifications(stateDirectory({ home, env }));
const started = async (name = 'w', summary = 'Log in', runtime = project.runtime()): Promise<string> =>
  (await runtime.start({ workflow: name, summary }, me)).run ?? '';
const advance = (run: string, runtime = project.runtime()) =>
  runtime.call({ type: 'advance', output: 'Done.' }, me, { run });
const decide = (run: string, command: object) =>
  // The parts are those of one command.
  project.runtime().engine.execute(run, { now: Date.now(), actor: person, ...command } as never);
const eventually = { timeout: 60_000, interval: 50 };

describe('a command', () => {
  test('[L/notify] gets the facts of a wait, a used-up budget and an end', async () => {
    configure({ command: line });
    const run = await started('w', 'Log in; $(touch run) `touch run`');
    await advance(run);
    const summary = 'Log in; $(touch run) `touch run`';
    await expect
      .poll(() => told(), eventually)
      .toEqual([
        ['waiting', 'review', run, 'w', summary, 'The plan (plan)', expect.stringContaining('plan')],
      ]);
    await decide(run, { type: 'review', verdict: 'approve' });
    await decide(run, { type: 'spend', turns: 3, actor: { kind: 'engine' } });
    await expect.poll(events, eventually).toEqual(['waiting', 'budget']);
    expect(told()[1]).toEqual([
      'budget',
      'budget',
      run,
      'w',
      summary,
      'build',
      expect.stringMatching(/turns/),
    ]);
    await decide(run, { type: 'cancel', reason: 'Not needed' });
    await expect.poll(events, eventually).toEqual(['waiting', 'budget', 'ended']);
    expect(told()[2]).toEqual([
      'ended',
      'cancelled',
      run,
      'w',
      summary,
      '',
      expect.stringContaining('Not needed'),
    ]);
    expect(existsSync(join(project.home, 'run'))).toBe(false);
    await expect.poll(() => log(), eventually).toMatchObject([{ via: 'command', ok: true }]);
  });

  test('[L/notify] is started once, however many processes see the change', async () => {
    configure({ command: line });
    const run = await started();
    const { at = '' } = (await project.runtime().call({ type: 'status' }, me, { run })).reply as {
      at?: string;
    };
    const same = () => project.runtime().call({ type: 'advance', output: 'Done.', at }, me, { run });
    await Promise.all([same(), same(), same(), same()]);
    await same();
    await decide(run, { type: 'cancel', reason: 'x' });
    await expect.poll(events, eventually).toContain('ended');
    await expect.poll(() => events().sort(), eventually).toEqual(['ended', 'waiting']);
  });

  test('[L/notify] delays neither the call nor the program that made it, if it hangs', async () => {
    configure({ command: `while [ ! -e go ]; do sleep 0.05; done; ${line}` });
    const run = await started();
    const argv = [cliProgram, 'advance', '--output', 'Done.', '--run', run];
    const program = spawn(process.execPath, argv, { cwd: project.root, env: project.env, detached: true });
    expect(await once(program, 'exit')).toEqual([0, null]);
    // What ends with the program's process group does not take the command with it.
    expect(() => process.kill(-(program.pid ?? 0), 'SIGKILL')).toThrow('ESRCH');
    expect(told()).toEqual([]);
    writeFileSync(join(project.home, 'go'), '');
    await expect.poll(events, eventually).toEqual(['waiting']);
  });

  test('[L/notify] has a time limit, and what fails is logged', async () => {
    const options = { env: project.env, home: project.home, worktrees: [project.root], terminal: undefined };
    const hanging = deliverNotification(sample, { command: 'sleep 600' }, { ...options, commandMs: 100 });
    expect(await hanging).toEqual([{ via: 'command', ok: false, problem: expect.any(String) }]);
    configure({ command: 'echo Oh no >&2; exit 3' });
    await advance(await started());
    await expect
      .poll(() => log(), eventually)
      .toMatchObject([{ via: 'command', ok: false, problem: expect.stringMatching(/3.*Oh no/) }]);
  });

  test('[L/notify] is told no secret of a question', async () => {
    configure({ command: line });
    const run = await started();
    const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    await project.runtime().call({ type: 'ask', text: `Is ${token} the token?` }, me, { run });
    await expect.poll(() => told(), eventually).toHaveLength(1);
    expect(told()[0]?.slice(0, 2)).toEqual(['waiting', 'question']);
    expect(told()[0]?.at(-1)).not.toContain(token);
  });
});

describe('a webhook', () => {
  const listen = async (status: number, headers: Record<string, string> = {}) => {
    const bodies: unknown[] = [];
    const http = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push({ method: request.method, ...JSON.parse(Buffer.concat(chunks).toString()) });
      response.writeHead(status, headers).end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    // It listens on a port.
    const { port } = http.address() as AddressInfo;
    const close = () => new Promise((resolve) => http.close(resolve));
    return {
      url: `http://127.0.0.1:${port}/hook`,
      bodies,
      [Symbol.asyncDispose]: async () => void (await close()),
    };
  };

  test('[L/notify] gets the facts as JSON', async () => {
    await using server = await listen(204);
    configure({ webhook: server.url });
    const run = await started();
    await advance(run);
    await expect
      .poll(() => server.bodies, eventually)
      .toMatchObject([
        { method: 'POST', event: 'waiting', kind: 'review', run, workflow: 'w', summary: 'Log in' },
      ]);
    await expect.poll(() => log(), eventually).toMatchObject([{ via: 'webhook', ok: true }]);
  });

  test('[L/notify] follows no redirect, and a refusal is logged', async () => {
    await using other = await listen(204);
    await using server = await listen(307, { location: other.url });
    configure({ webhook: server.url });
    await advance(await started());
    await expect
      .poll(() => log(), eventually)
      .toMatchObject([{ via: 'webhook', ok: false, problem: expect.stringContaining('307') }]);
    expect([server.bodies.length, other.bodies.length]).toEqual([1, 0]);
  });
});

describe('nobody is notified', () => {
  /** A notification that was started before this one has arrived as well. */
  const control = async (): Promise<void> => {
    configure({ command: 'echo control >> told' });
    await advance(await started('w', 'Control'));
    await expect.poll(events, eventually).toContain('control');
    expect(events()).toEqual(['control']);
  };

  test('[L/notify] where the workflow has no notify', async () => {
    configure({ command: line });
    await advance(await started('quiet'));
    await control();
  });

  test('[L/notify] where the user has no configuration', async () => {
    await advance(await started());
    expect(log()).toEqual([]);
    await control();
  });

  test("[L/notify] by the repository's configuration: it is refused, and hooks ignore it", async () => {
    const run = await started();
    const runtime = project.runtime();
    const notify = `notify: { command: "touch ${join(project.home, 'told')}" }\n`;
    project.write({ '.stepfast/config.yaml': notify });
    expect(await project.run(['start', 'w'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('notify'),
    });
    expect((await project.run(['doctor', '--json'])).stdout).toContain("'notify'");
    await advance(run, runtime);
    project.write({ '.stepfast/config.yaml': '' });
    await control();
  });

  test("[L/notify] by a file in the repository that poses as the user's", async () => {
    project.write({
      'stepfast/config.yaml': JSON.stringify({ notify: { command: `cd ${project.home}; ${line}` } }),
    });
    const env = { ...project.env, XDG_CONFIG_HOME: project.root };
    await advance(await started(), project.runtime({ env }));
    expect((await project.run(['notify'], { env })).code).toBe(3);
    await control();
  });

  test('[L/notify] by a program of the repository that is on the PATH', async () => {
    project.write({ 'node_modules/.bin/tell': '#!/bin/sh\n' });
    const bin = join(project.root, 'node_modules/.bin');
    chmodSync(join(bin, 'tell'), 0o755);
    const env = { ...project.env, PATH: `${bin}:${project.env.PATH}` };
    const deliver = (worktree: string) =>
      deliverNotification(
        sample,
        { command: 'tell' },
        { env, home: project.home, worktrees: [worktree], terminal: undefined },
      );
    expect(await deliver(project.root)).toMatchObject([{ ok: false }]);
    expect(await deliver(project.home)).toMatchObject([{ ok: true }]);
  });
});

test('[L/notify] the bell rings where there is a terminal', async () => {
  const screen = join(project.home, 'screen');
  const terminal = openSync(screen, 'w');
  const ring = (where: number | undefined) =>
    deliverNotification(
      sample,
      { bell: true },
      { env: {}, home: project.home, worktrees: [project.root], terminal: where },
    );
  expect(await ring(undefined)).toEqual([]);
  expect(await ring(terminal)).toEqual([{ via: 'bell', ok: true }]);
  closeSync(terminal);
  expect(readFileSync(screen, 'utf8')).toBe('\u0007');
});

test('[L/notify] hooks notify of what they record', async () => {
  using kit = createHookKit({
    '.stepfast/workflows/w.yaml': `name: w
description: Builds
notify: [budget]
steps:
  - { id: build, type: action, instructions: Build., budget: { tokens: 100 } }
`,
  });
  configure({ command: line }, kit.project);
  const first = await kit.start();
  await kit.called('a', first);
  const usage = { input_tokens: 150, output_tokens: 0 };
  const timestamp = new Date(Date.now() + 1000).toISOString();
  kit.writeDown({ type: 'assistant', timestamp, message: { id: 'm1', model: 'claude', usage } });
  await kit.called('a', first);
  await expect
    .poll(() => told(kit.project).map((facts) => facts.slice(0, 3)), eventually)
    .toEqual([['budget', 'budget', first.run]]);
});

test('[L/notify] a run on a server notifies where the change was made', async () => {
  const engine = createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
  const server = await startFakeServer(engine);
  try {
    configure({ command: line });
    const env = { ...project.env, STEPFAST_URL: server.url, STEPFAST_TOKEN: server.token };
    const run = await started('w', 'Log in', project.runtime({ env }));
    expect(await engine.ids()).toEqual([run]);
    await advance(run, project.runtime({ env }));
    await expect.poll(events, eventually).toEqual(['waiting']);
    // Someone else's change is not told here.
    await engine.execute(run, { type: 'cancel', now: Date.now(), reason: 'x', actor: person });
    await project.runtime({ env }).call({ type: 'status' }, me, { run });
    expect(events()).toEqual(['waiting']);
  } finally {
    await server.close();
  }
});

const sample: Notification = { event: 'ended', kind: 'complete', run: 'w-20260101-abcdefgh', workflow: 'w' };
