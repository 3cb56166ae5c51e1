import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostBinary } from '../../../scripts/install-hosts.ts';
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

const _top = join(import.meta.dirname, '..', '..', '..');

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

/** A folder for the path, with the real host, except that `plugin install` does this. */
async function whereInstall(does: string): Promise<string> {
  const folder = join(home, 'in-between');
  mkdirSync(folder);
  const script = `#!/bin/sh\nreal='${await hostBinary('claude')}'\ncase "$*" in "plugin install"*) ${does} ;; esac\nexec "$real" "$@"\n`;
  writeFileSync(join(folder, 'claude'), script, { mode: 0o755 });
  return folder;
}

const state = (): string => join(home, '.local', 'state', 'stepfast');

it('[pain 20] settings of others stay as they were typed, the plugin works, and uninstall leaves every byte as before', async () => {
  put(settingsOf(), odd);
  chmodSync(settingsOf(), 0o600);
  put(settingsOf('settings.json'), '{\n        "cleanupPeriodDays": 99\n}');
  put(join(configOf(home), 'settings.json'), '{"theme":   "dark"}\n');
  const before = [picture(join(project.root, '.claude')), read(join(configOf(home), 'settings.json'))];

  const installed = await stepfast(['init', '--yes']);
  expect(installed).toMatchObject({ code: 0 });
  expect(read(settingsOf()).startsWith(firstLines)).toBe(true);
  expect(statSync(settingsOf()).mode & 0o777).toBe(0o600);
  expect(read(settingsOf('settings.json'))).toBe('{\n        "cleanupPeriodDays": 99\n}');
  expect(read(join(configOf(home), 'settings.json'))).toBe('{"theme":   "dark"}\n');

  await project.runtime().start({ workflow: 'w' }, { session: 'mcp-before' });
  const { requests } = await runClaude({ cwd: project.root, home, model, prompts: ['continue'] });
  const [first] = requests.requestsOf('main');
  const told = first ? contextOf(first) : '';
  expect(told).toContain('INSTRUCTIONS-PLAN');
  expect(told).toContain('THEIR-HOOK');

  const removed = await stepfast(['uninstall', '--yes']);
  expect(removed).toMatchObject({ code: 0 });
  expect(removed.stdout).toContain('.claude/settings.local.json restored');
  expect([picture(join(project.root, '.claude')), read(join(configOf(home), 'settings.json'))]).toEqual(
    before,
  );
  expect(existsSync(join(state(), 'plugin'))).toBe(false);
  expect(existsSync(join(project.root, '.stepfast', 'workflows', 'go.yaml'))).toBe(true);
  const after = await runClaude({ cwd: project.root, home, model, prompts: ['continue'] });
  const [plain] = after.requests.requestsOf('main');
  expect(plain && contextOf(plain)).not.toContain('INSTRUCTIONS-PLAN');
});

it('[pain 20] later edits stay, and only the entries of Stepfast are removed', async () => {
  put(settingsOf(), odd);
  await stepfast(['init', '--yes']);
  const change = (text: string): string => text.replace('Bash(ls)', 'Bash(pwd)');
  put(settingsOf(), change(read(settingsOf())));
  const removed = await stepfast(['uninstall', '--yes']);
  expect(removed.stdout).toContain("only Stepfast's entries were removed");
  expect(read(settingsOf()).startsWith(change(firstLines))).toBe(true);
  expect(JSON.parse(read(settingsOf()).slice(1))).toEqual(JSON.parse(change(odd).slice(1)));
});

it('[pain 20] where there were no settings there are none afterwards', async () => {
  await stepfast(['init', '--yes']);
  expect(JSON.parse(read(settingsOf()))).toMatchObject({ enabledPlugins: { 'stepfast@stepfast': true } });
  await stepfast(['uninstall', '--yes']);
  expect(existsSync(join(project.root, '.claude'))).toBe(false);
});

