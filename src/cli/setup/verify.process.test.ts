import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };
const workflow = `name: ci
description: x
inputs:
  level: { type: number, default: 1, enum: [1, 2] }
steps:
  - id: a
    type: action
    instructions: x
    gate: [{ run: grep -q good file.txt }, { exists: file.txt }, { condition: inputs.level == 1 }, { condition: outputs.a != null }]
`;

function committed(files: Record<string, string>): TestProject {
  const project = createTestFolder(files);
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: project.root });
  git('init', '--quiet');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'one');
  return project;
}

const verify = async (
  project: TestProject,
  ...more: string[]
): Promise<{ code: number; reply: Record<string, unknown> }> => {
  const { code, stdout } = await project.run(['verify', '--workflow', 'ci', '--json', ...more], { env });
  return { code, reply: JSON.parse(stdout) };
};

test('gates run on the current commit, not on uncommitted files', async () => {
  using project = committed({ '.stepfast/workflows/ci.yaml': workflow, 'file.txt': 'good\n' });
  const refused = await verify(project);
  expect(refused).toMatchObject({ code: exit.no, reply: { code: 'untrusted' } });
  const hash = /sha256:[0-9a-f]{64}/.exec(String(refused.reply.next))?.[0] ?? '';
  writeFileSync(join(project.root, 'file.txt'), 'bad\n');
  writeFileSync(join(project.root, '.stepfast/workflows/ci.yaml'), workflow.replace('good', 'bad'));
  const { code, reply } = await verify(project, '--trust', hash);
  expect(code).toBe(exit.ok);
  expect(reply).toMatchObject({ pass: true, hash, skipped: ['outputs.a != null'] });
  expect(reply.gates).toHaveLength(3);
  expect(existsSync(join(project.root, '.stepfast/runs'))).toBe(false);
  expect(
    execFileSync('git', ['worktree', 'list'], { cwd: project.root, encoding: 'utf8' }).trim().split('\n'),
  ).toHaveLength(1);
});

test('a red gate, another hash and an unknown workflow fail', async () => {
  using project = committed({ '.stepfast/workflows/ci.yaml': workflow, 'file.txt': 'bad\n' });
  const { reply } = await verify(project);
  const hash = /sha256:[0-9a-f]{64}/.exec(String(reply.next))?.[0] ?? '';
  expect(await verify(project, '--trust', hash)).toMatchObject({ code: exit.no, reply: { pass: false } });
  // [L/enum]
  expect(await verify(project, '--trust', hash, '--input', 'level=3')).toMatchObject({
    code: exit.no,
    reply: { code: 'bad_input' },
  });
  const other = hash.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  expect(await verify(project, '--trust', other)).toMatchObject({
    code: exit.no,
    reply: { code: 'untrusted' },
  });
  expect((await project.run(['verify', '--workflow', 'nope'], { env })).code).toBe(exit.notFound);
});

test('[L/expect] what is committed is checked without the failures that came before it', async () => {
  const first =
    '  - { id: r, type: action, instructions: x, gate: [{ run: grep -q bad file.txt, expect: fail }] }';
  const files = { '.stepfast/workflows/ci.yaml': `${workflow}${first}\n`, 'file.txt': 'good bad\n' };
  using project = committed(files);
  const { reply } = await verify(project);
  const hash = /sha256:[0-9a-f]{64}/.exec(String(reply.next))?.[0] ?? '';
  expect(await verify(project, '--trust', hash)).toMatchObject({
    code: exit.ok,
    reply: { pass: true, skipped: ['outputs.a != null', 'grep -q bad file.txt (expected to fail)'] },
  });
});

test('the workflow can be the argument, and a file outside the repository is rejected', async () => {
  using project = committed({ '.stepfast/workflows/ci.yaml': workflow, 'file.txt': 'good\n' });
  using outside = createTestFolder({ 'ci.yaml': workflow });
  expect((await project.run(['verify', 'ci'], { env })).stderr).toContain('--trust');
  const { code, stderr } = await project.run(['verify', join(outside.root, 'ci.yaml')], { env });
  expect(code).toBe(exit.notFound);
  expect(stderr).toContain('outside the repository');
});
