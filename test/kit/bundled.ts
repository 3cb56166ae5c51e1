import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { loadWorkflowFile } from '../../src/definition/index.ts';
import {
  type Definition,
  findPlaceholders,
  type Scalar,
  type Step,
  statusOf,
} from '../../src/machine/index.ts';
import { Run } from './run.ts';

export const directory = resolve(import.meta.dirname, '..', '..', 'workflows');

export const searchPath = [{ kind: 'bundled' as const, directory }];

export const load = (file: string) => loadWorkflowFile(file, { places: searchPath });

export function bundled(name: string): Definition {
  const { definition } = load(join(directory, `${name}.yaml`));
  if (!definition) throw new Error(`${name} does not load`);
  return definition;
}

export function stepOf(definition: Definition, id: string): Step {
  const step = definition.steps.find((each) => each.id === id);
  if (!step) throw new Error(`${definition.name} has no step ${id}`);
  return step;
}

export const idsOf = (definition: Definition): string[] => definition.steps.map((step) => step.id);

export function inputsFor({ inputs = {} }: Definition): Record<string, Scalar> {
  const required = Object.entries(inputs).filter(([, input]) => input.required);
  return Object.fromEntries(
    required.map(([name, { type }]) => [name, type === 'number' ? 1 : `the ${name}`]),
  );
}

/** Answers whatever the run wants next, as a diligent agent and a content person do. */
export function workThrough(definition: Definition): Run {
  const run = new Run(definition, { start: false });
  run.send({
    type: 'start',
    run: 'demo-20261115-k3f9x2ab',
    summary: 'A summary',
    inputs: inputsFor(definition),
  });
  for (let turn = 0; run.state.status !== 'complete'; turn++) {
    if (turn > 200) throw new Error(`${definition.name} does not end: ${run.state.step}`);
    const step = stepOf(definition, run.state.step);
    const cursor = Object.values(run.state.cursors)[0];
    // Gates that take too long are interrupted.
    run.now += cursor?.checking ? 1000 : 120_000;
    const { at, contextAction, waiting, instructions = '' } = statusOf(definition, run.state, { cursor });
    expect(findPlaceholders(instructions)).toEqual([]);
    if (cursor === undefined) run.claim('worker');
    else if (cursor.checking) run.gates();
    else if (waiting?.by === 'human') run.person({ type: 'review', verdict: 'approve' });
    else if (waiting)
      run.send({ type: 'review', verdict: 'approve', actor: { kind: 'agent', name: waiting.by } });
    else if (step.type === 'loop' && cursor.task === undefined) run.tasks(step.id, 'one', ['two', 'one']);
    else if (contextAction) run.status(at === undefined ? {} : { at });
    else run.advance(`done ${turn}`, at === undefined ? {} : { at });
  }
  return run;
}
