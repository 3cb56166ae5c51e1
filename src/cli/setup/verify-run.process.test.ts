import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPushedRun, gate, type PushedRun } from '../../../test/kit/pushed-run.ts';
import type { TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

interface Reply {
  answer: string;
  code?: string;
  differences: { where: string }[];
  [key: string]: unknown;
}

async function verify(
  pushed: PushedRun,
  ci: TestProject,
  ...more: string[]
): Promise<{ code: number; reply: Reply; where: string[] }> {
  const args = ['verify', '--run', pushed.run, '--trust', pushed.hash, '--json', ...more];
  const { code, stdout } = await ci.run(args, { env: ci.env });
  const reply: Reply = JSON.parse(stdout);
  return { code, reply, where: reply.differences?.map(({ where }) => where) };
}

const worktrees = (ci: TestProject): number => ci.git('worktree', 'list').trim().split('\n').length;

test('a clean clone of the branch is the same as its run', async () => {
  using pushed = await createPushedRun();
  const ci = pushed.clone('--branch', 'work');
  const { code, reply } = await verify(pushed, ci);
  expect(reply).toMatchObject({
    answer: 'same',
    run: pushed.run,
    workflow: 'ci',
    differences: [],
    gates: [{ what: gate, pass: true }],
    proves: 'integrity',
  });
  expect(code).toBe(exit.ok);
  expect(worktrees(ci)).toBe(1);
  const text = await ci.run(['verify', '--run', pushed.run.slice(-8), '--trust', pushed.hash], {
    env: ci.env,
  });
  expect(text.code).toBe(exit.ok);
  expect(text.stdout).toContain('integrity');
});

test('commands of the base run only if they are trusted, and those of the branch never', async () => {
  using pushed = await createPushedRun();
  const ci = pushed.clone('--branch', 'work');
  const { code, stdout } = await ci.run(['verify', '--run', pushed.run, '--json'], { env: ci.env });
  expect(code).toBe(exit.no);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'untrusted', next: expect.stringContaining(pushed.hash) });
});

test('a squash merge and a merge commit are the same, also where the base went on', async () => {
  using squashed = await createPushedRun();
  squashed.project.git('checkout', '-q', 'main');
  squashed.project.git('merge', '-q', '--squash', 'work');
  squashed.project.git('commit', '-q', '-m', 'squashed');
  squashed.project.git('push', '-q', 'origin', 'main');
  expect(await verify(squashed, squashed.clone())).toMatchObject({
    code: exit.ok,
    reply: { answer: 'same' },
  });

  using merged = await createPushedRun();
  merged.project.git('checkout', '-q', 'main');
  merged.commit('the base goes on', { 'other.txt': 'x' });
  merged.project.git('merge', '-q', '--no-ff', '-m', 'merged', 'work');
  merged.project.git('push', '-q', 'origin', 'main');
  expect(await verify(merged, merged.clone())).toMatchObject({ code: exit.ok, reply: { answer: 'same' } });
  // The merge alone does not have the tree of the branch.
  expect((await verify(merged, merged.clone('--depth', '1'))).where).toEqual(['tree']);
  expect((await verify(merged, merged.clone('--depth', '2'))).reply.answer).toBe('same');
});

test('the base is fetched where a clone has only the branch', async () => {
  using pushed = await createPushedRun();
  const ci = pushed.clone('--depth', '1', '--branch', 'work');
  expect(ci.git('branch', '-a')).not.toContain('main');
  expect(await verify(pushed, ci, '--base', 'main')).toMatchObject({ reply: { answer: 'same' } });
  expect(ci.git('rev-parse', '--is-shallow-repository').trim()).toBe('true');
  // Neither a ref that only ends with its name nor a tag here is the base.
  pushed.project.git('push', '-q', 'origin', 'work:refs/a/refs/heads/main');
  ci.git('tag', 'main', 'HEAD');
  const { reply } = await verify(pushed, ci, '--base', 'main');
  expect(reply.base).toBe(pushed.project.git('rev-parse', 'main').trim());
  expect((await ci.run(['verify', '--run', pushed.run, '--base', 'nope'], { env: ci.env })).code).toBe(
    exit.notFound,
  );
});

