/** Workflows of the documents: followed to their end, bundled, started by a path, or taken over from a saved state. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { loadWorkflowTemplateFromString, WorkflowStateMachine } from '../../../src/index.ts';
import { check } from '../check.ts';
import { callOurs, follow, projectOf, taskIds } from './tools.ts';

const root = join(import.meta.dirname, '..', '..', '..');

interface Authored {
  name?: string;
  steps: { id: string; type: string; n?: number; context?: string }[];
  loops?: Record<string, { id: string; context?: string }[]>;
}

/** By the rules of the documents: a sub-step before its step, each task, each iteration. */
function actionsOf({ steps, loops = {} }: Authored): (string | undefined)[] {
  const actions = steps.flatMap(({ id, type, n = 1, context }) => {
    if (type === 'ralph') return Array.from({ length: n }, () => context);
    if (type !== 'loop') return [context];
    return taskIds.flatMap(() => (loops[id] ?? []).map((subStep) => subStep.context ?? context));
  });
  return actions.map((action) => action && `/${action}`);
}

export const followed = check(
  'validated, started and followed to its end; every context action is asked for',
  async ({ text }, seeds) => {
    const authored: Authored = parse(text);
    const project = projectOf(seeds, authored);
    const { code, stdout } = await project.run(['validate', '.stepfast/workflows/w.yaml']);
    assert.deepEqual([code, /\b(?:error|warning) \d/.exec(stdout)], [0, null], stdout);
    assert.notEqual(authored.steps.length, 0);
    assert.deepEqual(await follow(project, authored.name), actionsOf(authored));
  },
);

export const shipped = check(
  'bundled in the same place, with the same steps and context actions',
  ({ text }, seeds) => {
    const shape = (yaml: string): unknown => {
      const { name, steps, loops = {} }: Authored = parse(yaml);
      const context = (each: { id: string; context?: string }) => [each.id, each.context];
      return [name, steps.map(context), Object.entries(loops).map(([id, all]) => [id, all.map(context)])];
    };
    assert.deepEqual(shape(readFileSync(join(root, text), 'utf8')), shape(seeds.text('001/block-17')));
  },
);

export const byPath = check('`stepfast start` with an absolute path', async ({ text }, seeds) => {
  const project = seeds.project();
  assert.match(text, /^\/.+\.yaml$/);
  const file = join(project.root, '..', basename(text));
  writeFileSync(file, seeds.text('001/block-17'));
  const started = await project.run(['start', file]);
  assert.equal(started.code, 0, started.stderr);
  assert.equal((await (await project.onlyRun()).state()).step, 'brainstorm');
});

export const savedState = check(
  'a state that Lanes saved: the run goes on where it was',
  async ({ text }, seeds) => {
    const yaml = seeds.text('001/block-17');
    const machine = new WorkflowStateMachine(loadWorkflowTemplateFromString(yaml), { summary: 'Saved' });
    machine.advance('The ideas.');
    const saved = machine.getState();
    assert.match(text, /\.json$/);
    const project = seeds.project({
      '.lanes/workflows/context-example.yaml': yaml,
      [text]: JSON.stringify(saved),
    });
    const started = await callOurs(project, 'workflow_start', { workflow: 'context-example' });
    assert.equal(started.step, saved.step, JSON.stringify(started));
    const { outputs, summary } = await (await project.onlyRun()).state();
    assert.deepEqual([outputs.brainstorm?.text, summary], ['The ideas.', 'Saved']);
  },
);
