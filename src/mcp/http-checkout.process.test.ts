import { spawn } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { connect, createTeam } from '../../test/kit/server/mcp-http.ts';
import { createProject, entry } from '../../test/mcp/kit.ts';
import { gated, writers } from '../../test/mcp/workflows.ts';
import { type LocalRuntime, openRuntime } from '../runtime/index.ts';
import type { TestProject } from '../testing/index.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The project as a person with a checkout sees it, with real gates. */
function checkout(project: TestProject): LocalRuntime {
  const runner = { program: process.execPath, args: [entry, 'gate-runner'] };
  return openRuntime({ cwd: project.root, env: project.env, home: project.env.HOME ?? '', runner });
}

it('a person who waits for gates in a checkout runs them there, and the agent gets the result', async () => {
  const project = createProject({ gated });
  cleanups.push(project[Symbol.dispose]);
  project.trust('gated');
  const person = checkout(project);
  const team = createTeam({ engine: () => person.engine });
  cleanups.push(team.close);
  const { definition } = person.resolve('gated');
  await person.engine.begin(definition, { type: 'start', now: Date.now(), session: 'laptop' });
  const agent = await connect(await team.serve(), 'bot@1');
  cleanups.push(agent.close);
  const { S } = await agent.call('workflow_start', { workflow: 'gated', summary: 'over there' });
  const report = () => agent.call('workflow_advance', { at: S.at, output: 'made done.txt' });
  expect((await report()).S).toMatchObject({ checking: true });
  // A look alone starts nothing.
  expect((await person.call({ type: 'status' }, {}, { run: S.run })).reply).toMatchObject({ checking: {} });

  const wait = () => person.call({ type: 'status' }, {}, { run: S.run, waitMs: 120_000 });
  expect((await wait()).reply).toMatchObject({ step: 'make', failed_gates: [{ what: 'done.txt' }] });
  expect((await agent.call('workflow_status', { at: S.at })).S).toMatchObject({
    failed_gates: [{ gate: 'done.txt' }],
  });

  writeFileSync(join(project.root, 'done.txt'), '');
  expect((await report()).S).toMatchObject({ checking: true });
  expect((await wait()).reply).toMatchObject({ step: 'slow' });
  expect((await agent.call('workflow_status')).S).toMatchObject({ step: 'slow' });
});

it('a server that may write no file, start no process and read nothing but itself serves every tool', async () => {
  const repository = join(import.meta.dirname, '..', '..');
  const code = `
    const { createTeam } = await import(${JSON.stringify(join(repository, 'test/kit/server/mcp-http.ts'))});
    const team = createTeam();
    for (const workflow of ${JSON.stringify([touching, writers])}) await team.pin(1, workflow);
    process.stdout.write((await team.serve()) + '\\n');
  `;
  const packages = realpathSync(join(repository, 'node_modules'));
  const readable = [repository, packages].map((directory) => `--allow-fs-read=${directory}/*`);
  const net = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];
  const server = spawn(
    process.execPath,
    ['--permission', ...readable, ...net, '--input-type=module', '-e', code],
    { cwd: repository, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  cleanups.push(() => void server.kill('SIGKILL'));
  const [url = ''] = await firstLine(server.stdout);
  const { call, close } = await connect(url, 'bot@1');
  cleanups.push(close);
  const { S } = await call('workflow_start', { workflow: 'touching', summary: 'all of it' });
  const tasks = [{ id: 'one', title: 'One' }];
  const calls: [tool: string, given: Record<string, unknown>][] = [
    ['workflow_status', { at: S.at }],
    ['workflow_context', {}],
    ['workflow_context', { artifacts: ['plan', 'repository', 'folder'], force: true }],
    ['workflow_note', { kind: 'reading', text: '@docs/conventions.md' }],
    ['update_todo_list', { content: '- [ ] one' }],
    ['workflow_advance', { at: S.at, output: 'planned' }],
  ];
  for (const [tool, given] of calls) {
    const { isError, text } = await call(tool, given);
    expect([tool, isError, text]).toEqual([tool, false, text]);
  }
  const many = await call('workflow_start', { workflow: 'writers', summary: 'tasks' });
  await call('workflow_set_tasks', { loop_id: 'write', tasks, at: many.S.at });
  expect((await call('workflow_claim', { run_id: many.S.run })).S).toMatchObject({ task: { id: 'one' } });
  expect((await call('workflow_start', { inputs: { task: 'bundled' } })).S.run).toMatch(/^go-/);
});

/** Whatever makes a runtime with a tree touch files or start something. */
const touching = `
name: touching
description: Touches everything
required_reading: ['@docs/conventions.md']
todo_path: docs/TODO.md
critical_artifacts:
  always_load:
    - { id: plan, type: markdown, path: docs/plan.md }
    - { id: folder, type: directory, path: docs }
    - { id: repository, type: git_info }
steps:
  - { id: look, type: action, read_only: true, instructions: Look., gate: [{ run: npm test }] }
`;

async function firstLine(stdout: NodeJS.ReadableStream): Promise<string[]> {
  for await (const line of createInterface({ input: stdout })) return [line];
  return [];
}
