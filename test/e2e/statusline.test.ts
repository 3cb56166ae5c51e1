/** The status line in the real Claude Code, in a real terminal. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
  '[U10] A15: the screen shows an unfinished run, then its step, its gate, and its context, and the agent is told once that this is nearly full',
  async () => {
    using project = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
    const home = join(project.root, '..', 'claude-home');
    mkdirSync(home);
    await using model = await createScriptedModel();
    const { at } = await project.startRun('w');
    const full = { usage: { input_tokens: 780_000 } };
    model.on(
      lastUser(/continue/),
      reply.tool('mcp__stepfast__workflow_advance', { at, output: 'Planned!' }),
      reply.text('Going on.', { usage: { input_tokens: 620_000 } }),
    );
    model.on(lastUser(/first/), reply.text('Agreed.', full));
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
      await terminal.waitFor(/SessionStart:startup says: .*\bw\b/);
      await terminal.waitFor(/❯/);
      await say('continue');
      await terminal.waitFor(/w 1\/2 plan · ✗ PLAN\.md (?:just now|\d+ min ago) · ctx 62 %/);
      await say('first');
      await terminal.waitFor(/ctx 78 %/);
      await say('second');
      await terminal.waitFor(/Noted\./);
      await say('third');
      await terminal.waitFor(/Understood\./);
    } finally {
      await terminal.close();
    }
    const [binding] = await createBindings(project.runtime().project.directory).list();
    expect(binding?.pressure).toBe(78);
    const notice = JSON.stringify(contextPressureText(78, 75)).slice(1, -1);
    const told = (text: RegExp): number => {
      const request = model.all().findLast((each) => each.kind === 'main' && text.test(each.lastUser));
      return JSON.stringify(request && contextOf(request)).split(notice).length - 1;
    };
    expect([told(/first/), told(/second/), told(/third/)]).toEqual([0, 1, 1]);
  },
);