it.each([
  ['a comment', '{\n  // mine\n  "model": "sonnet"\n}\n', 'line 2, column 3: a comment'],
  ['half a file', '{ "hooks": {', 'line 1, column 13'],
])('[pain 20] %s in the settings is refused before anything is done', async (_, text, where) => {
  put(settingsOf(), text);
  const { code, stderr } = await stepfast(['init', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toContain('.claude/settings.local.json, ');
  expect(stderr).toContain(where);
  expect(read(settingsOf())).toBe(text);
  expect(existsSync(join(configOf(home), 'plugins', 'known_marketplaces.json'))).toBe(false);
  // The project's own files do not depend on it.
  expect(existsSync(join(project.root, '.stepfast', 'workflows', 'go.yaml'))).toBe(true);
});

it('[pain 20] init again changes nothing, and brings a plugin of an older version up to date', async () => {
  await stepfast(['init', '--yes']);
  const before = read(settingsOf());
  const again = await stepfast(['init', '--yes']);
  expect(again.stdout).toMatch(/^Already set up/);
  expect(read(settingsOf())).toBe(before);
  const manifest = join(state(), 'plugin', 'current', '.claude-plugin', 'plugin.json');
  writeFileSync(manifest, read(manifest).replace(/"version": "[^"]*"/, '"version": "0.0.1"'));
  const newer = await stepfast(['init', '--yes', '--json']);
  expect(JSON.parse(newer.stdout).hosts[0].commands).toEqual([
    'claude plugin update stepfast@stepfast --scope local',
  ]);
  expect(read(manifest)).not.toContain('"0.0.1"');
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

it('a member of the team without Stepfast notices nothing', async () => {
  put(settingsOf('settings.json'), '{ "enabledPlugins": { "stepfast@stepfast": true } }\n');
  const run = await runClaude({ cwd: project.root, home, model, prompts: ['continue'] });
  expect(run.turns[0]).toMatchObject({ isError: false, result: 'Yes.' });
  expect(run.stderr).toBe('');
});

it('[pain 20] a session that runs goes on after the plugin was taken away or deleted: no hook blocks it', async () => {
  await stepfast(['init', '--yes']);
  await project.runtime().start({ workflow: 'w' }, { session: 'mcp-before' });
  const session = await startClaude({ cwd: project.root, home, model });
  try {
    await session.send('hello');
    rmSync(join(state(), 'plugin', 'current', 'hooks', 'stepfast-hook.sh'));
    expect(await session.send('and now')).toMatchObject({ isError: false, result: 'Yes.' });
    await stepfast(['uninstall', '--yes']);
    expect(await session.send('and then')).toMatchObject({ isError: false, result: 'Yes.' });
  } finally {
    await session.close();
  }
  const asked = model.requestsOf('main').map(({ lastUser: text }) => text);
  for (const prompt of ['and now', 'and then']) expect(asked.join('\n')).toContain(prompt);
});

it('another project keeps its plugin when one gives it up, whose settings are as before to the byte', async () => {
  using other = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
  put(settingsOf(), odd);
  await stepfast(['init', '--yes']);
  await stepfast(['init', '--yes'], { cwd: other.root });
  const { stdout } = await stepfast(['uninstall', '--yes']);
  expect(stdout).toContain('used by other projects');
  expect(read(settingsOf())).toBe(odd);
  await other.runtime().start({ workflow: 'w' }, { session: 'mcp-before' });
  const { requests } = await runClaude({ cwd: other.root, home, model, prompts: ['continue'] });
  const [first] = requests.requestsOf('main');
  expect(first && contextOf(first)).toContain('INSTRUCTIONS-PLAN');
});

it('without Claude Code the project is prepared, and init says what to do later', async () => {
  const { code, stdout } = await stepfast(['init', '--yes'], { path: '/nonexistent' });
  expect(code).toBe(0);
  expect(stdout).toContain('No agent program was found (Claude Code, ');
});

it('a command of the host that fails is named with its last lines, and nothing is half done', async () => {
  put(settingsOf(), odd);
  const path = await whereInstall('echo "The disk is full" >&2; exit 3');
  const { code, stderr } = await stepfast(['init', '--yes'], { path });
  expect(code).toBe(1);
  expect(stderr).toContain("'claude plugin install stepfast@stepfast --scope local' failed (exit 3)");
  expect(stderr).toContain('The disk is full');
  expect(read(settingsOf())).toBe(odd);
  expect(JSON.parse(read(join(configOf(home), 'plugins', 'known_marketplaces.json')))).toEqual({});
});

it('[pain 20] an init that was killed half way is finished by the next, and uninstall still leaves every byte', async () => {
  put(settingsOf(), odd);
  const path = await whereInstall('"$real" "$@"; kill -9 $PPID; exit 0');
  expect((await stepfast(['init', '--yes'], { path })).code).not.toBe(0);
  expect(read(settingsOf())).not.toBe(odd);
  expect((await stepfast(['init', '--yes'])).code).toBe(0);
  expect(read(settingsOf()).startsWith(firstLines)).toBe(true);
  await stepfast(['uninstall', '--yes']);
  expect(read(settingsOf())).toBe(odd);
});

it('[pain 20] two inits at the same moment end well, and uninstall leaves every byte', async () => {
  put(settingsOf(), odd);
  const both = await Promise.all([stepfast(['init', '--yes']), stepfast(['init', '--yes'])]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  await stepfast(['uninstall', '--yes']);
  expect(read(settingsOf())).toBe(odd);
});

it('a member of the team who gives it up leaves the committed file as it is, and is told how it would go', async () => {
  const teams = '{ "enabledPlugins": {"stepfast@stepfast":   true} }\n';
  put(settingsOf('settings.json'), teams);
  await stepfast(['init', '--yes']);
  const removed = await stepfast(['uninstall', '--yes']);
  expect(removed).toMatchObject({ code: 0 });
  expect(removed.stdout).toContain('.claude/settings.json left unchanged');
  expect(removed.stdout).toContain(' uninstall --team');
  expect(read(settingsOf('settings.json'))).toBe(teams);
  expect(existsSync(settingsOf())).toBe(false);
  expect(existsSync(join(state(), 'plugin'))).toBe(false);
});
