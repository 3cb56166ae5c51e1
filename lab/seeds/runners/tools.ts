/** What an agent does with a run: calls of our tools, and a workflow followed to its end. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { callTool } from '../../../src/mcp/calls.ts';
import type { TestProject } from '../../../src/testing/index.ts';
import { check, type Seeds } from '../check.ts';

export interface ToolReply {
  isError: boolean;
  [key: string]: unknown;
}

/** A call of our tool, in this process. */
export async function callOurs(
  project: TestProject,
  tool: string,
  given: Record<string, unknown> = {},
): Promise<ToolReply> {
  const answer = await callTool(tool, given, project.runtime(), { who: { session: 'seeds' }, options: {} });
  if ('text' in answer) return { isError: false, text: answer.text };
  return 'refused' in answer
    ? { ...answer.refused, isError: true }
    : { ...answer.structured, isError: false };
}

/** Its workflow `w`. */
export const startsIn = (project: TestProject) => callOurs(project, 'workflow_start', { workflow: 'w' });

/** A project with this workflow, which is called `w` unless it has a name. */
export const projectOf = (seeds: Seeds, workflow: object, files: Record<string, string> = {}): TestProject =>
  seeds.project({ '.stepfast/workflows/w.yaml': yamlOf(workflow), ...files });

export const yamlOf = (workflow: object): string => stringify({ name: 'w', description: 'W', ...workflow });

/** The file that other programs read. */
export const stateOf = ({ root }: TestProject, run: string) =>
  JSON.parse(readFileSync(join(root, '.stepfast', 'runs', run, 'state.json'), 'utf8'));

export const action = (id: string, more = {}) => ({ id, type: 'action', instructions: `Do ${id}`, ...more });

/** A step after a clear, one after a compaction, a plain one. */
export const withActions = {
  steps: [action('one', { context: 'clear' }), action('two', { context: 'compact' }), action('three')],
};
export const plain = { steps: [action('one'), action('two')] };
export const phases = { steps: ['frame', 'architect', 'build'].map((id) => action(id)) };

export const taskIds = ['first', 'second'];

/** What the agent is asked for, position by position: `/clear`, `/compact` or nothing. */
export async function follow(project: TestProject, workflow = 'w'): Promise<(string | undefined)[]> {
  const asked: (string | undefined)[] = [];
  let reply = await callOurs(project, 'workflow_start', { workflow });
  for (let round = 0; reply.status !== 'complete'; round += 1) {
    assert.ok(round < 100 && !reply.isError, JSON.stringify(reply));
    if (reply.stepType === 'loop' && reply.task === undefined && reply.contextAction === undefined) {
      const tasks = taskIds.map((id) => ({ id, title: `Task ${id}` }));
      reply = await callOurs(project, 'workflow_set_tasks', { loop_id: reply.step, tasks });
      continue;
    }
    asked.push(reply.contextAction as string | undefined);
    if (reply.contextAction !== undefined) {
      reply = await callOurs(project, 'workflow_status', { at: reply.at });
      assert.equal(reply.contextAction, undefined);
    }
    assert.ok(typeof reply.instructions === 'string' && reply.instructions !== '');
    reply = await callOurs(project, 'workflow_advance', { output: `Done ${round}`, at: reply.at });
  }
  return asked;
}

/** The context action first, then the instructions. */
export const toolAnswers = check('the tool is called', async ({ text }, seeds) => {
  const project = projectOf(seeds, { ...withActions, boundaries: 'prefer' });
  const replies: Record<string, ToolReply> = {
    workflow_start: await startsIn(project),
    workflow_status: await callOurs(project, 'workflow_status'),
    workflow_advance: await callOurs(project, 'workflow_advance', { output: 'One is done.' }),
  };
  const expected: Record<string, object> = {
    workflow_start: { isError: false, step: 'one', contextAction: '/clear' },
    workflow_status: { isError: false, step: 'one', instructions: 'Do one' },
    workflow_advance: { isError: false, step: 'two', contextAction: '/compact' },
  };
  assert.partialDeepStrictEqual(replies[text], expected[text] ?? assert.fail(`no tool ${text} is called`));
});

/** Not before the hooks report it. */
export const contextCommand = check(
  'a position that waits for it opens when the hooks report it',
  async ({ text }, seeds) => {
    const kit = seeds.hooks({
      '.stepfast/workflows/w.yaml': yamlOf({ boundaries: 'require', ...withActions }),
    });
    const { run, at } = await kit.start();
    const boundaryIs = async (expected: object): Promise<void> => {
      const { state } = (await kit.runtime.engine.view(run)) ?? assert.fail('no run');
      assert.partialDeepStrictEqual(Object.values(state.cursors)[0]?.boundary, expected);
    };
    const released = { state: 'released', how: 'reset', by: 'hook' };
    await kit.called('a', { run, at });
    await boundaryIs({ action: 'clear', state: 'requested' });
    await kit.fire('SessionEnd', { reason: 'clear' });
    await kit.fire('SessionStart', { session_id: 'b', source: 'clear' });
    await boundaryIs({ action: 'clear', ...released });
    if (text === '/clear') return;
    const next = await kit.call(run, { type: 'advance', output: 'One is done.' });
    await kit.called('b', { run, at: next });
    await boundaryIs({ action: text.slice(1), state: 'requested' });
    await kit.fire('PreCompact', { session_id: 'b', trigger: 'manual' });
    await kit.fire('SessionStart', { session_id: 'b', source: 'compact' });
    await boundaryIs({ action: text.slice(1), ...released });
  },
);
