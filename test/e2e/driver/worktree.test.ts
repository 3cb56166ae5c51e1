/** Where the work of a driven run happens, and what becomes of it. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lastUser, reply, toolCall } from '../../../src/testing/index.ts';
import { complete, type DriverStage, stageWith } from '../../kit/driver-run.ts';
import { shell, write } from '../../kit/driver-script.ts';

let stage: DriverStage;
afterEach(async () => await stage[Symbol.asyncDispose]());

const steps = `steps:
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f made.txt }] }
  - { id: more, type: action, instructions: INSTRUCTIONS-MORE, gate: [{ run: test -f more.txt }] }
`;
const play = (): void => {
  stage.model.on(
    lastUser(/INSTRUCTIONS-WORK/),
    write('made.txt', 'made'),
    shell('git add made.txt && git commit -qm "of the agent" && pwd > where.txt'),
    reply.text('Made.'),
  );
  stage.model.on(lastUser(/INSTRUCTIONS-MORE/), write('more.txt', 'more'), reply.text('More.'));
};

/** The folder of the runs ignores itself, with a file that people may commit. */
const statusOf = (): string => stage.git('status', '--porcelain', '--', '.', ':!.stepfast/.gitignore');

/** All that git and the disk say of the person's checkout. */
const checkout = () => ({
  head: stage.git('rev-parse', 'HEAD'),
  branch: stage.git('symbolic-ref', 'HEAD'),
  index: stage.git('ls-files', '-s'),
  status: statusOf(),
  text: readFileSync(join(stage.project.root, 'a.txt'), 'utf8'),
});

describe('a worktree of its own', () => {
  it("has all work on the run's branch, and the person's checkout stays as it is", async () => {
    stage = await stageWith(steps);
    play();
    const { root } = stage.project;
    writeFileSync(join(root, 'a.txt'), 'changed by the person');
    writeFileSync(join(root, 'staged.txt'), 'staged by the person');
    stage.git('add', 'staged.txt');
    const before = checkout();
    const ended = await stage.drive(['w', '--no-wait']);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    for (const file of ['a.txt', 'staged.txt']) expect(ended.stderr).toContain(file);
    expect(checkout()).toEqual(before);
    const worktree = await stage.worktree();
    expect(relative(root, worktree)).toMatch(/^\.\.\//);
    expect(readFileSync(join(worktree, 'where.txt'), 'utf8').trim()).toBe(worktree);
    expect(readFileSync(join(worktree, 'a.txt'), 'utf8')).toBe('a');
    expect(existsSync(join(worktree, 'staged.txt'))).toBe(false);
    const { run, branch = '' } = await stage.state();
    expect(branch).toBe(`stepfast/${run}/run`);
    const files = stage.git('diff', '--name-only', 'HEAD', branch).split('\n');
    expect(files).toEqual(['made.txt', 'more.txt', 'where.txt']);
    // The agent's own commit, and one for what each turn left.
    expect(stage.git('log', '--format=%an', `HEAD..${branch}`).split('\n')).toHaveLength(3);
    const committed = (await stage.activity('committed')).map(({ commit }) => commit);
    expect(
      stage
        .git('rev-list', `HEAD..${branch}`)
        .split('\n')
        .filter((each) => committed.includes(each)),
    ).toHaveLength(2);
    expect(stage.git('-C', worktree, 'status', '--porcelain')).toBe('');
  });

  it('is set up before the first turn', async () => {
    stage = await stageWith(
      `worktree: { setup: "pwd > installed.txt", copy: [.local] }
${steps}`,
      { '.gitignore': 'installed.txt\n.local\n' },
    );
    writeFileSync(join(stage.project.root, '.local'), 'copied');
    stage.model.on(
      lastUser(/INSTRUCTIONS-WORK/),
      shell('cat installed.txt .local > made.txt'),
      reply.text('Made.'),
    );
    stage.model.on(lastUser(/INSTRUCTIONS-MORE/), write('more.txt'), reply.text('More.'));
    await complete(stage);
    const worktree = await stage.worktree();
    expect(readFileSync(join(worktree, 'made.txt'), 'utf8')).toBe(`${worktree}\ncopied`);
    expect(existsSync(join(stage.project.root, 'installed.txt'))).toBe(false);
    const { branch = '' } = await stage.state();
    expect(stage.git('diff', '--name-only', 'HEAD', branch).split('\n')).toEqual(['made.txt', 'more.txt']);
  });

  it('is the same one when the run is continued', async () => {
    stage = await stageWith(`steps:
  - { id: plan, type: action, instructions: INSTRUCTIONS-PLAN, review: { by: human } }
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f plan.txt }] }
`);
    stage.model.on(
      lastUser(/INSTRUCTIONS-PLAN/),
      write('plan.txt'),
      toolCall.advance('Planned.'),
      reply.text('.'),
    );
    stage.model.on(lastUser(/INSTRUCTIONS-WORK/), reply.text('Done.'));
    expect(await stage.drive(['w', '--no-wait'])).toMatchObject({ code: 4 });
    const worktree = await stage.worktree();
    await stage.decide({ type: 'review', verdict: 'approve' });
    await complete(stage);
    expect(await stage.worktree()).toBe(worktree);
    expect((await stage.activity('taken')).map((each) => each.worktree)).toEqual([worktree, worktree]);
    expect(stage.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(2);
  });
});

it('what could be a secret is not committed: a person looks at it, and then the run goes on', async () => {
  stage = await stageWith(steps);
  const token = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'].join('_');
  stage.model.on(
    lastUser(/INSTRUCTIONS-WORK/),
    write('made.txt', 'made'),
    write('notes.txt', `token: ${token}`),
    reply.text('Made.'),
  );
  stage.model.on(lastUser(/INSTRUCTIONS-MORE/), write('more.txt', 'more'), reply.text('More.'));
  const ended = await stage.drive(['w', '--no-wait']);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 4 });
  const { run, branch = '', cursors } = await stage.state();
  expect(cursors.more?.waiting).toMatchObject({
    kind: 'blocked',
    reason: expect.stringContaining('notes.txt'),
  });
  expect(stage.git('log', '--oneline', `HEAD..${branch}`)).toBe('');
  expect(existsSync(join(await stage.worktree(), 'notes.txt'))).toBe(true);
  rmSync(join(await stage.worktree(), 'notes.txt'));
  await stage.decide({ type: 'review', verdict: 'revise' });
  await complete(stage, ['--run', run, '--no-wait']);
  expect(stage.git('diff', '--name-only', 'HEAD', branch).split('\n')).toEqual(['made.txt', 'more.txt']);
});

