/** The plugin inside the real Claude Code: from a folder, installed, and where something is missing. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bench } from '../../../lab/bench/tokens.ts';
import {
  type ClaudeRun,
  contextOf,
  createScriptedModel,
  createTestProject,
  forgetsAll,
  lastUser,
  type RunOptions,
  reply,
  type ScriptedModel,
  type StreamEvent,
  summariser,
  type TestProject,
  toolsOf,
} from '../../../src/testing/index.ts';
import { claudeCommand, runClaude } from '../../kit/claude.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);
const tool = (name: string): string => `mcp__plugin_stepfast_stepfast__${name}`;
const skills = readdirSync(join(top, 'skills'));

let project: TestProject;
let home: string;
let plugin: string;
let model: ScriptedModel;

beforeEach(async () => {
  project = createTestProject();
  home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  plugin = join(project.root, '..', 'a plugin');
  for (const part of ['.claude-plugin', 'dist', 'hooks', 'skills', 'workflows', 'package.json'])
    cpSync(join(top, part), join(plugin, part), { recursive: true });
  model = await createScriptedModel();
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

/** Nothing is allowed beforehand: what skills allow must be enough. */
const session = (options: Omit<RunOptions, 'cwd' | 'home' | 'model'>): Promise<ClaudeRun> =>
  runClaude({ cwd: project.root, home, model, pluginDir: plugin, allow: [], ...options });

const opening = ({ events }: ClaudeRun): StreamEvent & Record<string, unknown> => {
  const found = events.find(({ type, subtype }) => type === 'system' && subtype === 'init');
  if (!found) throw new Error('the session did not begin');
  // The host's own record, read by its keys.
  return found as StreamEvent & Record<string, unknown>;
};

it("the plugin passes the host's own validation, warnings included", async () => {
  const args = ['plugin', 'validate', plugin, '--strict'];
  const command = await claudeCommand({ cwd: project.root, home, model, allow: [], args });
  const { stdout } = await run(command.program, command.args, { cwd: project.root, env: command.env });
  expect(stdout).toContain('Validation passed');
});

describe('a session with the plugin', () => {
  it("[U6] /stepfast:go starts the run, Stepfast's own tools never ask after its turn, and a compaction brings it back", async () => {
    const task = 'fix the "login" bug';
    model.on(
      lastUser(/<task>/),
      // The run is there already: a start of the same finds it.
      reply.tool(tool('workflow_start'), { workflow: 'go', summary: task, inputs: { task } }),
      reply.text('Started.'),
    );
    model.on(
      lastUser(/note it/),
      reply.tool(tool('workflow_note'), { kind: 'decision', text: 'Passkeys only.' }),
      reply.tool('Bash', { command: 'touch made.txt', description: 'Asks' }),
      reply.text('Noted.'),
    );
    model.always(summariser(), forgetsAll());
    model.always(lastUser(/./), reply.text('Going on.'));
    const ran = await session({ prompts: [`/stepfast:go ${task}`, 'note it', '/compact', 'and now'] });
    const [first] = ran.requests.requestsOf('main');
    expect(first && contextOf(first)).toContain(`<task>\n${task}\n</task>`);
    expect(opening(ran).skills).toEqual(expect.arrayContaining(skills.map((name) => `stepfast:${name}`)));
    expect(contextOf(ran.requests.firstRequestAfterCompaction())).toContain(`In the user's words: ${task}`);
    const [info] = await project.runtime().engine.runs();
    expect(info?.state?.sessions[ran.sessions[0] ?? '']?.resets).toBe(1);
    expect(info?.state?.notes).toMatchObject([{ text: 'Passkeys only.' }]);
    // Other tools do ask in this mode, and nobody answers.
    expect(existsSync(join(project.root, 'made.txt'))).toBe(false);
  });

  it('[pain 17] tells the model of two skills and eight tools, and of nothing else', async () => {
    model.on(lastUser(/hello/), reply.text('Hello.'));
    const ran = await session({ prompts: ['hello'], env: { ENABLE_TOOL_SEARCH: 'false' } });
    const [first] = ran.requests.requestsOf('main');
    const context = first ? contextOf(first) : '';
    expect(context.match(/stepfast:\w+(?=: )/g)?.sort()).toEqual(['stepfast:doctor', 'stepfast:review']);
    const tools = first ? toolsOf(first) : [];
    expect(tools.filter((name) => name.startsWith(tool('')))).toHaveLength(8);
    expect(tools.filter((name) => /McpResource/.test(name))).toEqual([]);
    expect(existsSync(join(project.root, '.stepfast'))).toBe(false);
  });

  it('doctor and start run their commands unasked, review shows the way of a person, and only a person starts a run', async () => {
    const command = (name: string): string => `node "${plugin}/dist/cli.js" ${name}`;
    const bash = (name: string) => reply.tool('Bash', { command: command(name), description: name });
    const skill = (name: string) => reply.tool('Skill', { skill: `stepfast:${name}`, args: 'x' });
    model.on(lastUser(/prints each check/), bash('doctor'), reply.text('All well.'));
    model.on(lastUser(/first word is the workflow/), bash('list'), reply.text('Which?'));
    model.on(lastUser(/what waits/), skill('review'), reply.text('Look.'));
    model.on(lastUser(/do it/), skill('go'), reply.text('No.'));
    const prompts = ['/stepfast:doctor', '/stepfast:start', 'what waits', 'do it'];
    const { requests } = await session({ prompts, allow: ['Skill'] });
    const [asked, checked, , listed] = requests.requestsOf('main').map((request) => contextOf(request));
    expect(asked).toContain(command('doctor'));
    expect(checked?.split('Bash {').at(-1)).not.toContain('requires approval');
    expect(listed?.split('Bash {').at(-1)).toContain('bugfix');
    const last = requests.requestsOf('main').at(-1);
    const context = last ? contextOf(last) : '';
    expect(context).toContain('stepfast reject "what is missing"');
    expect(context).toContain(`node "${plugin}/dist/cli.js"`);
    expect(context).not.toContain('It becomes a run');
  });
});

it('[pain 17] adds at most 1,200 tokens to a session without a run', async () => {
  const { added, addedDeferred, projected } = await bench({ from: plugin });
  expect(added).toBeGreaterThan(500);
  expect(added).toBeLessThanOrEqual(1200);
  expect(addedDeferred).toBeLessThanOrEqual(400);
  expect(projected).toBeLessThanOrEqual(400);
});