test('a commit after the last gates differs in its tree', async () => {
  using pushed = await createPushedRun();
  pushed.commit('later', { 'more.txt': 'not checked' });
  pushed.project.git('push', '-q', 'origin', 'work');
  const { code, where } = await verify(pushed, pushed.clone('--branch', 'work'));
  expect({ code, where }).toEqual({ code: exit.differs, where: ['tree'] });
});

test('a branch with another workflow than the base differs, and its commands do not run', async () => {
  const weak =
    'name: ci\ndescription: x\nsteps:\n  - { id: write, type: action, instructions: x, gate: [{ run: "true" }] }\n';
  using pushed = await createPushedRun({ before: { '.stepfast/workflows/ci.yaml': weak } });
  const { code, where, reply } = await verify(pushed, pushed.clone('--branch', 'work'));
  expect({ code, where }).toEqual({ code: exit.differs, where: ['workflow'] });
  expect(reply.gates).toMatchObject([{ what: gate }]);
  expect(reply.differences).toMatchObject([{ base: pushed.hash }]);
});

test('a base without the workflow differs', async () => {
  using pushed = await createPushedRun();
  pushed.project.git('checkout', '-q', '-b', 'bare', 'main');
  pushed.project.git('rm', '-q', '-r', '.stepfast/workflows');
  pushed.project.git('commit', '-q', '-m', 'no workflow');
  pushed.project.git('push', '-q', 'origin', 'bare');
  const { where } = await verify(pushed, pushed.clone('--branch', 'work'), '--base', 'bare');
  expect(where).toEqual(['workflow', 'gate']);
});

test('a gate that is red on the merge result differs', async () => {
  using pushed = await createPushedRun();
  pushed.project.git('checkout', '-q', 'main');
  pushed.commit('the base breaks it', { 'broken.txt': 'x' });
  pushed.project.git('merge', '-q', '--no-ff', '-m', 'merged', 'work');
  pushed.project.git('push', '-q', 'origin', 'main');
  const ci = pushed.clone();
  const { code, where, reply } = await verify(pushed, ci);
  expect({ code, where }).toEqual({ code: exit.differs, where: ['gate'] });
  expect(reply.differences).toMatchObject([{ what: gate, exit: 1 }]);
  const text = await ci.run(['verify', '--run', pushed.run, '--trust', pushed.hash], { env: ci.env });
  expect(text).toMatchObject({ code: exit.differs, stdout: expect.stringContaining(gate) });
});

test('a run that is not complete differs', async () => {
  using pushed = await createPushedRun({ finish: false });
  const { where } = await verify(pushed, pushed.clone('--branch', 'work'));
  expect(where).toEqual(['run', 'tree']);
});

test('a run that was not pushed is no run', async () => {
  using pushed = await createPushedRun();
  const ci = pushed.clone('--branch', 'work');
  const { code, stdout } = await ci.run(['verify', '--run', 'nope', '--json'], { env: ci.env });
  expect(code).toBe(exit.notFound);
  expect(JSON.parse(stdout)).toMatchObject({ answer: 'no_run', run: 'nope' });
  expect((await ci.run(['verify', 'ci', '--run', pushed.run], { env: ci.env })).code).toBe(exit.usage);
});

test('a run whose journal was edited differs in its chain, and nothing runs', async () => {
  using pushed = await createPushedRun();
  const { project, run, remote } = pushed;
  const git = (input: string | undefined, ...args: string[]): string =>
    execFileSync('git', ['--git-dir', remote, ...args], { env: project.env, encoding: 'utf8', input }).trim();
  const ref = `refs/stepfast/runs/${run}`;
  const edited = join(project.home, 'journal.jsonl');
  writeFileSync(edited, `${git(undefined, 'show', `${ref}:journal.jsonl`).replace('Written', 'Proven!')}\n`);
  const blob = git(undefined, 'hash-object', '-w', '--no-filters', edited);
  const entries = git(undefined, 'ls-tree', ref).replace(/[0-9a-f]{40}(?=\tjournal\.jsonl)/, blob);
  const commit = git('edited', 'commit-tree', git(`${entries}\n`, 'mktree'));
  git(undefined, 'update-ref', ref, commit);
  const { code, where, reply } = await verify(pushed, pushed.clone('--branch', 'work'));
  expect({ code, where }).toEqual({ code: exit.differs, where: ['chain'] });
  expect(reply.gates).toEqual([]);
});
