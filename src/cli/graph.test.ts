import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../testing/index.ts';
import { exit } from './exit.ts';

const files = {
  '.stepfast/workflows/two.yaml':
    'name: two\ndescription: Two steps\nsteps:\n  - { id: first, type: action, instructions: x }\n  - { id: second, type: action, instructions: y }\n',
  '.stepfast/workflows/broken.yaml': 'name: broken\nsteps: 3\n',
  '.stepfast/workflows/ground.yaml': 'name: ground\ndescription: For others\n',
};

test('the default format is a tree', async () => {
  using project = createTestFolder(files);
  const { code, stdout } = await project.run(['graph', 'two']);
  expect(code).toBe(exit.ok);
  expect(stdout).toContain('● first  action\n');
});

test('a workflow can be given by file', async () => {
  using project = createTestFolder(files);
  expect((await project.run(['graph', '.stepfast/workflows/two.yaml', '-f', 'mermaid'])).stdout).toMatch(
    /^flowchart TD\n/,
  );
});

test('the extension of the output sets the format', async () => {
  using project = createTestFolder(files);
  const { code, stdout, stderr } = await project.run(['graph', 'two', '--output', 'two.svg'], {
    colour: true,
  });
  expect({ code, stdout, stderr }).toEqual({ code: exit.ok, stdout: '', stderr: 'Wrote two.svg\n' });
  expect(readFileSync(join(project.root, 'two.svg'), 'utf8')).toMatch(/^<svg /);
});

test('a tree in a file has no colors and no truncated lines', async () => {
  using project = createTestFolder(files);
  await project.run(['graph', 'two', '-o', 'two.txt'], { colour: true, columns: 10 });
  expect(readFileSync(join(project.root, 'two.txt'), 'utf8')).toMatch(/^two {2}custom · 2 phases\n/);
});

test('an unknown format is rejected with a suggestion', async () => {
  using project = createTestFolder(files);
  const { code, stderr } = await project.run(['graph', 'two', '--format', 'sgv']);
  expect(code).toBe(exit.usage);
  expect(stderr).toContain("Did you mean 'svg'?");
});

test('an unknown workflow is not found, with a suggestion', async () => {
  using project = createTestFolder(files);
  const { code, stderr } = await project.run(['graph', 'tow']);
  expect(code).toBe(exit.notFound);
  expect(stderr).toBe("error There is no workflow 'tow'. Did you mean 'two'?\n");
});

test('an invalid workflow is not drawn, and the fix is suggested', async () => {
  using project = createTestFolder(files);
  const { code, stderr } = await project.run(['graph', 'broken']);
  expect(code).toBe(exit.no);
  expect(stderr).toContain('stepfast validate .stepfast/workflows/broken.yaml');
});

test('a base without steps is not drawn', async () => {
  using project = createTestFolder(files);
  expect((await project.run(['graph', 'ground'])).code).toBe(exit.no);
});

test('an output that cannot be written is an error', async () => {
  using project = createTestFolder(files);
  const { code, stderr } = await project.run(['graph', 'two', '-o', 'no/such/place.svg']);
  expect(code).toBe(exit.notFound);
  expect(stderr).toContain('Cannot write');
});

test('a drawing is never written to a file of another type or over a workflow', async () => {
  using project = createTestFolder(files);
  const picture = await project.run(['graph', 'two', '-o', 'two.png']);
  expect([picture.code, picture.stderr]).toEqual([exit.usage, expect.stringContaining('--format')]);
  const own = await project.run(['graph', 'two', '--format', 'svg', '-o', '.stepfast/workflows/two.yaml']);
  expect([own.code, own.stderr]).toEqual([exit.usage, expect.stringContaining('overwrite')]);
});

test('[L/worktree] the tree and the dry run name what new worktrees get and run', async () => {
  const crowd = `name: crowd
description: Several agents
worktree: { setup: npm ci, copy: [.env.test] }
loops: { build: [{ id: write, instructions: Write. }] }
steps: [{ id: build, type: loop, parallel: 2 }]
`;
  using project = createTestFolder({ '.stepfast/workflows/crowd.yaml': crowd });
  for (const command of ['graph', 'dry-run']) {
    const { code, stdout } = await project.run([command, 'crowd']);
    expect(code).toBe(exit.ok);
    for (const named of ['npm ci', '.env.test']) expect(stdout).toContain(named);
  }
});
