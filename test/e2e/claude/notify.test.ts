import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type ClaudeProject, lastUser, reply } from '../../../src/testing/index.ts';
import { gate, passes, step, workflow } from '../../kit/checked-workflow.ts';
import { openClaudeTerminal } from '../../kit/claude-terminal.ts';
import type { Terminal } from '../../kit/terminal.ts';
import { createCheckedProject, edit, told, typed } from './checked-project.ts';

let stage: ClaudeProject;
let terminal: Terminal | undefined;
afterEach(async () => {
  await terminal?.close().catch(() => {});
  terminal = undefined;
  await stage[Symbol.asyncDispose]();
});

it('[L/notify] [A1] a used-up budget is notified and rings the terminal, and a typed /stepfast:budget goes on', async () => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': `${workflow(step('do', `${gate(passes)}, budget: { turns: 1 }`))}notify: [budget]\n`,
  });
  const folder = join(stage.home, '.config', 'stepfast');
  mkdirSync(folder, { recursive: true });
  const command = 'echo "$STEPFAST_EVENT $STEPFAST_KIND $STEPFAST_POSITION" >> told';
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ notify: { bell: true, command } }));
  stage.model.on(lastUser(/make it/), edit('43'), reply.text('Done!'));
  stage.model.on(told(/is recorded/), edit('42'), reply.text('Now it is 42.'));
  const person = await openClaudeTerminal(stage);
  terminal = person.terminal;
  await person.enter(typed);
  await terminal.waitFor(/\/stepfast:budget \+20 turns/);
  const notes = join(stage.home, 'told');
  const read = () => (existsSync(notes) ? readFileSync(notes, 'utf8') : '');
  await expect.poll(read).toBe('budget budget do\n');
  await expect.poll(() => person.terminal.bell()).toBe(true);
  await person.enter('/stepfast:budget +3 turns');
  await terminal.waitFor(/✓ w complete/);
});
