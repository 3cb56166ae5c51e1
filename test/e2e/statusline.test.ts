/** The status line in the real Claude Code, in a real terminal. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registrations } from '../../src/hosts/claude-code/index.ts';
import { contextPressureText } from '../../src/messages/index.ts';
import { createBindings } from '../../src/runtime/index.ts';
import {
  contextOf,
  createScriptedModel,
  createTestProject,
  lastUser,
  reply,
} from '../../src/testing/index.ts';
import { cliProgram } from '../../src/testing/programs.ts';
import { claudeCommand } from '../kit/claude.ts';
import { openTerminal } from '../kit/terminal.ts';
import { settings } from './claude/stage.ts';

const top = join(import.meta.dirname, '..', '..');
const dist = join(top, 'dist', 'statusline.cjs');
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const workflow = `name: w
description: x
steps:
  - { id: plan, type: action, instructions: Plan it., gate: [{ exists: PLAN.md }] }
  - { id: build, type: action, instructions: Build it. }
`;

it.skipIf(!hasTmux)(
  'the phase, the red gate and the context that fills are at the bottom of the screen',
  async () => {
    using project = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
    const home = join(project.root, '..', 'claude-home');
    mkdirSync(home);
    await using model = await createScriptedModel();
    const runtime = project.runtime();
    const { reply: told } = await runtime.start({ workflow: 'w' }, { session: 'mcp-before' });
    const at = 'at' in told ? told.at : undefined;
    model.on(
      lastUser(/continue/),
      reply.tool('mcp__stepfast__workflow_advance', { at, output: 'Planned!' }),
      reply.text('Noted.', { usage: { input_tokens: 620_000 } }),
    );
    const shim = join(top, 'hooks', 'stepfast-hook.sh');
    const [tools] = registrations.filter(({ mark }) => mark === 'after_tool-stepfast');
    const hook = { type: 'command', command: `'${shim}' after_tool-stepfast claude-code PostToolUse` };
    const command = await claudeCommand({
      cwd: project.root,
      home,
      model,
      settings: {
        statusLine: { type: 'command', command: `node '${dist}'` },
        hooks: { PostToolUse: [{ matcher: tools?.matcher, hooks: [hook] }] },
      },
      mcp: {
        stepfast: {
          command: process.execPath,
          args: [cliProgram, 'mcp'],
          alwaysLoad: true,
        },
      },
    });
    const terminal = await openTerminal({
      directory: home,
      command: [command.program, ...command.args],
      cwd: project.root,
      env: command.env,
      columns: 100,
      rows: 30,
    });
    try {
      await terminal.waitFor(/❯/);
      await terminal.type('continue');
      await terminal.press('Enter');
      await terminal.waitFor(/w 1\/2 plan · ✗ PLAN\.md (?:just now|\d+ min ago) · ctx 62 %/);
    } finally {
      await terminal.close();
    }
    const [binding] = await createBindings(runtime.project.directory).list();
    expect(binding?.pressure).toBe(62);
  },
);

it.skipIf(!hasTmux)('A15: the agent is told once that its context is nearly full', async () => {
  using project = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
  const home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  await using model = await createScriptedModel();
  const { at } = await project.startRun('w');
  const full = { usage: { input_tokens: 780_000 } };
  model.on(
    lastUser(/continue/),
    reply.tool('mcp__stepfast__workflow_status', { at }),
    reply.text('Going on.', full),
  );
  model.on(lastUser(/second/), reply.text('Noted.', full));
  model.on(lastUser(/third/), reply.text('Understood.', full));
  const mcp = {
    stepfast: { command: process.execPath, args: [cliProgram, 'mcp'], alwaysLoad: true },
  };
  const statusLine = { type: 'command', command: `node '${dist}'` };
  const command = await claudeCommand({
    ...{ cwd: project.root, home, model, mcp },
    settings: { ...settings(), statusLine },
  });
  const terminal = await openTerminal({
    directory: home,
    command: [command.program, ...command.args],
    cwd: project.root,
    env: command.env,
    columns: 100,
    rows: 30,
  });
  const say = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.press('Enter');
  };
  try {
    await terminal.waitFor(/❯/);
    await say('continue');
    await terminal.waitFor(/ctx 78 %/);
    await say('second');
    await terminal.waitFor(/Noted\./);
    await say('third');
    await terminal.waitFor(/Understood\./);
  } finally {
    await terminal.close();
  }
  const notice = JSON.stringify(contextPressureText(78, 75)).slice(1, -1);
  const told = (text: RegExp): number => {
    const request = model.all().findLast((each) => each.kind === 'main' && text.test(each.lastUser));
    return JSON.stringify(request && contextOf(request)).split(notice).length - 1;
  };
  expect([told(/continue/), told(/second/), told(/third/)]).toEqual([0, 1, 1]);
});
