/** The status line in the real Claude Code, in a real terminal. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registrations } from '../../src/hosts/claude-code/index.ts';
import { createBindings } from '../../src/runtime/index.ts';
import { createScriptedModel, createTestProject, lastUser, reply } from '../../src/testing/index.ts';
import { claudeCommand } from '../kit/claude.ts';
import { openTerminal } from '../kit/terminal.ts';

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
          args: [join(top, 'src', 'cli', 'main.ts'), 'mcp'],
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
