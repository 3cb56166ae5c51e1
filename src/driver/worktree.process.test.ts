/** Where the work of a driven run happens, and what the driver commits. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedRun, type ScriptedRun } from '../../test/kit/scripted-run.ts';

let stage: ScriptedRun;
afterEach(async () => await stage[Symbol.asyncDispose]());

const steps = `steps:
  - { id: work, type: action, instructions: INSTRUCTIONS-WORK, gate: [{ run: test -f made.txt }] }
  - { id: more, type: action, instructions: INSTRUCTIONS-MORE, gate: [{ run: test -f more.txt }] }
`;
const play = (): void => {
  stage.agent.on(/INSTRUCTIONS-WORK/, async ({ write, shell }) => {
    write('made.txt');
    await shell('git add made.txt && git commit -qm "of the agent"; pwd > where.txt');
  });
  stage.agent.on(/INSTRUCTIONS-MORE/, ({ write }) => write('more.txt'));
};

const changed = (): string[] => stage.git('diff', '--name-only', 'HEAD', stage.branch).split('\n');
const inCheckout = (file: string): string => join(stage.project.root, file);

describe("a run's worktree", () => {
  it('has all work on its branch, and your checkout stays as it is', async () => {
    stage = await createScriptedRun(steps);
    play();
    writeFileSync(inCheckout('a.txt'), 'changed by the person');
    const checkout = () => [
      stage.git('rev-parse', 'HEAD'),
      stage.git('symbolic-ref', 'HEAD'),
      stage.git('ls-files', '-s'),
      stage.git('status', '--porcelain', '--', '.', ':!.stepfast/.gitignore'),
    ];
    const before = checkout();
    await stage.complete();
    expect(checkout()).toEqual(before);
    const { worktree, branch } = stage;
    expect(readFileSync(join(worktree, 'where.txt'), 'utf8').trim()).toBe(worktree);
    expect(readFileSync(join(worktree, 'a.txt'), 'utf8')).toBe('a');
    expect(changed()).toEqual(['made.txt', 'more.txt', 'where.txt']);
    // The agent's own commit, and one for the files left by each turn.
    const commits = stage.git('rev-list', `HEAD..${branch}`).split('\n');
    expect(commits).toHaveLength(3);
    const committed = stage.reported('committed').map(({ commit }) => commit);
    expect(commits.filter((each) => committed.includes(each))).toHaveLength(2);
    expect(stage.git('-C', worktree, 'status', '--porcelain')).toBe('');
    expect(stage.reported('taken')).toMatchObject([{ branch, worktree }]);
  });

  it('is set up before the first turn', async () => {
    stage = await createScriptedRun(`worktree: { setup: "pwd > installed.txt", copy: [.local] }\n${steps}`, {
      '.gitignore': 'installed.txt\n.local\n',
    });
    writeFileSync(inCheckout('.local'), 'copied');
    stage.agent.on(/INSTRUCTIONS-WORK/, ({ shell }) => shell('cat installed.txt .local > made.txt'));
    stage.agent.on(/INSTRUCTIONS-MORE/, ({ write }) => write('more.txt'));
    await stage.complete();
    expect(readFileSync(join(stage.worktree, 'made.txt'), 'utf8')).toBe(`${stage.worktree}\ncopied`);
    expect(changed()).toEqual(['made.txt', 'more.txt']);
  });

  it('has leftovers of commands committed when the run ends', async () => {
    stage = await createScriptedRun('steps:\n  - { id: last, type: run, run: "echo x > last.txt" }\n');
    expect(await stage.drive()).toBe('complete');
    expect(changed()).toEqual(['last.txt']);
  });

  it('has its leftovers committed by a later driver, even after the end of the run', async () => {
    stage = await createScriptedRun(steps);
    play();
    await stage.complete();
    // As if the driver had been killed before its last commit.
    writeFileSync(join(stage.worktree, 'late.txt'), 'late');
    expect(await stage.drive()).toBe('complete');
    expect(stage.git('show', `${stage.branch}:late.txt`)).toBe('late');
  });

  it('pauses the run if it is on another branch', async () => {
    stage = await createScriptedRun(steps);
    stage.git('-C', stage.worktree, 'checkout', '-q', '-b', 'elsewhere');
    expect(await stage.drive()).toBe('paused');
    expect(stage.agent.prompts).toEqual([]);
    stage.git('-C', stage.worktree, 'checkout', '-q', stage.branch);
    await stage.decide({ type: 'unpause' });
    play();
    await stage.complete();
  });
});

describe('a possible secret', () => {
  const token = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6'].join('_');

  it('is not committed, and blocks the next step until a person has looked', async () => {
    stage = await createScriptedRun(steps);
    stage.agent.on(/INSTRUCTIONS-WORK/, ({ write }) => {
      write('made.txt');
      write('notes.txt', `token: ${token}`);
    });
    stage.agent.on(/INSTRUCTIONS-MORE/, ({ write }) => write('more.txt'));
    expect(await stage.drive()).toBe('waits');
    expect((await stage.state()).cursors.more?.waiting).toMatchObject({
      kind: 'blocked',
      reason: expect.stringContaining('notes.txt'),
    });
    expect(stage.git('log', '--oneline', `HEAD..${stage.branch}`)).toBe('');
    expect(stage.has('notes.txt')).toBe(true);
    rmSync(join(stage.worktree, 'notes.txt'));
    await stage.decide({ type: 'review', verdict: 'revise' });
    await stage.complete();
    expect(changed()).toEqual(['made.txt', 'more.txt']);
  });

  it('is reported when the run is complete, and again by a driver that comes later', async () => {
    stage = await createScriptedRun('steps:\n  - { id: last, type: run, run: "echo LEVEL=1 > .env" }\n');
    for (const _ of ['first', 'later'])
      expect(await stage.start().ended).toEqual({ end: 'complete', left: expect.stringContaining('.env') });
    expect(stage.git('rev-parse', stage.branch)).toBe(stage.git('rev-parse', 'HEAD'));
  });
});

it('commits nothing in your own checkout', async () => {
  stage = await createScriptedRun(steps, {}, { here: true });
  for (const [step, file] of [
    ['WORK', 'made.txt'],
    ['MORE', 'more.txt'],
  ] as const)
    stage.agent.on(new RegExp(`INSTRUCTIONS-${step}`), ({ write }) => write(file));
  const head = stage.git('rev-parse', 'HEAD');
  await stage.complete();
  expect(stage.git('rev-parse', 'HEAD')).toBe(head);
  expect(stage.git('status', '--porcelain', '--', '*.txt').split('\n')).toEqual([
    '?? made.txt',
    '?? more.txt',
  ]);
  expect(stage.git('branch', '--format=%(refname:short)')).toBe('main');
});
