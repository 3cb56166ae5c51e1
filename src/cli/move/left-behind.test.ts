import { expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../../test/kit/run.ts';
import { travelNotes } from './left-behind.ts';

const notesOf = ({ definition, state, now }: Run): string[] => travelNotes(definition, state, now);

test('gates that run on one machine cannot report on another, and the run says so', () => {
  const run = new Run(workflow([action('build', { gate: [{ run: 'npm test' }] })]));
  expect(notesOf(run)).toEqual([]);
  run.advance('built');
  expect(notesOf(run)).toEqual([expect.stringMatching(/^its gates were running.* interrupted in \d+ min/)]);
  run.gates();
  expect(notesOf(run)).toEqual([]);
});

test('the branches of tasks that were started do not travel, and the run says so', () => {
  const definition = workflow([loop('build', { parallel: 2 })]);
  const run = new Run({ ...definition, loops: { build: [{ id: 'do', instructions: 'Do it' }] } });
  run.tasks('build', 't1', 't2');
  expect(notesOf(run)).toEqual([]);
  run.claim('one');
  expect(notesOf(run)).toEqual([expect.stringContaining('branches stepfast/demo-20261115-k3f9x2ab/*')]);
  const alone = new Run({
    ...definition,
    steps: [{ id: 'build', type: 'loop' }],
    loops: run.definition.loops ?? {},
  });
  alone.tasks('build', 't1');
  expect(notesOf(alone)).toEqual([]);
});
