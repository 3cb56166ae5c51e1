import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configOf } from '../../../src/testing/claude/command.ts';
import {
  contextOf,
  createScriptedModel,
  createTestProject,
  lastUser,
  reply,
  type ScriptedModel,
  type TestProject,
} from '../../../src/testing/index.ts';
import { runClaude, startClaude } from '../../kit/claude.ts';
import { type CommandLine, createCommandLine, picture } from './command-line.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN write the plan. }
`;

/** Odd in every way that the host accepts: a byte order mark, CRLF, a tab, a key that stands twice, another's hook. */
const odd = `\uFEFF{\r\n   "permissions": {"allow": ["Bash(ls)"]},   "hooks": {"SessionStart":[{"hooks":[{"type":"command","command":"echo THEIR-HOOK"}]}]},\r\n\t"x-unknown": [1,  2],"env":{"A":"1","A":"2"}\r\n}`;

/** All lines but the one that entries are added to, which is formatted. */
const firstLines = odd.slice(0, odd.indexOf('\t'));

let project: TestProject;
let home: string;
let model: ScriptedModel;
let line: CommandLine;

beforeEach(async () => {
  project = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
  home = join(project.root, '..', 'claude-home');
  model = await createScriptedModel();
  line = await createCommandLine(home, project.root, model);
  model.always(lastUser(/./), reply.text('Yes.'));
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const stepfast: CommandLine['stepfast'] = (...all) => line.stepfast(...all);

const settingsOf = (name = 'settings.local.json', root = project.root): string => join(root, '.claude', name);
const read = (file: string): string => readFileSync(file, 'utf8');
const put = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const state = (): string => join(home, '.local', 'state', 'stepfast');

it('[pain 20] two inits at once leave settings of others as typed, the plugin works, and uninstall in mid-session leaves every byte', async () => {
  put(settingsOf(), odd);
  chmodSync(settingsOf(), 0o600);
  put(settingsOf('settings.json'), '{\n        "cleanupPeriodDays": 99\n}');
  put(join(configOf(home), 'settings.json'), '{"theme":   "dark"}\n');
  const pictures = () => [
    picture(join(project.root, '.claude')),
    read(join(configOf(home), 'settings.json')),
  ];
  const before = pictures();

  const both = await Promise.all([stepfast(['init', '--yes']), stepfast(['init', '--yes'])]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(read(settingsOf()).startsWith(firstLines)).toBe(true);
  expect(statSync(settingsOf()).mode & 0o777).toBe(0o600);
  expect(read(settingsOf('settings.json'))).toBe('{\n        "cleanupPeriodDays": 99\n}');
  expect(read(join(configOf(home), 'settings.json'))).toBe('{"theme":   "dark"}\n');
  const installed = pictures();
  expect((await stepfast(['init', '--yes'])).stdout).toMatch(/^Already set up/);
  expect(pictures()).toEqual(installed);

  // A plugin of an older version is brought up to date.
  const manifest = join(state(), 'plugin', 'current', '.claude-plugin', 'plugin.json');
  writeFileSync(manifest, read(manifest).replace(/"version": "[^"]*"/, '"version": "0.0.1"'));
  const newer = await stepfast(['init', '--yes', '--json']);
  expect(JSON.parse(newer.stdout).hosts[0].commands).toEqual([
    'claude plugin update stepfast@stepfast --scope local',
  ]);
  expect(read(manifest)).not.toContain('"0.0.1"');

  await project.runtime().start({ workflow: 'w' }, { session: 'mcp-before' });
  const session = await startClaude({ cwd: project.root, home, model });
  try {
    await session.send('continue');
    const [first] = model.requestsOf('main');
    for (const there of ['INSTRUCTIONS-PLAN', 'THEIR-HOOK'])
      expect(first && contextOf(first)).toContain(there);
    rmSync(join(state(), 'plugin', 'current', 'hooks', 'stepfast-hook.sh'));
    expect(await session.send('and now')).toMatchObject({ isError: false, result: 'Yes.' });
    const removed = await stepfast(['uninstall', '--yes']);
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).toContain('.claude/settings.local.json restored');
    expect(await session.send('and then')).toMatchObject({ isError: false, result: 'Yes.' });
  } finally {
    await session.close();
  }
  expect(pictures()).toEqual(before);
  expect(existsSync(join(state(), 'plugin'))).toBe(false);
  expect(existsSync(join(project.root, '.stepfast', 'workflows', 'go.yaml'))).toBe(true);
});

it('[pain 20] settings with a comment are refused before anything is done', async () => {
  const text = '{\n  // mine\n  "model": "sonnet"\n}\n';
  put(settingsOf(), text);
  const { code, stderr } = await stepfast(['init', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toContain('.claude/settings.local.json, line 2, column 3: a comment');
  expect(read(settingsOf())).toBe(text);
  expect(existsSync(join(configOf(home), 'plugins', 'known_marketplaces.json'))).toBe(false);
  // The project's own files do not depend on it.
  expect(existsSync(join(project.root, '.stepfast', 'workflows', 'go.yaml'))).toBe(true);
});

it('--team switches the plugin on in the file that is committed, and names no path of this machine there', async () => {
  const { code } = await stepfast(['init', '--yes', '--team']);
  expect(code).toBe(0);
  expect(JSON.parse(read(settingsOf('settings.json')))).toEqual({
    enabledPlugins: { 'stepfast@stepfast': true },
  });
  await project.runtime().start({ workflow: 'w' }, { session: 'mcp-before' });
  const { requests } = await runClaude({ cwd: project.root, home, model, prompts: ['continue'] });
  const [first] = requests.requestsOf('main');
  expect(first && contextOf(first)).toContain('INSTRUCTIONS-PLAN');
});

it('without Claude Code the project is prepared, and init says what to do later', async () => {
  const { code, stdout } = await stepfast(['init', '--yes'], { path: '/nonexistent' });
  expect(code).toBe(0);
  expect(stdout).toContain('No agent program was found (Claude Code, ');
});
