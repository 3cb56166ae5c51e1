import { expect, test } from 'vitest';
import { action, loop, Run, workflow } from '../../../test/kit/run.ts';
import { transferNotes } from './transfer-notes.ts';

const notesOf = ({ definition, state, now }: Run): string[] => transferNotes(definition, state, now);

test('running gates are noted, because they cannot report to another machine', () => {
  const run = new Run(workflow([action('build', { gate: [{ run: 'npm test' }] })]));
  expect(notesOf(run)).toEqual([]);
  run.advance('built');
  expect(notesOf(run)).toEqual([expect.stringMatching(/interrupted in \d+ min/)]);
  run.gates();
  expect(notesOf(run)).toEqual([]);
});

test('branches of started tasks are noted, because they are not transferred', () => {
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
