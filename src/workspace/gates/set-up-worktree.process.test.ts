import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

interface Prepared {
  trusted?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** More keys of `worktree`. */
  more?: string;
  task?: string | undefined;
  slot?: number;
}

function prepare(
  setup: string,
  { trusted = true, timeoutMs = 60_000, signal = never, more = '', ...of }: Prepared = {},
) {
  const definition = loadWorkflowTemplateFromString(`name: w
description: d
worktree: { setup: ${JSON.stringify(setup)}${more} }
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
    project: {
      root,
      worktree: path,
      directory: join(root, '.stepfast'),
      git: true,
      worktrees: join(root, '../worktrees'),
    },
    trust,
    env: project.env,
    host: 'here',
    cacheDirectory,
  };
  const run = () =>
    setUpWorktree({ definition, state, task: 'a', path, ...of }, options, {
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

const write = (file: string, text: string): void => {
  mkdirSync(join(path, file, '..'), { recursive: true });
  writeFileSync(join(path, file), text);
};
const times = (): number => readFileSync(join(path, 'log.txt'), 'utf8').split('\n').length - 1;

test('[L/worktree] a setup runs again when a lock file changed anywhere, and only then', async () => {
  const { run, definition } = prepare('echo once >> log.txt');
  await run();
  write('a.txt', 'x');
  await run();
  expect(times()).toBe(1);
  const changes: [file: string, text: string | undefined][] = [
    ['package-lock.json', '{}'],
    ['packages/one/yarn.lock', 'x'],
    ['requirements-dev.txt', 'x'],
    ['package-lock.json', '{ }'],
    ['packages/one/yarn.lock', undefined],
  ];
  for (const [index, [file, text]] of changes.entries()) {
    if (text === undefined) rmSync(join(path, file));
    else write(file, text);
    expect(isSetUp(definition, path)).toBe(true);
    await run();
    await run();
    expect([file, times()]).toEqual([file, index + 2]);
  }
});

test('[L/worktree] with inputs, only these make a setup run again, and what it writes itself does not', async () => {
  const { run } = prepare('echo once >> log.txt; date +%N > deps.lock', {
    more: ', inputs: ["*.lock", tools]',
  });
  for (const [file, count] of [
    ['README.md', 1],
    ['package-lock.json', 1],
    ['tools/x', 2],
    ['own.lock', 3],
    ['deep/own.lock', 3],
  ] as const) {
    write(file, 'changed');
    await run();
    await run();
    expect([file, times()]).toEqual([file, count]);
  }
});

test('[L/worktree] files are copied once: a setup that runs again keeps what was changed since', async () => {
  project.write({ '.gitignore': 'log.txt\n.env\n', '.env': 'KEY=1\n' });
  project.git('commit', '-qam', 'ignore');
  project.git('-C', path, 'merge', '-q', 'main');
  const { run } = prepare('cat .env >> log.txt', { more: ', copy: [.env]' });
  expect(await run()).toBeUndefined();
  write('.env', 'KEY=2\n');
  write('go.sum', 'x');
  await run();
  expect(readFileSync(join(path, 'log.txt'), 'utf8')).toBe('KEY=1\nKEY=2\n');
});

test('[L/worktree] a setup that fails again leaves the worktree to be set up', async () => {
  const { run } = prepare('test ! -f go.sum && echo once >> log.txt');
  await run();
  write('go.sum', 'x');
  expect(await run()).toContain('exited with 1');
  expect(await run()).toContain('exited with 1');
  rmSync(join(path, 'go.sum'));
  expect(await run()).toBeUndefined();
});

test('[L/worktree] the worktree of a run or of its queue has no task, and a slot is passed on', async () => {
  const { run } = prepare('echo "<$STEPFAST_TASK_ID> $STEPFAST_SLOT" >> log.txt', {
    task: undefined,
    slot: 2,
  });
  expect(await run()).toBeUndefined();
  expect(readFileSync(join(path, 'log.txt'), 'utf8')).toBe('<> 2\n');
});
