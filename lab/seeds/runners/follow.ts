/** Follows a workflow of a document to its end with the tools that an agent has. */
import assert from 'node:assert/strict';
import { parse, stringify } from 'yaml';
import type { TestProject } from '../../../src/testing/index.ts';
import type { Runner } from '../row.ts';
import { callOurs } from './handlers.ts';

interface Authored {
  name?: string;
  description?: string;
  steps: { id: string; type: string; n?: number; context?: string; instructions?: string }[];
  loops?: Record<string, { id: string; context?: string; instructions?: string }[]>;
}

const taskIds = ['first', 'second'];

/** The workflow is valid without a warning, starts, asks for each context action that it has, and completes. */
export const followed: Runner = async ({ text }, seeds) => {
  const authored: Authored = parse(text);
  const workflow = { name: 'sample', description: 'A sample', ...authored };
  const project = seeds.project({ '.stepfast/workflows/sample.yaml': stringify(workflow) });
  const validated = await project.run(['validate', '.stepfast/workflows/sample.yaml']);
  assert.deepEqual(
    [validated.code, /\b(?:error|warning) \d/.exec(validated.stdout)],
    [0, null],
    validated.stdout,
  );
  const asked = await follow(project, workflow.name);
  assert.deepEqual(asked, expectedOf(workflow));
};

/** What the agent is asked for, position by position: `/clear`, `/compact` or nothing. */
export async function follow(
  project: TestProject,
  workflow: string,
  inputs = {},
): Promise<(string | undefined)[]> {
  const asked: (string | undefined)[] = [];
  let reply = await callOurs(project, 'workflow_start', { workflow, inputs });
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

/** By the rules of the documents: a sub-step before its step, each task, each iteration. */
function expectedOf({ steps, loops = {} }: Authored): (string | undefined)[] {
  const actions = steps.flatMap(({ id, type, n = 1, context }) => {
    if (type === 'ralph') return Array.from({ length: n }, () => context);
    if (type !== 'loop') return [context];
    return taskIds.flatMap(() => (loops[id] ?? []).map((subStep) => subStep.context ?? context));
  });
  assert.notEqual(actions.length, 0);
  return actions.map((action) => action && `/${action}`);
}
