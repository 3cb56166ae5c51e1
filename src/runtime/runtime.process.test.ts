import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isServed } from '../../test/kit/is-served.ts';
import { told } from '../../test/kit/told.ts';
import { createTestProject, type TestProject } from '../testing/index.ts';
import type { CallerIdentity } from './call-context.ts';
import { createBindings } from './sessions/binding-files.ts';

const plain = `name: plain
description: Two steps
steps:
  - { id: plan, type: action, instructions: "Plan in {project_root}." }
  - { id: build, type: action, instructions: Build. }
`;
const crowd = `name: crowd
description: Several agents
loops:
  build: [{ id: write, instructions: "Write {task.title}." }]
steps:
  - { id: build, type: loop, parallel: 2 }
`;
const one: CallerIdentity = { session: 'one', host: 'scripted' };
const two: CallerIdentity = { session: 'two', host: 'scripted' };

let project: TestProject;
beforeEach(() => {
  project = createTestProject({
    '.stepfast/workflows/plain.yaml': plain,
    '.stepfast/workflows/crowd.yaml': crowd,
  });
});
afterEach(() => project[Symbol.dispose]());

describe('starting', () => {
  test('a start pins the workflow, and a second one with the same words restores', async () => {
    const runtime = project.runtime();
    const first = told(await runtime.start({ workflow: 'plain', summary: 'Log in' }, one));
    expect(first).toMatchObject({ step: 'plan', instructions: `Plan in ${project.root}.` });
    const again = told(await project.runtime().start({ workflow: 'plain', summary: 'Log in' }, two));
    expect(again.run).toBe(first.run);
    const other = told(await runtime.start({ workflow: 'plain', summary: 'Log out' }, one));
    expect(other.run).not.toBe(first.run);
  });

  test('a finished run is not restored', async () => {
    const runtime = project.runtime();
    const { run } = told(await runtime.start({ workflow: 'plain' }, one));
    await runtime.call({ type: 'cancel' }, { actor: { kind: 'person' } });
    expect(told(await runtime.start({ workflow: 'plain' }, one)).run).not.toBe(run);
  });

  test('what is wrong with a name or a file is said as a refusal', async () => {
    const runtime = project.runtime();
    project.write({ '.stepfast/workflows/bad.yaml': 'name: bad\nstep: []\n' });
    expect((await runtime.start({ workflow: 'plane' }, one)).reply).toMatchObject({
      code: 'no_workflow',
      params: { message: expect.stringContaining("'plain'") },
    });
    expect((await runtime.start({ workflow: 'bad' }, one)).reply).toMatchObject({ code: 'invalid_workflow' });
  });

  test('git ignores runs even without `stepfast init`', async () => {
    await project.runtime().start({ workflow: 'plain' }, one);
    expect(project.git('status', '--porcelain')).not.toContain('runs');
  });

  test('[000/11] a start without a name means the workflow that was given', async () => {
    const runtime = project.runtime({ workflowPath: join(project.root, '.stepfast/workflows/plain.yaml') });
    expect(told(await runtime.start({}, one)).step).toBe('plan');
  });
});

describe('[M13] a start that may resume', () => {
  const begun = async (summary: string) =>
    told(await project.runtime().start({ workflow: 'plain', summary }, one)).run;

  test('without words it restores the only live run here, of whichever workflow', async () => {
    const run = await begun('Log in');
    expect(await project.runtime().start({ resume: true }, two)).toMatchObject({ run, restored: true });
    const crowded = told(await project.runtime().start({ workflow: 'crowd' }, one)).run;
    const three = { session: 'three' };
    expect((await project.runtime().start({ resume: true }, three)).reply).toMatchObject({
      code: 'several_runs',
      params: { total: 2 },
    });
    const workflowPath = join(project.root, '.stepfast/workflows/crowd.yaml');
    const given = project.runtime({ workflowPath });
    expect(told(await given.start({ resume: true }, three)).run).toBe(crowded);
    expect(told(await project.runtime().start({ resume: true }, two)).run).toBe(run);
  });

  test('other words for the only live run of the workflow restore it, with a warning', async () => {
    const run = await begun('Log in');
    const reworded = { workflow: 'plain', summary: 'The login page', resume: true };
    const answer = await project.runtime().start(reworded, two);
    expect(answer).toMatchObject({ run, restored: true, warning: expect.stringContaining('Log in') });
    const fresh = await project.runtime().start({ ...reworded, resume: false }, two);
    expect(fresh.run).not.toBe(run);
  });

  test('other words open a second run where another session is at work', async () => {
    const run = await begun('Log in');
    const now = Date.now();
    const bound = { host: 'scripted', session: 'one', run, cwd: '.', boundAt: now, seenAt: now };
    await createBindings(project.runtime().project.directory).put(bound);
    const reworded = { workflow: 'plain', summary: 'The login page', resume: true };
    expect((await project.runtime().start(reworded, two)).run).not.toBe(run);
  });

  // A server has its own clock.
  test.skipIf(isServed)('other words open a second run after a week', async () => {
    const run = await begun('Log in');
    const later = project.runtime({ clock: () => Date.now() + 8 * 24 * 3_600_000 });
    const reworded = { workflow: 'plain', summary: 'The login page', resume: true };
    expect((await later.start(reworded, two)).run).not.toBe(run);
  });
});

