import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Check } from '../../../src/runtime/index.ts';
import { configOf } from '../../../src/testing/claude/command.ts';
import {
  createScriptedModel,
  createTestProject,
  type ScriptedModel,
  type TestProject,
} from '../../../src/testing/index.ts';
import { type CommandLine, createCommandLine, picture } from './command-line.ts';

let project: TestProject;
let model: ScriptedModel;
let line: CommandLine;

// One installation, which the second test makes and the last tests break.
beforeAll(async () => {
  project = createTestProject({ '.stepfast/config.yaml': '' });
  model = await createScriptedModel();
  line = await createCommandLine(join(project.root, '..', 'claude-home'), project.root, model);
});

afterAll(async () => {
  await model[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

const plugin = (): string => join(line.home, '.local', 'state', 'stepfast', 'plugin', 'current');

async function doctor(...more: string[]): Promise<{ code: number; checks: Check[] }> {
  const { code, stdout } = await line.stepfast(['doctor', '--json', ...more]);
  const sections: { checks: Check[] }[] = JSON.parse(stdout).sections;
  return { code, checks: sections.flatMap(({ checks }) => checks) };
}

it('[002/10] without the plugin, and with settings that are no JSON, doctor says what to do', async () => {
  project.write({ '.claude/settings.local.json': '{ // mine\n}' });
  const { checks } = await doctor();
  expect(checks).toContainEqual(
    expect.objectContaining({ what: 'plugin', state: 'wrong', next: expect.stringMatching(/ init$/) }),
  );
  expect(checks).toContainEqual(
    expect.objectContaining({
      what: 'settings',
      says: expect.stringContaining('.claude/settings.local.json, line 1, column 3: a comment'),
    }),
  );
  rmSync(join(project.root, '.claude'), { recursive: true });
});

it('doctor --live proves every hook of the plugin in the real program, and touches nothing of the person’s', async () => {
  expect(await line.stepfast(['init', '--yes'])).toMatchObject({ code: 0 });
  const before = [picture(configOf(line.home)), picture(project.root)];
  const { code, checks } = await doctor('--live');
  expect(checks).toContainEqual(expect.objectContaining({ what: 'plugin', state: 'ok' }));
  const told = checks.filter(({ says }) => says.startsWith('proven'));
  expect(checks.filter(({ state }) => state === 'wrong')).toEqual([]);
  expect(code).toBe(0);
  expect(told.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['SessionStart', 'PreCompact', 'Stop', 'SubagentStart', 'SessionEnd']),
  );
  expect([picture(configOf(line.home)), picture(project.root)]).toEqual(before);
});

it('doctor --live tells a hook that the host never starts from one whose words are cut', async () => {
  const hooks = join(plugin(), 'hooks', 'hooks.json');
  writeFileSync(hooks, readFileSync(hooks, 'utf8').replace('"Write|Edit|NotebookEdit"', '"NoSuchTool"'));
  const shim = join(plugin(), 'hooks', 'stepfast-hook.sh');
  const long = `if [ "$1" = session_start ]; then i=0; while [ $i -lt 400 ]; do echo "line $i of a text that is far too long"; i=$((i+1)); done; exit 0; fi`;
  writeFileSync(shim, readFileSync(shim, 'utf8').replace('\n', `\n${long}\n`));
  const { code, checks } = await doctor('--live');
  expect(code).toBe(1);
  expect(checks).toContainEqual(
    expect.objectContaining({ what: 'PostToolUse (write)', says: 'silent: the host never started it' }),
  );
  expect(checks).toContainEqual(
    expect.objectContaining({ what: 'SessionStart', says: 'cut: the model got only the beginning' }),
  );
});

it('[002/10] what keeps hooks from firing is reported with its fix: switched off, forbidden', async () => {
  const settings = join(project.root, '.claude', 'settings.local.json');
  const now = readFileSync(settings, 'utf8');
  writeFileSync(settings, now.replace('"stepfast@stepfast": true', '"stepfast@stepfast": false'));
  writeFileSync(join(configOf(line.home), 'settings.json'), '{ "disableAllHooks": true }');
  const off = await doctor();
  expect(off.code).toBe(1);
  expect(off.checks).toContainEqual(
    expect.objectContaining({ says: 'switched off', next: 'claude plugin enable stepfast@stepfast' }),
  );
  expect(off.checks).toContainEqual(
    expect.objectContaining({ says: expect.stringContaining('"disableAllHooks" in ') }),
  );
});
