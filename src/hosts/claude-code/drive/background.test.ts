/** Lines as Claude Code wrote them; that it writes them is in test/e2e/claude/drive.test.ts. */
import { beforeEach, expect, test } from 'vitest';
import { agentWaitMs, type Background, createBackground, shellWaitMs, startWaitMs } from './background.ts';

let background: Background;
beforeEach(() => {
  background = createBackground();
  background.read({ type: 'system', subtype: 'init' });
});

const tasks = (...types: string[]): void =>
  background.read({
    type: 'system',
    subtype: 'background_tasks_changed',
    tasks: types.map((type) => ({ task_type: type })),
  });
const notify = (run: string): void =>
  background.read({ type: 'system', subtype: 'task_notification', run_id: run });
const toolResult = (parent: string | null): void =>
  background.read({
    type: 'user',
    parent_tool_use_id: parent,
    message: { content: [{ type: 'tool_result', tool_use_id: 'x' }] },
  });
const result = (more: object = {}): void =>
  background.read({ type: 'result', queued_turn_count: 0, ...more });
const resultFor = (run: string): void => result({ origin: { kind: 'task-notification', runId: run } });

test('a turn without tasks is idle with its result', () => {
  result();
  expect(background.isIdle()).toBe(true);
});

test('each notification that came after the last tool result has a turn of its own', () => {
  toolResult(null);
  notify('one');
  notify('two');
  result();
  expect([background.isIdle(), background.waitMs()]).toEqual([false, startWaitMs]);
  background.read({ type: 'system', subtype: 'init' });
  expect(background.waitMs()).toBe(agentWaitMs);
  resultFor('one');
  expect(background.isIdle()).toBe(false);
  resultFor('two');
  expect(background.isIdle()).toBe(true);
});

test('a notification that a later tool result took to the model has none', () => {
  notify('one');
  toolResult(null);
  result();
  expect(background.isIdle()).toBe(true);
});

test('tool results of a subagent take nothing to the main model', () => {
  notify('one');
  toolResult('toolu_1');
  result();
  expect(background.isIdle()).toBe(false);
});

test('a subagent is waited for longer than a shell, which may never end', () => {
  tasks('local_bash', 'local_agent');
  result();
  expect([background.isIdle(), background.waitMs()]).toEqual([false, agentWaitMs]);
  tasks('local_bash');
  expect([background.isIdle(), background.waitMs()]).toEqual([false, shellWaitMs]);
  tasks();
  expect([background.isIdle(), background.waitMs()]).toEqual([true, startWaitMs]);
});

test('a queued turn is waited for', () => {
  result({ queued_turn_count: 1 });
  expect(background.isIdle()).toBe(false);
  result();
  expect(background.isIdle()).toBe(true);
});

test('a new prompt does not wait for what an earlier one has left', () => {
  notify('one');
  result();
  background.startTurn();
  result();
  expect(background.isIdle()).toBe(true);
});
