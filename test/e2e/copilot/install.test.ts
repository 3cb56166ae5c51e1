import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Check } from '../../../src/runtime/index.ts';
import { lastUser, reply } from '../../../src/testing/index.ts';
import { type CopilotLab, createCopilotLab } from '../../kit/copilot.ts';

const workflow = `name: w
description: Plans
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN write the plan. }
`;

/** Comments, a trailing comma and tabs, which the host accepts and drops. */
const odd =
  '// mine\n{\n\t"banner":   "never", // keep\n\t"enabledPlugins": {"other@x": false},\n\t"allowedUrls": [],\n}\n';

let lab: CopilotLab;
beforeEach(async () => {
  lab = await createCopilotLab({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

const settings = (): string => join(lab.config, 'settings.json');

async function doctor(...more: string[]): Promise<{ code: number; checks: Check[] }> {
  const { code, stdout } = await lab.within('doctor', '--json', ...more);
  const sections: { checks: Check[] }[] = JSON.parse(stdout).sections;
  return { code, checks: sections.flatMap(({ checks }) => checks) };
}

it.each([
  ['no settings', undefined],
  ['odd settings', odd],
])(
  '[002/10] with %s it is installed by the host itself, works, and is removed byte for byte',
  async (_, text) => {
    if (text !== undefined) writeFileSync(settings(), text);
    // Without a person to confirm it, it is only shown.
    const shown = await lab.stepfast('init', '--host', 'copilot');
    for (const part of ['copilot plugin marketplace add ', 'copilot plugin install ', settings()])
      expect(shown.stdout + shown.stderr).toContain(part);
    expect(existsSync(settings()) ? readFileSync(settings(), 'utf8') : undefined).toBe(text);
    const done = await lab.stepfast('init', '--host', 'copilot', '--yes');
    expect(done).toMatchObject({ code: 0 });
    const now = readFileSync(settings(), 'utf8');
    expect(now).toContain('"stepfast@stepfast": true');
    if (text !== undefined) expect(now).toContain('// keep');
    // As the person runs it: no argument names the plugin.
    const { at, state } = await lab.project.startRun('w');
    lab.model.on(
      lastUser(/continue/),
      reply.tool('stepfast-workflow_status', { at }),
      reply.text('Going on.'),
    );
    await lab.host('-p', 'continue');
    expect(lab.contexts()[0]).toContain('INSTRUCTIONS-PLAN');
    expect((await state()).sessions[lab.sessions()[0] ?? '']).toMatchObject({ witness: 'hooks' });
    const again = await lab.stepfast('init', '--host', 'copilot', '--yes', '--json');
    expect(JSON.parse(again.stdout).hosts[0]).toMatchObject({ commands: [], edits: [] });
    expect(await lab.stepfast('uninstall', '--host', 'copilot', '--yes')).toMatchObject({ code: 0 });
    expect(existsSync(settings()) ? readFileSync(settings(), 'utf8') : undefined).toBe(text);
  },
);

it('what was changed in the settings since stays, without our entries', async () => {
  writeFileSync(settings(), odd);
  await lab.stepfast('init', '--host', 'copilot', '--yes');
  writeFileSync(settings(), readFileSync(settings(), 'utf8').replace('"never"', '"always"'));
  await lab.stepfast('uninstall', '--host', 'copilot', '--yes');
  const left = readFileSync(settings(), 'utf8');
  expect(left).toContain('"always"');
  expect(left).not.toContain('stepfast');
});

it('settings that cannot be read, another marketplace of that name and a team are refused, and nothing is changed', async () => {
  const refused = async (...more: string[]): Promise<string> => {
    const { code, stdout } = await lab.stepfast('init', '--host', 'copilot', '--yes', '--json', ...more);
    expect(code).not.toBe(0);
    return JSON.parse(stdout).hosts[0].refused.code;
  };
  writeFileSync(settings(), '{ broken');
  expect(await refused()).toBe('settings_broken');
  expect(readFileSync(settings(), 'utf8')).toBe('{ broken');
  writeFileSync(settings(), '{}');
  expect(await refused('--team')).toBe('no_team_install');
  const top = join(import.meta.dirname, '..', '..', '..');
  const other = { stepfast: { source: { source: 'directory', path: top } } };
  writeFileSync(settings(), JSON.stringify({ extraKnownMarketplaces: other }));
  expect(await refused()).toBe('other_marketplace');
});

it('doctor finds what keeps hooks from firing, and --live proves each of them', async () => {
  const has = (what: string, state: Check['state']) => expect.objectContaining({ what, state });
  const before = await doctor();
  expect(before.checks).toContainEqual(has('plugin', 'wrong'));
  await lab.stepfast('init', '--host', 'copilot', '--yes');
  const after = await doctor('--live');
  expect(after.checks).toContainEqual(has('plugin', 'ok'));
  expect(after.checks).toContainEqual(has('briefing', 'ok'));
  for (const event of [
    'sessionStart',
    'preToolUse',
    'permissionRequest',
    'postToolUse',
    'preCompact',
    'agentStop',
  ])
    expect(after.checks).toContainEqual(has(event, 'ok'));
  expect(after.checks.filter(({ state }) => state === 'wrong')).toEqual([]);
  await lab.host('plugin', 'disable', 'stepfast@stepfast');
  expect((await doctor()).checks).toContainEqual(has('plugin', 'wrong'));
});
