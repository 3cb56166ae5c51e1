/**
 * `npm run record`: the real Claude Code in a real terminal, with the plugin and a scripted model, drawn into
 * docs/claude-code.svg, and the first screen into docs/false-done.svg. Needs tmux.
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
const size = { columns: 100, rows: 60 };

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
  - id: do
    gate:
      - run: npm test
`,
  '.stepfast/workflows/two.yaml': `name: two
description: Plan, then build with a fresh context
stop: check
steps:
  - { id: plan, type: action, instructions: Write the plan to PLAN.md., gate: [{ exists: PLAN.md }], review: { by: human } }
  - { id: build, type: action, context: clear, instructions: Build what the plan says., gate: [{ run: npm test }] }
`,
};

ensureBuilt();
using project = createTestProject(files);
for (const name of ['go', 'two']) project.trust(name);
const home = join(project.root, '..', 'claude-home');
mkdirSync(home);
await using model = await createScriptedModel();
const command = await claudeCommand({
  cwd: project.root,
  home,
  model,
  pluginDir: top,
  allow: ['Edit', 'Write', 'Read', 'Bash', 'Skill'],
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
  writeFileSync(join(top, 'docs', 'false-done.svg'), screensSvg(panels.slice(0, 1), size.columns));
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
  script.always(summariser(), forgetsAll());
  // The agent calls no tool of Stepfast.
  script.on(
    lastUser(/blank passwords/),
    reply.tool('Read', { file_path: join(project.root, 'login.js') }),
    reply.tool('Edit', {
      file_path: join(project.root, 'login.js'),
      old_string: 'user.password !== ""',
      new_string: 'user.password !== " "',
    }),
    reply.text('Blank passwords are refused now. All tests pass.'),
  );
  script.on(
    told(/when your turn ended, and they fail/),
    reply.tool('Edit', {
      file_path: join(project.root, 'login.js'),
      old_string: 'user.password !== " "',
      new_string: 'user.password.trim() !== ""',
    }),
    reply.text('They did not: two blanks still got in. login.js trims the password now.'),
  );
  await enter(screen, `/stepfast:go ${task}`);
  await screen.waitFor(/✓ go complete/, 60_000);
  await shoot('A false “done” is caught when the turn ends, and the fix is proven');

  script.on(
    lastUser(/too long/),
    reply.tool('Read', { file_path: join(project.root, 'login.js') }),
    reply.text('How long may a password be?'),
  );
  script.on(
    lastUser(/64/),
    reply.tool('Read', { file_path: join(project.root, 'login.js') }),
    reply.tool('Edit', {
      file_path: join(project.root, 'login.js'),
      old_string: 'user.password.trim() !== ""',
      new_string: 'user.password.trim() !== "" && user.password.length <= 64',
    }),
    reply.text('✅ Workflow restored: go. Passwords over 64 characters are refused.'),
  );
  await enter(screen, '/clear');
  await pause(1500);
  await enter(screen, '/stepfast:go refuse passwords that are too long');
  await screen.waitFor(/How long may/, 60_000);
  await pause(1000);
  await enter(screen, '/compact');
  await screen.waitFor(/Compacted|compacted/i, 60_000);
  await enter(screen, '64 characters');
  await screen.waitFor(/✓ go complete/, 60_000);
  await shoot('A compaction forgets everything, and the work goes on');

  script.on(
    lastUser(/profile page/),
    reply.tool('Write', { file_path: join(project.root, 'PLAN.md'), content: '# A profile page\n' }),
    reply.text('The plan is in PLAN.md.'),
  );
  script.on(
    told(/Build what the plan says/),
    reply.tool('Write', { file_path: join(project.root, 'profile.js'), content: 'export {};\n' }),
    reply.text('✅ Workflow restored: two, phase 2/2 (build). The page is there.'),
  );
  script.always(lastUser(/./), reply.text('The plan is approved. Building starts with a fresh context.'));
  await enter(screen, '/clear');
  await pause(1500);
  await enter(screen, '/stepfast:start two a profile page');
  await screen.waitFor(/stepfast:approve [0-9a-f]{4}/, 60_000);
  const [, code = ''] = /stepfast:approve ([0-9a-f]{4})/.exec(await screen.screen()) ?? [];
  await enter(screen, `/stepfast:approve ${code}`);
  await screen.waitFor(/Type \/clear/, 60_000);
  await shoot('Decisions are typed where you are, and a fresh context is asked for');
  await enter(screen, '/clear');
  await screen.waitFor(/✓ two complete/, 60_000);
  await shoot('After /clear the session continues by itself');
  return panels;
}

/** The agent has this in its context. */
function told(text: RegExp): (request: ModelRequest) => boolean {
  return (request) => text.test(JSON.stringify(request.body.messages));
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
