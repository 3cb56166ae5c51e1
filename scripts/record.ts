/**
 * `npm run record`: the real Claude Code in a real terminal, with the plugin and a scripted model, drawn into
 * docs/claude-code.svg. Needs tmux.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createScriptedModel,
  createTestProject,
  forgetsAll,
  lastUser,
  type ModelRequest,
  reply,
  type ScriptedModel,
  summariser,
} from '../src/testing/index.ts';
import { claudeCommand } from '../test/kit/claude.ts';
import { openTerminal, type Terminal } from '../test/kit/terminal.ts';
import { ensureBuilt } from './ensure-built.ts';
import { type Panel, screensSvg } from './record/screen-svg.ts';

const top = join(import.meta.dirname, '..');
const size = { columns: 100, rows: 40 };
const tool = (name: string): string => `mcp__plugin_stepfast_stepfast__${name}`;

const files = {
  'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  'login.js': 'export const canLogIn = (user) => user.password !== "";\n',
  'login.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { canLogIn } from './login.js';
test('an empty password is refused', () => assert.equal(canLogIn({ password: '' }), false));
test('a blank password is refused', () => assert.equal(canLogIn({ password: '  ' }), false));
`,
  '.stepfast/workflows/go.yaml': `name: go
extends: go
steps:
  - id: verify
    gate:
      - run: npm test
`,
  '.stepfast/workflows/two.yaml': `name: two
description: Plan, then build with a clean head
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: action, context: clear, instructions: Build what the plan says. }
`,
};

ensureBuilt();
using project = createTestProject(files);
project.trust('go');
const home = join(project.root, '..', 'claude-home');
mkdirSync(home);
await using model = await createScriptedModel();
const command = await claudeCommand({
  cwd: project.root,
  home,
  model,
  pluginDir: top,
  allow: ['Edit', 'Read', 'Bash', 'mcp__plugin_stepfast_stepfast', 'Skill'],
  env: { ENABLE_TOOL_SEARCH: 'false', XDG_STATE_HOME: join(project.env.HOME ?? '', '.local', 'state') },
});
const terminal = await openTerminal({
  directory: home,
  command: [command.program, ...command.args],
  cwd: project.root,
  env: command.env,
  ...size,
});
try {
  const panels = await play(terminal, model);
  writeFileSync(join(top, 'docs', 'claude-code.svg'), screensSvg(panels, size.columns));
  console.log(`${panels.length} screens in docs/claude-code.svg`);
} finally {
  await terminal.close();
}

async function play(screen: Terminal, script: ScriptedModel): Promise<Panel[]> {
  const panels: Panel[] = [];
  const shoot = async (title: string): Promise<void> => {
    await pause(600);
    panels.push({ title, screen: tidy(await screen.screen()) });
  };
  await screen.waitFor(/❯|>/);
  // Plugin commands work only after the plugins are loaded.
  await pause(1500);
  const task = 'refuse blank passwords at login';
  script.on(
    lastUser(/blank passwords/),
    reply.tool(tool('workflow_start'), { workflow: 'go', inputs: { task }, summary: task }),
    (request) =>
      reply.tool(tool('workflow_advance'), {
        output: 'login.js: blank passwords are refused.',
        at: at(request),
      }),
    (request) => reply.tool(tool('workflow_advance'), { output: 'All tests pass.', at: at(request) }),
    reply.text('Blank passwords are refused now, all done.'),
  );
  script.on(
    lastUser(/not finished/),
    reply.tool('Read', { file_path: join(project.root, 'login.js') }),
    reply.tool('Edit', {
      file_path: join(project.root, 'login.js'),
      old_string: 'user.password !== ""',
      new_string: 'user.password.trim() !== ""',
    }),
    reply.text('It was not: `npm test` was red, a blank password still got in. Now login.js trims it.'),
  );
  await enter(screen, `/stepfast:go ${task}`);
  await screen.waitFor(/Now login.js trims it/, 60_000);
  await shoot('“Done” is checked, and a stop is held');

  script.always(summariser(), forgetsAll());
  script.on(
    lastUser(/continue/),
    (request) => reply.tool(tool('workflow_advance'), { output: 'npm test: 2 passed.', at: at(request) }),
    reply.text(
      '✅ Workflow restored: go, phase 2/2. `npm test` has passed under Stepfast: the run is complete.',
    ),
  );
  await enter(screen, '/compact');
  await screen.waitFor(/Compacted|compacted/i, 60_000);
  await enter(screen, 'continue');
  await screen.waitFor(/Workflow restored/, 60_000);
  await shoot('After a compaction that forgot everything');

  script.on(
    lastUser(/workflow two/),
    reply.tool(tool('workflow_start'), { workflow: 'two' }),
    (request) => reply.tool(tool('workflow_advance'), { output: 'The plan is in PLAN.md.', at: at(request) }),
    reply.text('The plan is ready. Building begins with a fresh context.'),
  );
  script.on(
    lastUser(/build it/),
    reply.text('✅ Workflow restored: two, phase 2/2 (build). I build what the plan says.'),
  );
  await enter(screen, '/clear');
  await pause(1500);
  await enter(screen, 'begin the workflow two');
  await screen.waitFor(/Type \/clear/, 60_000);
  await shoot('A boundary: a model cannot type /clear, so you are asked');
  await enter(screen, '/clear');
  await pause(1500);
  await enter(screen, 'build it');
  await screen.waitFor(/I build what the plan says/, 60_000);
  await shoot('The new session knows where it stands');
  return panels;
}

async function enter(screen: Terminal, text: string): Promise<void> {
  await screen.type(text);
  await pause(400);
  await screen.press('Enter');
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * From the first prompt on, without the emptiness between conversation and prompt, and with a place that a reader may
 * have.
 */
function tidy(screen: string): string {
  const lines = screen.replaceAll(project.root, '~/shop').split('\n');
  const first = lines.findIndex((line) => line.includes('❯'));
  return lines
    .slice(first)
    .join('\n')
    .replaceAll(/\n(?:[ \t]*\n){2,}/g, '\n\n');
}

/** The latest handle in the conversation. */
function at({ body }: ModelRequest): string {
  const handles = JSON.stringify(body.messages).match(/[0-9a-z]{8}:[\w/.-]+#\d+/g) ?? [];
  return handles.at(-1) ?? '';
}
