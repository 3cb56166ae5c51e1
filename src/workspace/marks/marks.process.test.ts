import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Definition, respond } from '../../machine/index.ts';
import { renewMarks, withMarks } from '../../runtime/marked-engine.ts';
import { createTestProject } from '../../testing/index.ts';
import { createMarks } from './marks.ts';
import { markedRuns, markRun, marksFor } from './run-marks.ts';

const definition: Definition = {
  name: 'w',
  description: 'One step',
  steps: [{ id: 'work', type: 'action', instructions: 'Work.' }],
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stepfast-marks-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const marked = (): string[] =>
  readdirSync(join(directory, 'sessions', 'marks'))
    .filter((name) => name !== 'because')
    .sort();

describe('marks', () => {
  test('a mark exists while any owner wants it', () => {
    const marks = createMarks(directory);
    marks.want('one', ['stop', 'prompt']);
    marks.want('two', ['stop']);
    expect(marked()).toEqual(['prompt', 'stop']);
    marks.drop('one');
    expect(marked()).toEqual(['stop']);
    marks.want('two', ['prompt']);
    expect(marked()).toEqual(['prompt']);
    marks.drop('two');
    expect(marked()).toEqual([]);
  });

  test('what is dropped where nothing was ever wanted makes no file', () => {
    createMarks(directory).drop('one');
    expect(existsSync(join(directory, 'sessions'))).toBe(false);
  });

  test('no name leads out of the folder', () => {
    const marks = createMarks(directory);
    marks.want('../../evil', ['stop']);
    marks.want('one', ['../evil', 'because', 'stop']);
    expect(readdirSync(directory)).toEqual(['sessions']);
    expect(marked()).toEqual(['stop']);
  });

  test('tools are looked at only where something hangs on them', () => {
    expect(marksFor(definition)).not.toContain('before_tool');
    expect(marksFor(definition)).not.toContain('after_tool-read');
    const agents = { reviewer: { description: 'Looks', cannot: ['Edit'] } };
    expect(marksFor({ ...definition, agents })).toContain('before_tool');
    expect(marksFor({ ...definition, required_reading: ['@a.md'] })).toContain('after_tool-read');
    const steps: Definition['steps'] = [{ id: 'work', type: 'action', gate: [{ read: ['a.md'] }] }];
    expect(marksFor({ ...definition, steps })).toContain('after_tool-read');
  });
});

test('[A1] every tool of a driven run with a budget has a mark, until the driver leaves', () => {
  const budgeted = { ...definition, budget: { tokens: 1 } };
  const run = 'w-20261114-k3f9x2ab';
  const { state } = respond(budgeted, null, { type: 'start', now: 1, run });
  const driver = { epoch: 1, process: { pid: 1, host: 'here' }, expires: 2 };
  const shell = (more: object): boolean => {
    markRun(createMarks(directory), run, budgeted, { ...(state ?? expect.fail('no run')), ...more });
    return marked().includes('after_tool-shell');
  };
  expect(shell({ driver })).toBe(true);
  expect(shell({ driver: { ...driver, released: true } })).toBe(false);
});

describe('an engine with marks', () => {
  test('[P4/11] marks come with a run, go with its end, and come back when it is rewound', async () => {
    using project = createTestProject();
    const runtime = project.runtime();
    const stepfast = runtime.project.directory;
    const engine = withMarks(runtime.engine, stepfast);
    const runs = () => markedRuns(createMarks(stepfast));
    const { run } = await engine.begin(definition, { type: 'start', now: 1 });
    expect(runs()).toEqual([run]);
    await engine.execute(run, { type: 'advance', now: 2, output: 'Done.' });
    expect(runs()).toEqual([]);
    const person = { kind: 'person', name: 'ann' } as const;
    await engine.execute(run, { type: 'rewind', now: 3, actor: person, to: 'work' });
    expect(runs()).toEqual([run]);
    await engine.remove(run);
    expect(runs()).toEqual([]);
  });

  test('marks are made again from what runs there are', async () => {
    using project = createTestProject();
    const runtime = project.runtime();
    const marks = createMarks(runtime.project.directory);
    marks.want('run.gone-20261114-k3f9x2ab', ['stop']);
    const { run } = await runtime.engine.begin(definition, { type: 'start', now: 1 });
    await renewMarks(runtime.engine, runtime.project.directory);
    expect(markedRuns(marks)).toEqual([run]);
  });
});
