import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { told } from '../../test/kit/told.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import type { CallerIdentity } from './call-context.ts';

const one: CallerIdentity = { session: 'one', host: 'scripted' };
const person: CallerIdentity = { actor: { kind: 'person' } };
const waitMs = 60_000;

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ '.gitignore': '.env\ndeps/\nlog.txt\n' });
});
afterEach(() => project[Symbol.dispose]());

/** A run of a parallel loop with the tasks a and b. */
async function begin(worktree: string, { onFail = '', first = '', trusted = true } = {}) {
  project.write({
    '.stepfast/workflows/crowd.yaml': `name: crowd
description: Several agents
worktree: ${worktree}
inputs: { level: { type: string, default: minor } }
loops:
  build:
${first}    - { id: write, instructions: "Write {task.title}.", gate: [{ run: test -f ready }]${onFail} }
steps:
  - { id: build, type: loop, parallel: 2 }
`,
  });
  project.trust('crowd');
  const runtime = project.runtime();
  const { run = '' } = await runtime.start({ workflow: 'crowd' }, one);
  const tasks = ['a', 'b'].map((id) => ({ id, title: id }));
  await runtime.call({ type: 'setTasks', loop: 'build', tasks }, one, { run });
  if (!trusted) for (const record of runtime.trust.list()) runtime.trust.take(record);
  /** Creates a file beside the worktrees of the tasks. */
  const allow = (file: string): void => {
    const folder = join(runtime.project.worktrees, run, 'task');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), '');
  };
  const claim = (task = 'a', ms = waitMs) =>
    project.runtime().call({ type: 'claim', holder: 'one', task }, one, { run, waitMs: ms });
  const state = async () => {
    const view = await runtime.engine.view(run);
    if (!view) throw new Error('no run');
    return view.state;
  };
  const failures = async () =>
    (await runtime.engine.entries(run))
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.type === 'position.failed' ? [event.reason] : []));
  return { runtime, run, allow, claim, state, failures };
}

test('[L/worktree] [A10] a claim prepares the worktree of the task once: files first, then the command', async () => {
  project.write({ '.env': 'KEY=1\n', 'deps/a.js': 'a\n' });
  const setup =
    'cat .env deps/a.js > ready && echo "$STEPFAST_TASK_ID $STEPFAST_INPUT_LEVEL $STEPFAST_RUN_ID" >> log.txt';
  const { claim, run, runtime } = await begin(`{ setup: '${setup}', copy: [.env, deps] }`);
  const { worktree = '', warning, reply } = await claim();
  expect(warning).toBeUndefined();
  expect(readFileSync(join(worktree, 'ready'), 'utf8')).toBe('KEY=1\na\n');
  expect(existsSync(join(project.root, 'ready'))).toBe(false);
  project.write({ '.env': 'KEY=2\n' });
  expect((await claim()).worktree).toBe(worktree);
  expect(readFileSync(join(worktree, 'log.txt'), 'utf8')).toBe(`a minor ${run}\n`);
  expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('KEY=1\n');
  const other = await claim('b');
  expect(readFileSync(join(other.worktree ?? '', 'log.txt'), 'utf8')).toBe(`b minor ${run}\n`);
  const { at = '' } = told({ reply });
  const done = await runtime.call({ type: 'advance', output: 'x', at }, one, { run, waitMs });
  expect(told(done).task?.id).not.toBe('a');
  // A worktree that was removed and created again is new.
  project.git('worktree', 'remove', '--force', other.worktree ?? '');
  await claim('b');
  expect(existsSync(join(other.worktree ?? '', 'ready'))).toBe(true);
});

test('[L/worktree] a setup that fails fails the task with its output, and a person may have it repeated', async () => {
  const setup = 'test -f ../ok && touch ready || { echo no such module; exit 3; }';
  const { allow, claim, state, failures, runtime, run } = await begin(`{ setup: '${setup}' }`);
  const answer = await claim();
  expect(told(answer)).toMatchObject({ task: { id: 'a' }, waiting: { for: 'blocked' } });
  // The reply has the reason.
  expect(answer.warning).toBeUndefined();
  expect(await failures()).toEqual([expect.stringMatching(/exited with 3\nno such module/)]);
  expect((await state()).cursors['build/a']?.waiting).toMatchObject({ kind: 'blocked' });
  allow('ok');
  const { at = '' } = told(answer);
  told(await runtime.call({ type: 'review', verdict: 'revise', feedback: 'again', at }, person, { run }));
  const again = await claim();
  expect(again.warning).toBeUndefined();
  expect(existsSync(join(again.worktree ?? '', 'ready'))).toBe(true);
});

