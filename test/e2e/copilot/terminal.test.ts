/** What a person at the terminal of Copilot CLI types and sees. */
import { afterEach, expect, it } from 'vitest';
import { lastUser, reply } from '../../../src/testing/index.ts';
import { type CopilotLab, call, createCopilotLab } from '../../kit/copilot.ts';
import type { Terminal } from '../../kit/terminal.ts';

const workflow = `name: w
description: Plans and builds
stop: check
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, gate: [{ run: "test -f plan.md" }] }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD, context: clear }
`;

let lab: CopilotLab;
let terminal: Terminal;
afterEach(async () => {
  await terminal.close().catch(() => {});
  await lab[Symbol.asyncDispose]();
});

async function send(text: string): Promise<void> {
  await terminal.type(text);
  await terminal.waitFor(new RegExp(text.slice(-12)));
  await terminal.press('Enter');
}

it('the skill starts a run, its check is shown, and /clear is the fresh context that the next step wants', async () => {
  lab = await createCopilotLab({ '.stepfast/workflows/w.yaml': workflow });
  lab.model.on(lastUser(/explicitly invoked/), call.bash('touch plan.md'), reply.text('PLANNED'));
  lab.model.on(lastUser(/after the clear/), reply.text('BUILDING'));
  terminal = await lab.terminal();
  await send('/stepfast start w make it');
  await terminal.waitFor(/PLANNED/);
  expect(lab.contexts()[0]).toContain('INSTRUCTIONS-PLAN');
  const { state } = await lab.project.onlyRun();
  await expect.poll(async () => (await state()).step).toBe('build');
  const [first = ''] = lab.sessions();
  // What the host shows of a hook begins with this.
  await terminal.waitFor(/^ ! /m);
  await send('/clear');
  await expect.poll(async () => (await state()).sessions[first]?.endedAt).toBeDefined();
  await send('now after the clear');
  await terminal.waitFor(/BUILDING/);
  const last = lab.contexts().at(-1) ?? '';
  expect(last).toContain('INSTRUCTIONS-BUILD');
  expect(last).not.toContain('touch plan.md');
  const [, second = ''] = lab.sessions();
  expect((await state()).sessions[second]).toMatchObject({ host: 'copilot', from: first });
});
