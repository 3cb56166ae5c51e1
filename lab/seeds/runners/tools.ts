import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner, Seeds } from '../row.ts';
import { callOurs, type ToolReply } from './handlers.ts';

const workflow = (boundaries: string): string => `name: w
description: A step after a clear, one after a compaction, a plain one
boundaries: ${boundaries}
steps:
  - { id: one, type: action, context: clear, instructions: Do one }
  - { id: two, type: action, context: compact, instructions: Do two }
  - { id: three, type: action, instructions: Do three }
`;

/** The tool of this name answers as the document says: the context action first, then the instructions. */
export const toolAnswers: Runner = async ({ text }, seeds) => {
  const replies = await play(seeds);
  const reply = replies[text] ?? assert.fail(`no tool ${text} is called`);
  const expected: Record<string, object> = {
    workflow_start: { isError: false, step: 'one', contextAction: '/clear' },
    workflow_status: { isError: false, step: 'one', instructions: 'Do one' },
    workflow_advance: { isError: false, step: 'two', contextAction: '/compact' },
  };
  assert.partialDeepStrictEqual(reply, expected[text]);
};

async function play(seeds: Seeds): Promise<Record<string, ToolReply>> {
  const project = seeds.project({ '.stepfast/workflows/w.yaml': workflow('prefer') });
  return {
    workflow_start: await callOurs(project, 'workflow_start', { workflow: 'w' }),
    workflow_status: await callOurs(project, 'workflow_status'),
    workflow_advance: await callOurs(project, 'workflow_advance', { output: 'One is done.' }),
  };
}

/** A position that waits for this command opens when the host reports it, and not before. */
export const contextCommand: Runner = async ({ text }, seeds) => {
  const kit = seeds.hooks({ '.stepfast/workflows/w.yaml': workflow('require') });
  const { run, at } = await kit.start();
  const boundary = async (): Promise<object | undefined> =>
    Object.values((await kit.runtime.engine.view(run))?.state.cursors ?? {})[0]?.boundary;
  const released = { state: 'released', how: 'reset', by: 'hook' };
  await kit.called('a', { run, at });
  assert.partialDeepStrictEqual(await boundary(), { action: 'clear', state: 'requested' });
  await kit.fire('SessionEnd', { reason: 'clear' });
  await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
  assert.partialDeepStrictEqual(await boundary(), { action: 'clear', ...released });
  if (text === '/clear') return;
  const next = await kit.call(run, { type: 'advance', output: 'One is done.' });
  await kit.called('b', { run, at: next });
  assert.partialDeepStrictEqual(await boundary(), { action: text.slice(1), state: 'requested' });
  await kit.fire('PreCompact', { session_id: 'b', trigger: 'manual' });
  await kit.fire('SessionStart', { session_id: 'b', source: 'compact' });
  assert.partialDeepStrictEqual(await boundary(), { action: text.slice(1), ...released });
};

/** In the workflow with the document's phases the whole list is replaced, in this file of the worktree; edits by hand are kept, and no prompt has it. */
export const todoList: Runner = async ({ text }, seeds) => {
  const { text: file } = seeds.sample('003/file-5');
  const tool = text === file ? seeds.sample('003/command-1').text : text;
  const project = seeds.project();
  const inputs = { story: 'Sign in with a passkey' };
  await callOurs(project, 'workflow_start', { workflow: 'spec-feature', inputs });
  for (const content of ['- [ ] first point\n', '- [x] second point\n'])
    assert.equal((await callOurs(project, tool, { content })).isError, false);
  const path = join(project.root, text === tool ? file : text);
  assert.equal(readFileSync(path, 'utf8'), '- [x] second point\n');
  writeFileSync(path, '- [ ] third point\n');
  const shown = await project.run(['todo']);
  assert.match(shown.stdout, /third point/);
  const briefing = await project.run(['prime']);
  assert.equal(briefing.code, 0);
  assert.doesNotMatch(briefing.stdout, /third point/);
};
