import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, expect, it } from 'vitest';
import { refusalText, toolVoice } from '../../src/messages/index.ts';
import type { TestProject } from '../../src/testing/index.ts';
import { type Called, type Connection, connect, createProject, entry, eras } from '../mcp/kit.ts';
import { asking, gated, looped, plain, writers } from '../mcp/workflows.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function projectWith(workflows: Record<string, string>): TestProject {
  const project = createProject(workflows);
  cleanups.push(project[Symbol.dispose]);
  return project;
}

async function connected(...args: Parameters<typeof connect>): Promise<Connection> {
  const connection = await connect(...args);
  cleanups.push(connection.close);
  return connection;
}

it.each(eras)('the tools are eight in a stable order, and cheap to know (%s era)', async (era) => {
  const { client } = await connected(projectWith({}), era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'workflow_start',
    'workflow_status',
    'workflow_advance',
    'workflow_set_tasks',
    'workflow_claim',
    'workflow_context',
    'workflow_note',
    'update_todo_list',
  ]);
  const costs = tools.map(
    ({ name, description, inputSchema }) => encode(JSON.stringify({ name, description, inputSchema })).length,
  );
  expect(Math.max(...costs)).toBeLessThanOrEqual(140);
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeLessThanOrEqual(800);
  for (const { name, annotations, outputSchema } of tools) {
    expect(annotations).toMatchObject({ destructiveHint: false, openWorldHint: false });
    expect(outputSchema === undefined).toBe(name === 'workflow_context');
  }
  await expect(client.callTool({ name: 'workflow_strat' })).rejects.toThrow("no tool 'workflow_strat'");
});

it.each(eras)('prompts and resources tell of the runs and change nothing (%s era)', async (era) => {
  const project = projectWith({ asking, plain });
  const { client, call } = await connected(project, era);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['prime', 'status', 'start']);
  const said = async (name: string, given: Record<string, string> = {}): Promise<string> => {
    const [message] = (await client.getPrompt({ name, arguments: given })).messages;
    return message?.content.type === 'text' ? message.content.text : '';
  };
  const none = refusalText({ code: 'no_run', params: { why: 'none_live' } }, toolVoice());
  expect(await said('prime')).toBe(`Stepfast: ${none.message} ${none.next}`);
  expect(await said('start', { workflow: 'plain' })).toContain('workflow_start with {"workflow":"plain"}');
  expect(await said('start')).toMatch(/The workflows with their inputs: asking \{ task, where\? \}, plain\./);
  const { S } = await call('workflow_start', { workflow: 'plain', summary: 'login' });
  expect(await said('prime')).toContain('Write the plan of login.');
  expect(await said('status')).toContain(S.at);
  expect(await said('status')).not.toContain('Write the plan');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([
    'stepfast://workflows',
    'stepfast://runs',
    `stepfast://runs/${S.run}`,
  ]);
  const read = async (uri: string): Promise<string> => {
    const [content] = (await client.readResource({ uri })).contents;
    return content && 'text' in content ? content.text : '';
  };
  expect(JSON.parse(await read('stepfast://workflows')).workflows).toContainEqual({
    name: 'plain',
    description: 'Plan and build',
    inputs: {},
  });
  expect(JSON.parse(await read('stepfast://runs'))).toMatchObject({
    runs: [{ run: S.run, summary: 'login' }],
  });
  expect(JSON.parse(await read(`stepfast://runs/${S.run}`))).toMatchObject({
    at: S.at,
    contextAction: '/clear',
  });
  expect(await read(`stepfast://runs/${S.run}/briefing`)).toContain('Write the plan of login.');
  expect(
    (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  ).toEqual(['stepfast://runs/{id}', 'stepfast://runs/{id}/briefing']);
  await expect(client.readResource({ uri: 'stepfast://runs/none' })).rejects.toThrow();
  await expect(client.getPrompt({ name: 'none' })).rejects.toThrow("no prompt 'none'");
  expect((await call('workflow_status', { at: S.at })).S.instructions).toBe('Write the plan of login.');
});

