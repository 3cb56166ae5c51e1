import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const bundled = readdirSync(join(import.meta.dirname, '../../../workflows')).map((file) =>
  file.replace(/\.yaml$/, ''),
);

test.each(bundled)('new --from %s writes a valid workflow with the schema on top', async (from) => {
  using project = createTestFolder();
  const { code, stdout } = await project.run(['new', 'mine', '--from', from, '--json']);
  const file = '.stepfast/workflows/mine.yaml';
  expect({ code, ...JSON.parse(stdout) }).toEqual({ code: exit.ok, workflow: 'mine', from, file });
  const text = readFileSync(join(project.root, file), 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=\S+workflow\.schema\.json\n/);
  expect(text).toMatch(/^name: mine$/m);
  expect((await project.run(['validate', 'mine'])).code).toBe(exit.ok);
});

test('new runs the tests of the project, and says so where it has none', async () => {
  using tested = createTestFolder({ 'package.json': '{"scripts":{"test":"node --test"}}' });
  await tested.run(['new', 'mine']);
  const made = (root: string) => readFileSync(join(root, '.stepfast/workflows/mine.yaml'), 'utf8');
  expect(made(tested.root)).toMatch(/^ {4}gate:\n {6}- run: npm test$/m);
  using untested = createTestFolder();
  await untested.run(['new', 'mine']);
  expect(made(untested.root)).toMatch(/^ {4}# gate:\n {4}# {3}- run: npm test$/m);
  for (const project of [tested, untested])
    expect((await project.run(['validate', 'mine'])).code).toBe(exit.ok);
});

test('new never overwrites a workflow, and names the bundled one that was meant', async () => {
  using project = createTestFolder();
  const first = await project.run(['new', 'mine']);
  expect(first.code).toBe(exit.ok);
  for (const command of ['validate', 'trust', 'start'])
    expect(first.stdout).toContain(`stepfast ${command} mine`);
  const again = await project.run(['new', 'mine', '--from', 'feature', '--json']);
  expect({ code: again.code, ...JSON.parse(again.stdout) }).toMatchObject({ code: 'workflow_exists' });
  expect((await project.run(['new', 'other', '--from', 'featur'])).code).toBe(exit.usage);
  expect((await project.run(['new', '../other'])).code).toBe(exit.usage);
  expect(readdirSync(join(project.root, '.stepfast/workflows'))).toEqual(['mine.yaml']);
});
