import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { refusalsIn } from './refusal-log.ts';

let project: TestProject;

beforeEach(() => {
  project = createTestProject({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y }\n',
  });
});
afterEach(() => project[Symbol.dispose]());

test('a skipped step is written down beside the journal, and nothing of it in the journal', async () => {
  const runtime = project.runtime();
  const { run = '', reply } = await runtime.start({ workflow: 'w' }, { session: 's' });
  const at = ('at' in reply ? (reply.at ?? '') : '').replace(':a#', ':b#');
  const journal = join(project.root, '.stepfast', 'runs', run, 'journal.jsonl');
  const before = readFileSync(journal, 'utf8');
  await runtime.call({ type: 'advance', output: 'x', at }, { session: 's' });
  await runtime.call({ type: 'note', kind: 'decision', text: '' }, { session: 's' });
  expect(refusalsIn(runtime.project.directory)).toEqual([
    { now: expect.any(Number), run, code: 'stale_handle', at },
  ]);
  expect(readFileSync(journal, 'utf8')).toBe(before);
  expect(project.git('status', '--short', '.stepfast/sessions')).toBe('');
});

test('what is torn or strange in it is left out', async () => {
  const runtime = project.runtime();
  await runtime.start({ workflow: 'w' }, { session: 's' });
  const file = join(runtime.project.directory, 'sessions', 'refusals.jsonl');
  writeFileSync(file, '{"now":1,"run":"r","code":"stale_handle"}\n7\n{"now":"x"}\n{"no');
  expect(refusalsIn(runtime.project.directory)).toEqual([{ now: 1, run: 'r', code: 'stale_handle' }]);
});