test('[M14] the summary of a start without a name is the task that the default workflow needs', async () => {
  const words = `Fix the login. ${'Every case of it. '.repeat(10)}`.trim();
  const answer = await project.runtime().start({ summary: words }, one);
  expect(answer.view?.state).toMatchObject({ workflow: 'go', inputs: { task: words } });
  expect((await project.runtime().start({ summary: words }, two)).run).toBe(answer.run);
  const named = await project.runtime().start({ workflow: 'go', summary: 'Fix it' }, one);
  expect(named.reply).toMatchObject({ code: 'bad_input' });
});

describe('which run is meant', () => {
  test('without a handle the only live run, with several none is guessed', async () => {
    const runtime = project.runtime();
    expect((await runtime.call({ type: 'status' }, one)).reply).toMatchObject({ code: 'no_run' });
    const { run } = told(await runtime.start({ workflow: 'plain', summary: 'a' }, one));
    expect(told(await runtime.call({ type: 'status' }, one)).run).toBe(run);
    await runtime.start({ workflow: 'plain', summary: 'b' }, one);
    expect((await runtime.call({ type: 'status' }, one)).reply).toMatchObject({
      code: 'several_runs',
      params: { runs: [{ summary: 'b' }, { run, summary: 'a' }], total: 2 },
    });
    const suffix = run.slice(run.lastIndexOf('-') + 1);
    expect(told(await runtime.call({ type: 'status' }, one, { run: suffix })).run).toBe(run);
  });

  test('a run that is worked on in another worktree is not this one', async () => {
    const linked = join(project.root, '../linked');
    project.git('worktree', 'add', '-q', linked);
    const there = project.runtime({ cwd: linked });
    const here = project.runtime();
    const away = told(await there.start({ workflow: 'plain', summary: 'there' }, one));
    const home = told(await here.start({ workflow: 'plain', summary: 'here' }, two));
    expect(told(await here.call({ type: 'status' }, two)).run).toBe(home.run);
    expect(told(await there.call({ type: 'status' }, one)).run).toBe(away.run);
  });

  test('two sessions on one run are told apart in its history', async () => {
    const runtime = project.runtime();
    const { at = '', run } = told(await runtime.start({ workflow: 'plain' }, one));
    await project.runtime().call({ type: 'advance', output: 'planned', at }, two);
    const view = await runtime.engine.view(run);
    expect(Object.keys(view?.state.sessions ?? {})).toEqual(['one', 'two']);
    expect(view?.state.sessions.two).toMatchObject({
      host: 'scripted',
      worktree: expect.stringMatching(/^\{project_root\}(@|$)/),
      completed: ['plan'],
    });
  });
});

describe('several agents', () => {
  test('a claim gives each its own worktree and branch', async () => {
    const runtime = project.runtime();
    await runtime.start({ workflow: 'crowd' }, one);
    const tasks = ['a', 'b'].map((id) => ({ id, title: `Part ${id}` }));
    await runtime.call({ type: 'setTasks', loop: 'build', tasks }, one);
    const first = await runtime.call({ type: 'claim', holder: 'one' }, one);
    const second = await runtime.call({ type: 'claim', holder: 'two' }, two);
    expect(told(first).task?.id).toBe('a');
    expect(told(second).task?.id).toBe('b');
    expect(first.worktree).not.toBe(second.worktree);
    expect(existsSync(join(second.worktree ?? '', 'README.md'))).toBe(true);
    expect(project.git('branch', '--list', 'stepfast/*').trim().split('\n')).toHaveLength(2);
    const renewed = await runtime.call({ type: 'claim', holder: 'one', task: 'a' }, one);
    expect(renewed.worktree).toBe(first.worktree);
  });

  test.each([
    ['by a session', one],
    ['by a person without a session', { actor: { kind: 'person' } } satisfies CallerIdentity],
  ])('A3: a run started %s is found from there and from the worktrees of its tasks', async (_, starter) => {
    const main = project.runtime();
    const { run } = told(await main.start({ workflow: 'crowd' }, starter));
    const tasks = ['a', 'b'].map((id) => ({ id, title: `Part ${id}` }));
    await main.call({ type: 'setTasks', loop: 'build', tasks }, starter);
    const { worktree = '', reply } = await main.call({ type: 'claim', holder: 'two' }, {});
    const there = project.runtime({ cwd: worktree });
    if ('session' in starter)
      await main.call({ type: 'session', event: { type: 'ended' } }, { session: starter.session });
    told(await there.call({ type: 'advance', output: 'written', at: reply.at ?? '' }, two));
    const view = await main.engine.view(run);
    expect(view?.state.sessions.two?.worktree).toContain(`/${run}/task/a`);
    const note = (text: string) => ({ type: 'note', kind: 'decision', text }) as const;
    expect(told(await there.call(note('x'), two)).run).toBe(run);
    expect(told(await main.call(note('y'), {})).run).toBe(run);
    expect(await main.chooseRun({ changes: true })).toEqual({ run });
  });

  test('A3: a run that a linked worktree started stays apart from one of the main worktree', async () => {
    const linked = join(project.root, '../linked-crowd');
    project.git('worktree', 'add', '-q', linked);
    const away = project.runtime({ cwd: linked });
    const { run } = told(await away.start({ workflow: 'crowd' }, one));
    await away.call({ type: 'setTasks', loop: 'build', tasks: [{ id: 'a', title: 'A' }] }, one);
    const { worktree = '', reply } = await away.call({ type: 'claim', holder: 'two' }, {});
    await project.runtime({ cwd: worktree }).call({ type: 'status', at: reply.at ?? '' }, two);
    await away.call({ type: 'session', event: { type: 'ended' } }, one);
    const home = told(await project.runtime().start({ workflow: 'plain' }, { session: 'three' }));
    expect(await project.runtime().chooseRun({ changes: true })).toEqual({ run: home.run });
    expect(await away.chooseRun({ changes: true })).toEqual({ run });
  });
});

