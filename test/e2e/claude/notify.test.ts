import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type ClaudeProject, lastUser, reply } from '../../../src/testing/index.ts';
import { openClaudeTerminal } from '../../kit/claude-terminal.ts';
import type { Terminal } from '../../kit/terminal.ts';
import { createCheckedProject, edit, gate, passes, step, typed, workflow } from './checked-project.ts';

let stage: ClaudeProject;
let terminal: Terminal | undefined;
afterEach(async () => {
  await terminal?.close().catch(() => {});
  terminal = undefined;
  await stage[Symbol.asyncDispose]();
});

it('[L/notify] the hooks of a session tell the user of a used-up budget, and ring its terminal', async () => {
  stage = await createCheckedProject({
    '.stepfast/workflows/w.yaml': `${workflow(step('do', `${gate(passes)}, budget: { turns: 1 }`))}notify: [budget]\n`,
  });
  const folder = join(stage.home, '.config', 'stepfast');
  mkdirSync(folder, { recursive: true });
  const command = 'echo "$STEPFAST_EVENT $STEPFAST_KIND $STEPFAST_POSITION" >> told';
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ notify: { bell: true, command } }));
  stage.model.on(lastUser(/make it/), edit('43'), reply.text('Done!'));
  const person = await openClaudeTerminal(stage);
  terminal = person.terminal;
  await person.enter(typed);
  await terminal.waitFor(/\/stepfast:budget \+20 turns/);
  const told = join(stage.home, 'told');
  const read = () => (existsSync(told) ? readFileSync(told, 'utf8') : '');
  await expect.poll(read, { timeout: 60_000 }).toBe('budget budget do\n');
  await expect.poll(() => person.terminal.bell(), { timeout: 60_000 }).toBe(true);
});
