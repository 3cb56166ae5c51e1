import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadWorkflowTemplateFromString } from '../../definition/index.ts';
import { replay, settle } from '../../machine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';
import { createTrust } from '../trust.ts';
import { isSetUp, setUpWorktree } from './set-up-worktree.ts';

let project: TestProject;
let path: string;
beforeEach(() => {
  project = createTestProject({ '.gitignore': 'log.txt\n' });
  path = join(project.root, '.stepfast/worktrees/x/a');
  project.git('worktree', 'add', '-q', '-b', 'task', path);
});
afterEach(() => project[Symbol.dispose]());

function prepare(setup: string, { trusted = true, timeoutMs = 60_000, signal = never } = {}) {
  const definition = loadWorkflowTemplateFromString(`name: w
description: d
worktree: { setup: ${JSON.stringify(setup)} }
loops: { build: [{ id: write, instructions: Write. }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`);
  const { events } = settle(definition, null, { type: 'start', now: 1, run: 'w-20261116-k3f9x2ab' });
  const state = replay(definition, null, events);
  if (!state) throw new Error('no run');
  const { root } = project;
  const cacheDirectory = join(root, '../cache');
  mkdirSync(cacheDirectory, { recursive: true });
  const trust = createTrust(cacheDirectory, root);
  if (trusted) trust.give(definition, { now: 1, by: 'person' });
  const options = {
    project: { root, worktree: path, directory: join(root, '.stepfast'), git: true },
    trust,
    env: project.env,
    host: 'here',
    cacheDirectory,
  };
  const run = () =>
    setUpWorktree({ definition, state, task: 'a', path }, options, {
      logs: join(root, '../logs'),
      signal,
      timeoutMs,
    });
  return { definition, run };
}

const never = new AbortController().signal;

test('[L/worktree] of several that set up a worktree at once, one does it', async () => {
  const { run, definition } = prepare('echo once >> log.txt; sleep 0.3');
  expect(isSetUp(definition, path)).toBe(false);
  expect(await Promise.all([run(), run(), run()])).toEqual([undefined, undefined, undefined]);
  expect(readFileSync(join(path, 'log.txt'), 'utf8')).toBe('once\n');
  expect(isSetUp(definition, path)).toBe(true);
});

test('[L/worktree] a setup that fails or takes too long is not done, and says why with the end of its output', async () => {
  const failed = prepare('for i in $(seq 2000); do echo "line $i"; done; exit 7');
  const problem = (await failed.run()) ?? '';
  expect(problem).toMatch(/exited with 7\n.*line 2000$/s);
  expect(problem.length).toBeLessThan(1900);
  const slow = prepare('echo waiting; sleep 60', { timeoutMs: 1000 });
  expect(await slow.run()).toMatch(/timed out after 1 s\nwaiting$/);
  expect(isSetUp(slow.definition, path)).toBe(false);
});

test('[L/worktree] a setup that was stopped is not done', async () => {
  const stop = new AbortController();
  const { run, definition } = prepare('sleep 60', { signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  expect(await run()).toBeDefined();
  expect(isSetUp(definition, path)).toBe(false);
});

test('[L/worktree] nothing runs that is not trusted', async () => {
  const { run, definition } = prepare('touch log.txt', { trusted: false });
  expect(await run()).toContain("'w'");
  expect(isSetUp(definition, path)).toBe(false);
});