it('a restart of the server between any two calls changes nothing', async () => {
  const tasks = [
    { id: 'a', title: 'A' },
    { id: 'b', title: 'B' },
  ];
  const steps: [tool: string, given: Record<string, unknown>][] = [
    ['workflow_start', { workflow: 'looped', summary: 's' }],
    ['workflow_set_tasks', { loop_id: 'work', tasks }],
    ['workflow_note', { kind: 'decision', text: 'x' }],
    ['workflow_advance', { output: '1' }],
    ['workflow_advance', { output: '2' }],
    ['workflow_advance', { output: '2' }],
    ['workflow_start', { workflow: 'looped', summary: 's' }],
    ['workflow_advance', { output: 'no', failed: true }],
    ['workflow_context', {}],
    ['workflow_advance', { output: '3' }],
    ['workflow_advance', { output: '4' }],
  ];
  const play = async (restart: boolean): Promise<string[]> => {
    const project = projectWith({ looped });
    let server = await connect(project);
    const answers: Called[] = [];
    for (const [tool, given] of steps) {
      answers.push(await server.call(tool, given));
      if (!restart) continue;
      await server.close();
      server = await connect(project);
    }
    await server.close();
    const suffix = answers[0]?.S.run.split('-').at(-1) ?? '';
    return answers.map(({ text }) => text.replaceAll(suffix, 'SUFFIX').replace(/\bb-\w{8}\b/, 'b-ID'));
  };
  expect(await play(true)).toEqual(await play(false));
});

it('[000/11] --worktree, --workflow-path and --repo-root say where the work is', async () => {
  const project = projectWith({});
  const worktree = join(project.root, 'worktree');
  const main = join(project.root, 'main');
  for (const directory of [worktree, main]) mkdirSync(join(directory, '.stepfast'), { recursive: true });
  const file = join(project.root, 'mine.yaml');
  writeFileSync(file, plain);
  const args = ['--worktree', worktree, '--workflow-path', file, '--repo-root', main];
  const server = await connected(project, '2025', { args, cwd: project.env.HOME ?? '/' });
  const { S } = await server.call('workflow_start', { summary: 'x' });
  expect(S).toMatchObject({ run: expect.stringMatching(/^plain-/), contextAction: '/clear' });
  expect(existsSync(join(main, '.stepfast', 'runs', S.run, 'journal.jsonl'))).toBe(true);
  const { client } = server;
  const { contents } = await client.readResource({ uri: `stepfast://runs/${S.run}` });
  expect(contents).toHaveLength(1);
});

it('[P5/2] with two runs a call without a handle means the one that this session works on', async () => {
  const project = projectWith({ looped });
  const server = await connected(project);
  const first = (await server.call('workflow_start', { workflow: 'looped', summary: 'one' })).S;
  const other = await connected(project);
  const second = await other.call('workflow_start', { workflow: 'looped', summary: 'two', new: true });
  expect(second.S.run).not.toBe(first.run);
  expect((await server.call('workflow_status')).S.run).toBe(first.run);
  expect((await other.call('workflow_status')).S.run).toBe(second.S.run);
  const stranger = await connected(project);
  const unclear = await stranger.call('workflow_status');
  expect(unclear).toMatchObject({ isError: true, S: { code: 'several_runs' } });
  expect(unclear.S.runs).toHaveLength(2);
});

it('where nothing is live, the run that ended last is told of only in its own worktree', async () => {
  const project = projectWith({ plain });
  const server = await connected(project);
  const { S } = await server.call('workflow_start', { workflow: 'plain', summary: 'x' });
  await server.call('workflow_status', { at: S.at });
  await server.call('workflow_advance', { output: '1' });
  await server.call('workflow_advance', { output: '2' });
  const neighbour = await connected(project);
  expect((await neighbour.call('workflow_status')).S).toMatchObject({ run: S.run, status: 'complete' });
  const elsewhere = join(project.root, 'elsewhere');
  mkdirSync(join(elsewhere, '.stepfast'), { recursive: true });
  const args = ['--worktree', elsewhere, '--repo-root', project.root];
  const stranger = await connected(project, '2025', { args });
  expect((await stranger.call('workflow_status')).S).toMatchObject({ code: 'no_run' });
});

