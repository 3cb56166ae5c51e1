/** The real program in a real terminal. The agent calls no Stepfast tool; the person types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type ClaudeProject, contextOf, lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { claudeCommand, createClaudeProject } from '../../kit/claude.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const passes = 'grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }';
const go = `name: go
extends: go
steps:
  - { id: do, gate: [{ run: "${passes}" }] }
`;
const reviewed = `name: w
description: Plans, then builds
stop: check
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, gate: [{ exists: PLAN.md }], review: { by: human } }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD, gate: [{ exists: BUILT.md }] }
`;

let stage: ClaudeProject;
let terminal: Terminal;
afterEach(async () => {
  await terminal.close();
  await stage[Symbol.asyncDispose]();
});

async function open(files: Record<string, string>, ...workflows: string[]): Promise<void> {
  stage = await createClaudeProject({ 'total.txt': '41\n', ...files });
  for (const name of workflows) stage.project.trust(name);
  const command = await claudeCommand({
    cwd: stage.project.root,
    home: stage.home,
    model: stage.model,
    pluginDir: top,
    allow: ['Edit', 'Write', 'Read', 'Bash', 'Skill'],
    env: { XDG_STATE_HOME: join(stage.project.env.HOME ?? '', '.local', 'state') },
  });
  terminal = await openTerminal({
    directory: stage.home,
    command: [command.program, ...command.args],
    cwd: stage.project.root,
    env: command.env,
    columns: 110,
    rows: 45,
  });
  await terminal.waitFor(/❯|>/);
  // Commands of plugins work only once the plugins are loaded.
  await new Promise((resolve) => setTimeout(resolve, 1500));
}

async function enter(text: string): Promise<void> {
  await terminal.type(text);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await terminal.press('Enter');
}

const told = (text: RegExp) => (request: Parameters<typeof contextOf>[0]) => text.test(contextOf(request));
const state = async () => await (await stage.project.onlyRun()).state();

it('[U3] [U14] one prompt: a false "done" is caught, the fix recognized, and the person sees the proven end', async () => {
  await open({ '.stepfast/workflows/go.yaml': go }, 'go');
  stage.model.on(
    lastUser(/make it 42/),
    toolCall.bash('echo 43 > total.txt'),
    reply.text('Done! All tests pass.'),
  );
  stage.model.on(told(/not ok 1/), toolCall.bash('echo 42 > total.txt'), reply.text('Now it is done.'));
  await enter('/stepfast:go make it 42');
  await terminal.waitFor(/✓ go complete/, 60_000);
  const screen = await terminal.screen();
  expect(screen).not.toContain('error');
  const { events } = await stage.project.onlyRun();
  expect((await events('gates.finished')).map(({ pass }) => pass)).toEqual([false, true]);
  expect((await state()).status).toBe('complete');
  expect(readFileSync(join(stage.project.root, 'total.txt'), 'utf8')).toBe('42\n');
});

it('[U15] [U20] an approval and one /clear are all that a person types', async () => {
  await open({ '.stepfast/workflows/w.yaml': reviewed }, 'w');
  stage.model.on(lastUser(/add a page/), toolCall.bash('echo plan > PLAN.md'), reply.text('Planned.'));
  stage.model.on(told(/INSTRUCTIONS-BUILD/), toolCall.bash('echo built > BUILT.md'), reply.text('Built.'));
  stage.model.always(lastUser(/./), reply.text('Waiting.'));
  await enter('/stepfast:start w add a page');
  await terminal.waitFor(/\/stepfast:approve [0-9a-f]{4}/, 60_000);
  const [, code = ''] = /\/stepfast:approve ([0-9a-f]{4})/.exec(await terminal.screen()) ?? [];
  await enter(`/stepfast:approve ${code}`);
  await terminal.waitFor(/build .*\/clear/, 60_000);
  await enter('/clear');
  await terminal.waitFor(/✓ w complete/, 60_000);
  expect(await state()).toMatchObject({
    status: 'complete',
    outputs: { plan: { reviewed: expect.anything() } },
  });
});
