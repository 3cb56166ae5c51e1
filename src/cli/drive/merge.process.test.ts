import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMergeQueue, defaultTiming, type Progress, takeLease } from '../../driver/index.ts';
import { handleOf, type State } from '../../machine/index.ts';
import { createTestProject, type TestProject } from '../../testing/index.ts';

const workflow = `name: w
description: Two tasks
loops:
  work: [{ id: do, instructions: Do it., on_fail: { retry: 1, then: wait } }]
steps:
  - { id: work, type: loop, parallel: 2, merge_gate: [{ run: test ! -e broken }] }
`;

let kit: TestProject;
let run: string;
beforeEach(async () => {
  kit = createTestProject({ '.stepfast/workflows/w.yaml': workflow, 'a.txt': 'one\n' });
  for (const [key, value] of Object.entries(kit.env)) vi.stubEnv(key, value);
  kit.trust('w');
  ({ run } = await kit.startRun('w'));
  const tasks = ['one', 'two'].map((id) => ({ id, title: id }));
  await kit.runtime().call({ type: 'setTasks', loop: 'work', tasks }, { session: 'before' }, { run });
});
afterEach(() => {
  vi.unstubAllEnvs();
  kit[Symbol.dispose]();
});

const state = async (): Promise<State> => await (await kit.onlyRun()).state();
const head = (): string => kit.git('rev-parse', 'main').trim();

/** An agent takes the task, writes a file, and says that it is done. */
async function work(task: string, file: string, content: string): Promise<string> {
  const runtime = kit.runtime();
  const session = `of-${task}`;
  await runtime.call({ type: 'claim', holder: session, task }, { session }, { run });
  const worktree = runtime.workspace.taskWorktree(run, task) ?? '';
  writeFileSync(join(worktree, file), content);
  const now = await state();
  const cursor = now.cursors[`work/${task}`];
  if (!cursor) throw new Error(`${task} is not held`);
  await runtime.call({ type: 'advance', output: 'done', at: handleOf(now, cursor) }, { session }, { run });
  return worktree;
}

async function merge(...args: string[]) {
  const { code, stdout } = await kit.run(['merge', ...args, '--json'], { terminal: true });
  return { code, ...JSON.parse(stdout) } as {
    code: number;
    results?: { task: string; state: string }[];
    branch?: string;
  };
}

test('one round merges what waits, without a driver, and lets the run go', async () => {
  const one = await work('one', 'b.txt', 'new\n');
  await work('two', 'c.txt', 'new\n');
  const { code, results, branch } = await merge();
  expect({ code, branch }).toEqual({ code: 0, branch: 'main' });
  expect(results).toMatchObject([
    { task: 'one', state: 'merged' },
    { task: 'two', state: 'merged' },
  ]);
  expect(existsSync(join(kit.root, 'b.txt')) && existsSync(join(kit.root, 'c.txt'))).toBe(true);
  expect(existsSync(one)).toBe(false);
  expect(await state()).toMatchObject({ status: 'complete', driver: { released: true } });
  expect((await merge()).results).toBeUndefined();
});

test('a task that is red after its merge does not reach the branch, and --again tries a parked one once more', async () => {
  const before = head();
  const worktree = await work('one', 'broken', '');
  expect(await merge()).toMatchObject({ code: 1, results: [{ task: 'one', state: 'red' }] });
  expect(head()).toBe(before);
  expect(existsSync(join(worktree, 'broken'))).toBe(true);
  expect((await state()).merges?.one).toMatchObject({ state: 'parked', failures: 1 });
  const piped = await kit.run(['merge', '--again', 'one', '--json']);
  expect(JSON.parse(piped.stdout || piped.stderr)).toMatchObject({ code: 'person_only' });
  expect((await merge('--again', 'one')).code).toBe(0);
  expect((await state()).merges?.one).toMatchObject({ state: 'returned', failures: 0 });
  expect((await merge('--again', 'two')).code).not.toBe(0);
});

test('a branch that was rewound holds the queue until a person accepts it', async () => {
  const before = head();
  await work('one', 'b.txt', 'new\n');
  await merge();
  await work('two', 'c.txt', 'new\n');
  kit.git('reset', '-q', '--hard', before);
  expect(await merge()).toMatchObject({ code: 1, results: [{ task: 'two', state: 'held' }] });
  expect((await state()).held?.why).toBe('rewound');
  expect(head()).toBe(before);
  expect(await merge('--accept')).toMatchObject({ code: 0, results: [{ task: 'two', state: 'merged' }] });
  expect((await state()).held).toBeUndefined();
  expect(existsSync(join(kit.root, 'c.txt'))).toBe(true);
});

test('a red base holds the queue, and nothing counts against the task', async () => {
  kit.write({ broken: '' });
  kit.git('add', '-A');
  kit.git('commit', '-q', '-m', 'broken');
  await work('one', 'b.txt', 'new\n');
  expect(await merge()).toMatchObject({ code: 1, results: [{ task: 'one', state: 'held' }] });
  expect(await state()).toMatchObject({ held: { why: 'base_red' }, merges: { one: { failures: 0 } } });
  kit.git('rm', '-q', 'broken');
  kit.git('commit', '-q', '-m', 'whole');
  expect(await merge()).toMatchObject({ code: 0, results: [{ task: 'one', state: 'merged' }] });
});

test('merged work that a person takes off the branch just before the next merge is not left behind', async () => {
  await work('one', 'b.txt', 'new\n');
  await work('two', 'c.txt', 'new\n');
  const runtime = kit.runtime();
  const lease = await takeLease(runtime, run, 'main');
  if ('code' in lease) throw new Error(lease.code);
  const before = head();
  const merges: string[] = [];
  const report = (progress: Progress): void => {
    if (progress.type !== 'merge') return;
    merges.push(`${progress.task} ${progress.state}`);
    if (merges.at(-1) === 'two merging') kit.git('reset', '-q', '--keep', before);
  };
  const timing = { ...defaultTiming, heldMs: 0 };
  const { signal } = new AbortController();
  const context = { runtime, run, clock: Date.now, commits: true, timing, signal, report };
  await createMergeQueue(context, lease.epoch).round();
  await lease.release();
  expect(merges).toEqual(['one merging', 'one merged', 'two merging', 'two held']);
  expect((await state()).held).toMatchObject({ why: 'rewound', head: before });
  expect(head()).toBe(before);
});