it('[P5/5] every answer about a task that has a worktree says where it is', async () => {
  const project = projectWith({ writers });
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd,
      encoding: 'utf8',
    });
  git(project.root, 'init', '-q');
  git(project.root, 'commit', '-q', '--allow-empty', '-m', 'first');
  const server = await connected(project);
  const { run } = (await server.call('workflow_start', { workflow: 'writers', summary: 'x' })).S;
  const tasks = [{ id: 'a', title: 'A' }];
  await server.call('workflow_set_tasks', { loop_id: 'write', tasks });
  const claimed = (await server.call('workflow_claim', { run_id: run })).S;
  const worktree = String(claimed.worktree);
  expect(claimed).toMatchObject({ task: { id: 'a' } });
  expect(worktree.endsWith(join('/', run, 'task', 'a'))).toBe(true);
  expect(worktree.startsWith(project.root)).toBe(false);
  expect((await server.call('workflow_status')).S).toMatchObject({ at: claimed.at, worktree });
  const polish = (await server.call('workflow_advance', { output: 'drafted', at: claimed.at })).S;
  expect(polish).toMatchObject({ subStep: 'polish', worktree });
  const { text } = await server.call('workflow_context', { at: polish.at });
  expect(text).toContain(`Task files: ${worktree}\n`);
  git(worktree, 'commit', '-q', '--allow-empty', '-m', 'work of a');
  const merge = (await server.call('workflow_advance', { output: 'polished', at: polish.at })).S;
  expect(merge).toMatchObject({ step: 'merge', warning: expect.stringContaining(`stepfast/${run}/task/a`) });
  expect(merge).not.toHaveProperty('worktree');
});

it('[P3/2] gates run in a process of their own: a call attaches, and the run outlives the server', async () => {
  const project = projectWith({ gated });
  project.trust('gated');
  const server = await connected(project);
  const quick = await connected(project, '2026', { args: ['--wait-ms', '300'] });
  const { S } = await quick.call('workflow_start', { workflow: 'gated', summary: 'x' });
  const red = await server.call('workflow_advance', { output: 'made', at: S.at });
  expect(red.S).toMatchObject({
    at: S.at,
    failed_gates: [{ gate: expect.stringContaining('done.txt') }],
  });
  writeFileSync(join(project.root, 'done.txt'), 'x');
  const green = await server.call('workflow_advance', { output: 'made', at: S.at });
  expect(green.S).toMatchObject({ step: 'slow' });
  const { at } = green.S;
  const checking = await quick.call('workflow_advance', { output: 'waited', at });
  expect(checking).toMatchObject({ isError: false, S: { checking: true, retry_after: 5, at } });
  expect((await quick.call('workflow_advance', { output: 'other', at })).S).toMatchObject({
    code: 'checking',
  });
  await quick.close();
  const attached = await server.call('workflow_advance', { output: 'waited', at });
  expect(attached.S).toMatchObject({ failed_gates: [{ exit: 1, tail: 'one\ntwo' }] });
  const whole = await server.call('workflow_context', { section: 'status' });
  expect(whole.text).toContain('failed with exit 1. Output:\n> one\n> two');
  expect(existsSync(join(project.root, 'slow.txt'))).toBe(false);
});

const opening =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Größe","version":"1"}}}';

it.each([
  ['an opening', [`${opening}\n`]],
  ['an opening in pieces', [opening.slice(0, 20), opening.slice(20, 140), `${opening.slice(140)}\n`]],
  ['what is no protocol at all', ['this is no JSON\n', `${opening}\n`]],
])('stdout carries the protocol alone, each answer once, after %s', async (_, first) => {
  const project = projectWith({ plain });
  writeFileSync(join(project.root, '.stepfast', 'config.yaml'), 'bondaries: off\n');
  const server = spawn(process.execPath, [entry, 'mcp'], { cwd: project.root, env: project.env });
  let out = '';
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  for (const piece of first) {
    server.stdin.write(piece);
    await setTimeout(30);
  }
  const lines = [
    '[1,2',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workflow_start","arguments":{"workflow":"plain"}}}',
    '{"jsonrpc":"2.0","id":3,"method":"nothing/known"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  ];
  server.stdin.write(`${lines.join('\n')}\n`);
  const ids = (): unknown[] => out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
  await expect.poll(() => ids().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(4);
  await setTimeout(50);
  expect(ids().sort()).toEqual([1, 1, 2, 3]);
  expect(out).toContain("there is no key 'bondaries'. Write 'boundaries'.");
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin.end();
  expect(await ended).toBe(0);
});
