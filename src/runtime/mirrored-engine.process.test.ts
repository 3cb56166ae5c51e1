import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../testing/index.ts';
import { findInformal } from './adoption/find-informal-workflow.ts';
import { withMirror } from './mirrored-engine.ts';

const workflow = `name: Feature Work
description: Two steps
type: implementation
steps:
  - { id: design, type: action, instructions: Design., gate: [{ exists: README.md }] }
  - { id: build, type: action, instructions: Build. }
`;
const folder = 'untracked/workflow-state';

let project: TestProject;
beforeEach(() => {
  project = createTestProject({ '.stepfast/workflows/w.yaml': workflow });
  project.write({ '.stepfast/config.yaml': `state_mirror: ${folder}\n` });
});
afterEach(() => project[Symbol.dispose]());

const files = () => globSync(`${folder}/*/*`, { cwd: project.root });
const start = async (summary: string) => {
  const { run = '' } = await project.runtime().start({ workflow: 'Feature Work', summary }, { session: 's' });
  return run;
};
const advance = (run: string, output = 'done') =>
  project.runtime().call({ type: 'advance', output }, { session: 's' }, { run });

test('[M2] a run with state_mirror has its state file in the worktree until it ends', async () => {
  const run = await start('User auth');
  const [file = '', more] = files();
  expect(more).toBeUndefined();
  expect(file).toMatch(/^untracked\/workflow-state\/feature-work\/state-feature-work-\d{8}_\d{6}\.json$/);
  const read = () => JSON.parse(readFileSync(join(project.root, file), 'utf8'));
  const first = read();
  expect(first).toMatchObject({
    run_id: run,
    workflow: 'Feature Work (User auth)',
    workflow_type: 'implementation',
    phase: { current: 1, total: 2, status: 'in_progress' },
  });
  expect(findInformal(project.runtime().project)).toEqual([]);
  const tree = async () => {
    const { definition } = (await project.runtime().engine.view(run)) ?? {};
    const { workspace } = project.runtime();
    return definition && (await workspace.tree(definition, project.root))?.hash;
  };
  const before = await tree();
  await advance(run);
  // The gate's own process writes it, maybe after the call is answered.
  await expect.poll(read).toMatchObject({ phase: { current: 2 }, created_at: first.created_at });
  expect(await tree()).toBe(before);
  // Only the files that Stepfast writes are left out.
  project.write({ [`${folder}/code.ts`]: '', [`${folder}/feature-work/state-machine.json`]: '{}' });
  expect(await tree()).not.toBe(before);
  rmSync(join(project.root, folder, 'code.ts'));
  expect(await tree()).not.toBe(before);
  rmSync(join(project.root, folder, 'feature-work/state-machine.json'));
  expect(await tree()).toBe(before);
  await advance(run, 'built');
  await expect.poll(() => existsSync(join(project.root, folder, 'feature-work'))).toBe(false);
});

test('[M2] a process that writes late does not leave an old state behind', async () => {
  const run = await start('late');
  const { engine, project: found } = project.runtime();
  const slow = withMirror(
    {
      ...engine,
      execute: async (...given) => {
        const executed = await engine.execute(...given);
        await advance(run);
        await advance(run, 'built');
        return executed;
      },
    },
    found,
  );
  const note = { type: 'note', kind: 'decision', text: 'Slow', now: Date.now() } as const;
  expect((await slow.execute(run, note)).changed).toBe(true);
  await expect.poll(files).toEqual([]);
});

test('[M2] the file is in the main worktree, whichever worktree a change comes from', async () => {
  const run = await start('one');
  const [file] = files();
  const linked = join(project.root, '.stepfast/worktrees', run, 'task');
  project.git('worktree', 'add', '-q', linked, '-b', 'task');
  const there = project.runtime({ cwd: linked });
  await there.call({ type: 'advance', output: 'done' }, { session: 't' }, { run });
  await expect
    .poll(() => JSON.parse(readFileSync(join(project.root, file ?? ''), 'utf8')).phase.current)
    .toBe(2);
  expect(files()).toEqual([file]);
  expect(existsSync(join(linked, folder))).toBe(false);
});

test('[M2] a run keeps its file when another name becomes free', async () => {
  const clock = () => 1_800_000_000_000;
  const begin = async (summary: string) =>
    (await project.runtime({ clock }).start({ workflow: 'Feature Work', summary }, { session: 's' })).run ??
    '';
  const runs = [await begin('one'), await begin('two')];
  expect(files()).toHaveLength(2);
  for (const run of runs) for (const output of ['done', 'built']) await advance(run, output);
  await expect.poll(files).toEqual([]);
});

test('[M2] without a main worktree, the file is in the worktree of the caller, but not in that of a task', async () => {
  const { root } = project;
  const bare = join(project.home, 'bare.git');
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'with workflows');
  project.git('clone', '-q', '--bare', root, bare);
  const linked = join(project.home, 'linked');
  project.git('-C', bare, 'worktree', 'add', '-q', linked, 'HEAD');
  const { run = '' } = await project
    .runtime({ cwd: linked })
    .start({ workflow: 'Feature Work', summary: 'one' }, { session: 's' });
  expect(globSync(`${folder}/*/*`, { cwd: linked })).toHaveLength(1);
  const task = join(bare, '.stepfast/worktrees', run, 'task');
  project.git('-C', bare, 'worktree', 'add', '-q', task, 'HEAD');
  await project.runtime({ cwd: task }).call({ type: 'advance', output: 'done' }, { session: 't' }, { run });
  expect([bare, task].filter((place) => existsSync(join(place, 'untracked')))).toEqual([]);
});

test('[M2] each run has its own file, and none replaces the file of another writer', async () => {
  await Promise.all([start('one'), start('two')]);
  const ids = files().map((file) => JSON.parse(readFileSync(join(project.root, file), 'utf8')).run_id);
  expect(new Set(ids).size).toBe(2);
  const run = await start('three');
  const own = files().find((file) => readFileSync(join(project.root, file), 'utf8').includes(run)) ?? '';
  writeFileSync(join(project.root, own), 'mine');
  await advance(run);
  expect(readFileSync(join(project.root, own), 'utf8')).toBe('mine');
});