it('what a command of the engine leaves is committed at the end', async () => {
  stage = await stageWith(`steps:
  - { id: last, type: run, run: "echo x > last.txt" }
`);
  const ended = await stage.drive(['w', '--no-wait']);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  // It may be complete before a driver could take it.
  expect(await stage.state()).toMatchObject({ status: 'complete' });
  const { run } = await stage.state();
  expect(stage.git('diff', '--name-only', 'HEAD', `stepfast/${run}/run`)).toBe('last.txt');
});

it('a run that ends with a possible secret in its worktree is complete, and does not say that all is well', async () => {
  stage = await stageWith(`steps:
  - { id: last, type: run, run: "echo LEVEL=1 > .env" }
`);
  const { code, stdout } = await stage.drive(['w', '--no-wait', '--json']);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: 4,
    end: 'complete',
    left: expect.stringContaining('.env'),
  });
  const { run } = await stage.state();
  expect(stage.git('rev-parse', `stepfast/${run}/run`)).toBe(stage.git('rev-parse', 'HEAD'));
  // The same for a driver that finds the run at its end.
  const again = await stage.drive(['--run', run, '--no-wait', '--json']);
  expect({ code: again.code, ...JSON.parse(again.stdout) }).toMatchObject({
    code: 4,
    end: 'complete',
    left: expect.stringContaining('.env'),
  });
});

it('--here works in the checkout and commits nothing', async () => {
  stage = await stageWith(steps);
  const { model } = stage;
  model.on(lastUser(/INSTRUCTIONS-WORK/), write('made.txt', 'made'), reply.text('Made.'));
  model.on(lastUser(/INSTRUCTIONS-MORE/), write('more.txt', 'more'), reply.text('More.'));
  const head = stage.git('rev-parse', 'HEAD');
  await complete(stage, ['w', '--no-wait', '--here']);
  expect(stage.git('rev-parse', 'HEAD')).toBe(head);
  expect(statusOf().split('\n')).toEqual(['?? made.txt', '?? more.txt']);
  expect(stage.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  expect(stage.git('branch', '--format=%(refname:short)')).toBe('main');
  expect(await stage.state()).toMatchObject({ branch: 'main' });
});
