/** `stepfast init`, `doctor` and `uninstall` for the real OpenCode. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostBinary } from '../../../scripts/install-hosts.ts';
import { packageRoot } from '../../../src/cli/index.ts';
import { contextOf, mainTurn, reply } from '../../../src/testing/index.ts';
import { createOpenCodeLab, type OpenCodeLab, type Ran } from '../../kit/opencode.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
`;

/** With comments, a trailing comma, odd blanks and another's entries. */
const odd = `{\r\n\t// mine\r\n   "plugin": [],   "mcp": {"other": {"type": "local", "command": ["true"], "enabled": false,},},\r\n\t"username":  "ann" }`;

let lab: OpenCodeLab;
beforeEach(async () => {
  lab = await createOpenCodeLab({ '.stepfast/workflows/w.yaml': workflow }, { installed: false });
  lab.model.always(mainTurn(), () => reply.text('Yes.'));
});
afterEach(async () => await lab[Symbol.asyncDispose]());

const stepfast = (...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const all = [join(packageRoot(), 'dist', 'cli.js'), ...args];
    const { env, project } = lab;
    execFile(process.execPath, all, { cwd: project.root, env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
const file = (name: string): string => join(lab.project.root, name);
const checks = async (...args: string[]) => {
  const { stdout } = await stepfast('doctor', '--json', ...args);
  const sections: { checks: { what: string; state: string }[] }[] = JSON.parse(stdout).sections;
  return sections.flatMap((section) => section.checks);
};
const stateOf = async (what: string) => (await checks()).find((each) => each.what === what)?.state;

it.each([
  ['opencode.jsonc', odd, 'as_before'],
  ['opencode.json', null, 'removed'],
])(
  '[pain 20] %s: the plugin works after init, and uninstall leaves every byte as before',
  async (name, text, how) => {
    if (text !== null) writeFileSync(file(name), text);
    expect(await stepfast('init', '--yes', '--host', 'opencode')).toMatchObject({ status: 0 });
    expect(readFileSync(file(name), 'utf8')).toContain('opencode-plugin.js');
    if (text !== null) expect(readFileSync(file(name), 'utf8')).toContain('// mine');
    const again = await stepfast('init', '--yes', '--host', 'opencode', '--json');
    expect(JSON.parse(again.stdout).hosts).toMatchObject([{ host: 'opencode', edits: [] }]);
    await lab.project.startRun('w');
    await lab.run('run', 'continue');
    expect(contextOf(lab.model.requestsOf('main')[0] ?? expect.unreachable())).toContain('INSTRUCTIONS-PLAN');
    const { stdout } = await stepfast('uninstall', '--yes', '--json', '--host', 'opencode');
    expect(JSON.parse(stdout).hosts).toMatchObject([
      { host: 'opencode', files: [{ file: name, how }], used: false },
    ]);
    expect(text === null ? existsSync(file(name)) : readFileSync(file(name), 'utf8')).toBe(text ?? false);
  },
);

it('settings that were edited since keep the edit', async () => {
  writeFileSync(file('opencode.json'), '{ "username": "ann" }\n');
  await stepfast('init', '--yes', '--host', 'opencode');
  const now = JSON.parse(readFileSync(file('opencode.json'), 'utf8'));
  writeFileSync(file('opencode.json'), JSON.stringify({ ...now, username: 'bob' }));
  await stepfast('uninstall', '--yes', '--host', 'opencode');
  expect(JSON.parse(readFileSync(file('opencode.json'), 'utf8'))).toEqual({ username: 'bob' });
});

it('a file that cannot be read is refused and stays as it is', async () => {
  writeFileSync(file('opencode.json'), '{ "plugin": [ }');
  const { status, stdout } = await stepfast('init', '--yes', '--json', '--host', 'opencode');
  expect(status).not.toBe(0);
  expect(JSON.parse(stdout).hosts).toMatchObject([{ refused: { code: 'settings_broken' } }]);
  expect(readFileSync(file('opencode.json'), 'utf8')).toBe('{ "plugin": [ }');
});

it('doctor finds a plugin that OpenCode silently runs without', async () => {
  await stepfast('init', '--yes', '--host', 'opencode');
  expect(await stateOf('plugin')).toBe('ok');
  const { plugin } = JSON.parse(readFileSync(file('opencode.json'), 'utf8'));
  rmSync(new URL(plugin[0]));
  expect(await stateOf('plugin')).toBe('wrong');
  expect(await lab.run('run', 'hello')).toMatchObject({ status: 0 });
});

it('doctor --live proves briefing, files and tools in a real session', async () => {
  await stepfast('init', '--yes', '--host', 'opencode');
  // Its model is outside of the namespace.
  lab.env.PATH = `${dirname(await hostBinary('opencode'))}:${lab.env.PATH}`;
  const { stdout } = await stepfast('doctor', '--json', '--live');
  const sections: { title: string; checks: { state: string; says: string }[] }[] =
    JSON.parse(stdout).sections;
  const live = sections.find(({ title }) => title === 'OpenCode, live')?.checks ?? [];
  expect(live).toHaveLength(4);
  expect(live.filter(({ state }) => state !== 'ok')).toEqual([]);
});
