/** What is done where an injection is lost, cut or doubled, in the real Claude Code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hookLogEntries } from '../../../src/hooks/hook-log.ts';
import {
  type ClaudeProject,
  contextOf,
  forgetsAll,
  lastContext,
  lastUser,
  reply,
  runtimeIn,
  summariser,
  toolCall,
} from '../../../src/testing/index.ts';
import { createStage, settings } from './stage.ts';

const workflow = `name: w
description: Plans and builds
steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN }
  - { id: build, type: action, instructions: INSTRUCTIONS-BUILD }
`;

let stage: ClaudeProject;
beforeEach(async () => {
  stage = await createStage({ '.stepfast/workflows/w.yaml': workflow });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Longer than the preview of what is cut. */
function writeLong(): void {
  const long = `${'Nothing is more certain than this sentence. '.repeat(43)}LAST-WORDS`;
  const instructions = JSON.stringify(long);
  stage.project.write({
    '.stepfast/workflows/w.yaml': workflow.replace('INSTRUCTIONS-PLAN', instructions),
  });
}

const logged = (): string[] =>
  hookLogEntries(runtimeIn(stage.project).project)
    .map(({ what }) => what)
    .filter((what) => what !== 'allowed');
const times = (text: string, part: string): number => text.split(part).length - 1;

it('[pain 8] a briefing that arrives cut is seen to be, and comes whole with the next prompt', async () => {
  writeLong();
  const { at, state } = await stage.project.startRun('w');
  // Whatever makes it too long: the host keeps a preview and a file.
  const longer = join(stage.home, 'longer.mjs');
  writeFileSync(
    longer,
    `let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
  if (text === '') return;
  const told = JSON.parse(text);
  told.hookSpecificOutput.additionalContext += '\\n' + 'and more '.repeat(2000);
  console.log(JSON.stringify(told));
});
`,
  );
  stage.model.on(lastUser(/go on/), toolCall.status(at), reply.text('Noted.'));
  stage.model.always(summariser(), forgetsAll());
  stage.model.on(lastUser(/and now/), reply.text('Going on.'));
  stage.model.on(lastUser(/once more/), reply.text('Going on.'));
  const ran = await stage.run({
    prompts: ['go on', '/compact', 'and now', 'once more'],
    settings: settings({ through: ` | '${process.execPath}' '${longer}'` }),
  });
  const [start] = ran.requests.requestsOf('main');
  expect(start && contextOf(start)).toContain('<persisted-output>');
  expect(start && contextOf(start)).not.toContain('LAST-WORDS');
  const after = contextOf(ran.requests.firstRequestAfterCompaction());
  expect(after).toContain('<persisted-output>');
  expect(after).toContain('LAST-WORDS');
  expect(logged().filter((what) => what === 'repaired').length).toBeGreaterThan(0);
  expect((await state()).briefings[ran.sessions[0] ?? '']?.proven).toBe('transcript');
  expect(times(lastContext(ran), 'ACTION REQUIRED')).toBeLessThanOrEqual(3);
});
