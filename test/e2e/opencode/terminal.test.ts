/** The TUI of the real OpenCode in a real terminal. */
import { afterEach, expect, it } from 'vitest';
import { contextOf, lastUser, mainTurn, reply } from '../../../src/testing/index.ts';
import { createOpenCodeLab, type OpenCodeLab } from '../../kit/opencode.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';

const workflow = `name: w
description: Plans and builds
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD }
`;

let lab: OpenCodeLab;
let terminal: Terminal;
afterEach(async () => {
  await terminal.close();
  await lab[Symbol.asyncDispose]();
});

const waits = { timeout: 120_000 };
const main = () => lab.model.requestsOf('main');
const last = (): string => contextOf(main().at(-1) ?? expect.unreachable());
const call = (name: string, input: Record<string, unknown> = {}) => reply.tool(`stepfast_${name}`, input);

async function openTui(): Promise<void> {
  lab = await createOpenCodeLab({ '.stepfast/workflows/w.yaml': workflow });
  const { home, env, project } = lab;
  const size = { columns: 110, rows: 40 };
  terminal = await openTerminal({ directory: home, command: ['opencode'], cwd: project.root, env, ...size });
  await terminal.waitFor(/Ask anything/);
}

async function enter(text: string): Promise<void> {
  await terminal.type(text);
  await terminal.waitFor(new RegExp(text));
  await terminal.press('Enter');
}

it('[P1/6] [pain 1] a clear that the run asks for is performed by the plugin: the person types nothing', async () => {
  await openTui();
  lab.model.on(
    lastUser(/ALPHA/),
    call('workflow_start', { workflow: 'w' }),
    call('workflow_advance', { output: 'Planned.' }),
    reply.text('A fresh context is needed.'),
  );
  lab.model.always(mainTurn(), () => reply.text('BUILDING now.'));
  await enter('ALPHA begins');
  await expect.poll(() => main().length, waits).toBe(4);
  expect(last()).toContain('INSTRUCTIONS-BUILD');
  expect(last()).not.toContain('ALPHA');
  await terminal.waitFor(/BUILDING now/);
  const { state } = await lab.project.onlyRun();
  const after = await state();
  expect(after.cursors.build?.boundary).toMatchObject({ how: 'reset' });
  const sessions = Object.entries(after.sessions).filter(([id]) => id.startsWith('ses_'));
  expect(sessions).toHaveLength(2);
  expect(sessions[0]?.[1].endedAt).toBeDefined();
});