test('[L/worktree] on_fail counts a setup that fails: it is tried again, then the task is skipped', async () => {
  const onFail = ', on_fail: { retry: 2, then: skip }';
  const { claim, failures, state } = await begin('{ copy: [.env] }', { onFail });
  const answer = await claim();
  expect(told(answer).task).toBeUndefined();
  expect(answer.warning).toContain("'.env'");
  expect(await failures()).toHaveLength(2);
  expect((await state()).tasks.build?.byId.a).toMatchObject({ end: 'failed' });
  project.write({ '.env': 'KEY=1\n' });
  const other = await claim('b');
  expect(told(other).task?.id).toBe('b');
  expect(existsSync(join(other.worktree ?? '', '.env'))).toBe(true);
});

test('[L/worktree] a claim that cannot wait says so, the setup goes on, and the next claim waits for it', async () => {
  const setup = 'while [ ! -f ../go ]; do sleep 0.1; done; echo once >> log.txt; touch ready';
  const { allow, claim, run, runtime } = await begin(`{ setup: '${setup}' }`);
  const early = await claim('a', 0);
  expect(early.warning).toBeDefined();
  const { at = '' } = told(early);
  expect((await runtime.call({ type: 'status', at }, one, { run })).warning).toBe(early.warning);
  const waiting = [claim(), claim()];
  allow('go');
  for (const { warning, worktree = '' } of await Promise.all(waiting)) {
    expect(warning).toBeUndefined();
    expect(readFileSync(join(worktree, 'log.txt'), 'utf8')).toBe('once\n');
  }
});

test('[L/worktree] a setup that was interrupted begins again', async () => {
  const setup = 'echo begun >> log.txt; while [ ! -f ../go ]; do sleep 0.1; done; touch ready';
  const { allow, claim, run } = await begin(`{ setup: '${setup}' }`);
  const { worktree = '' } = await claim('a', 0);
  const begun = () =>
    existsSync(join(worktree, 'log.txt')) ? readFileSync(join(worktree, 'log.txt'), 'utf8') : '';
  await expect.poll(begun, { timeout: 30_000 }).toBe('begun\n');
  const logs = join(project.root, '.stepfast/runs', run, 'gates/setup-a');
  process.kill(runnerIn(logs), 'SIGKILL');
  allow('go');
  expect((await claim()).warning).toBeUndefined();
  expect(begun()).toBe('begun\nbegun\n');
  expect(existsSync(join(worktree, 'ready'))).toBe(true);
});

test('[L/worktree] the command of a first sub-step finds its worktree set up, or fails with the reason', async () => {
  const first = '    - { id: list, type: run, run: cat ready }\n';
  const { allow, claim, state } = await begin('{ setup: "test -f ../ok && echo yes > ready" }', { first });
  await claim('a');
  await expect
    .poll(async () => (await state()).cursors['build/a']?.waiting?.kind, { timeout: 30_000 })
    .toBe('blocked');
  allow('ok');
  const { worktree = '' } = await claim('b');
  await expect
    .poll(async () => (await state()).cursors['build/b']?.subStep, { timeout: 30_000 })
    .toBe('write');
  expect((await state()).outputs['build.b.list']?.text).toBe('yes');
  expect(existsSync(join(worktree, 'ready'))).toBe(true);
});

test('[L/worktree] a run that is not trusted here is not claimed', async () => {
  const { claim, state } = await begin('{ setup: touch ready }', { trusted: false });
  expect((await claim()).reply).toMatchObject({ code: 'untrusted' });
  expect((await state()).cursors['build/a']).toBeUndefined();
});

function runnerIn(logs: string): number {
  const [pid] = readdirSync(logs).flatMap((name) => /^runner-(\d+)\.json$/.exec(name)?.[1] ?? []);
  return Number(pid);
}