describe('what a run leaves', () => {
  test('[003/8] the to-do list is a file in the run, replaced as a whole, or where the project wants it', async () => {
    const runtime = project.runtime();
    const { run } = told(await runtime.start({ workflow: 'plain' }, one));
    await runtime.call({ type: 'todo', content: '- [ ] first' }, one);
    await runtime.call({ type: 'todo', content: '- [x] first\n- [ ] second' }, one);
    const file = join(project.root, '.stepfast/runs', run, 'TODO.md');
    expect(readFileSync(file, 'utf8')).toBe('- [x] first\n- [ ] second');
    writeFileSync(join(project.root, '.stepfast/config.yaml'), 'todo_path: TODO.md\n');
    const later = project.runtime();
    const next = told(await later.start({ workflow: 'plain', summary: 'b' }, one));
    await later.call({ type: 'todo', content: 'in the tree' }, one, { run: next.run });
    expect(readFileSync(join(project.root, 'TODO.md'), 'utf8')).toBe('in the tree');
  });

  test('[M9] the list in the worktree is shown as a person has edited it, and replaced after an agent has read it', async () => {
    project.write({ '.stepfast/config.yaml': 'todo_path: TODO.md\n' });
    const runtime = project.runtime();
    const { run } = told(await runtime.start({ workflow: 'plain' }, one));
    await runtime.call({ type: 'todo', content: '- [ ] first' }, one);
    project.write({ 'TODO.md': '- [ ] first\n- [ ] by hand\n' });
    const replaced = await runtime.call({ type: 'todo', content: '- [x] first' }, one);
    expect(replaced.warning).toContain('TODO.md');
    const { env } = project;
    const person = { env, terminal: true };
    for (const args of [['todo'], ['prime', '--section', 'todo']])
      expect((await project.run(args, person)).stdout).toContain('by hand');
    const unread = await runtime.call({ type: 'todo', content: '- [x] first' }, one);
    expect(unread.warning).toBeDefined();
    expect(readFileSync(join(project.root, 'TODO.md'), 'utf8')).toContain('by hand');
    expect((await project.run(['todo', '--run', run], { env })).stdout).toContain('by hand');
    const after = await runtime.call({ type: 'todo', content: '- [x] first\n- [ ] by hand' }, one);
    expect(after.warning).toBeUndefined();
  });

  test('[002/4] a workflow that keeps nothing is gone some time after its end; until then a repeated call is answered', async () => {
    project.write({ '.stepfast/workflows/plain.yaml': `${plain}keep: false\n` });
    const runtime = project.runtime();
    const { at = '', run } = told(await runtime.start({ workflow: 'plain' }, one));
    const { at: last = '' } = told(await runtime.call({ type: 'advance', output: 'a', at }, one));
    const end = () => runtime.call({ type: 'advance', output: 'b', at: last }, one);
    expect(told(await end()).status).toBe('complete');
    expect(told(await end())).toMatchObject({ status: 'complete', replayed: true });
    await project.runtime({ clock: () => Date.now() + 7_200_000 }).start({ workflow: 'crowd' }, one);
    expect(existsSync(join(project.root, '.stepfast/runs', run))).toBe(false);
  });
});
