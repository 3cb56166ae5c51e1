import { expect, test } from 'vitest';
import { createTestFolder } from '../testing/index.ts';
import { exit } from './exit.ts';

const workflow = (name: string, description: string): string =>
  `name: ${name}\ndescription: ${description}\ntype: planning\nsteps:\n  - { id: a, type: action, instructions: x }\n  - { id: b, type: action, instructions: y }\n`;
const files = {
  '.stepfast/workflows/mine.yaml': workflow('mine', 'From the project'),
  '.stepfast/workflows/broken.yaml': 'name: broken\ndescription: x\nsteps: [{ id: a, type: nonsense }]\n',
  '.stepfast/workflows/ground.yaml': 'name: ground\ndescription: For others\n',
  'config/stepfast/workflows/mine.yaml': workflow('mine', 'From the user'),
};
const inUserConfig = (root: string): { env: Record<string, string> } => ({
  env: { XDG_CONFIG_HOME: `${root}/config` },
});

test.skipIf(process.platform === 'win32')(
  'the table shows name, type, phases, place and description',
  async () => {
    using project = createTestFolder(files);
    const { code, stdout } = await project.run(['list'], inUserConfig(project.root));
    expect(code).toBe(exit.ok);
    expect(stdout).toMatch(/^name +type +phases +where +description\n/);
    expect(stdout).toMatch(/^mine +planning +2 +project +From the project$/m);
    expect(stdout).toMatch(/^ground +base +– +project +For others$/m);
  },
);

test.skipIf(process.platform === 'win32')('a hidden workflow says what hides it', async () => {
  using project = createTestFolder(files);
  const { stdout } = await project.run(['list'], inUserConfig(project.root));
  expect(stdout).toMatch(/^mine +planning +2 +user +hidden by \.stepfast\/workflows\/mine\.yaml$/m);
});

test('a broken workflow is shown with the way on', async () => {
  using project = createTestFolder(files);
  const { stdout } = await project.run(['list']);
  expect(stdout).toMatch(
    /^broken +broken +– +project +\d errors?: stepfast validate \.stepfast\/workflows\/broken\.yaml$/m,
  );
});

test('the way on is never cut', async () => {
  using project = createTestFolder(files);
  const { stdout } = await project.run(['list'], { columns: 40 });
  expect(stdout).toContain('stepfast validate .stepfast/workflows/broken.yaml\n');
});

test('a terminal cuts descriptions, a pipe does not', async () => {
  const long = 'word '.repeat(60).trim();
  using project = createTestFolder({ '.stepfast/workflows/long.yaml': workflow('long', long) });
  const terminal = await project.run(['list'], { columns: 60 });
  const row = terminal.stdout.split('\n').find((line) => line.startsWith('long'));
  expect(row?.length).toBeLessThanOrEqual(60);
  expect(row).toMatch(/…$/);
  expect((await project.run(['list'])).stdout).toContain(long);
});

test('--json prints one document with stable keys', async () => {
  using project = createTestFolder(files);
  const { stdout } = await project.run(['list', '--json']);
  const { workflows } = JSON.parse(stdout);
  const mine = workflows.find(({ name }: { name: string }) => name === 'mine');
  expect(mine).toMatchObject({ type: 'planning', phases: 2, from: 'project', base: false, errors: 0 });
  expect(Object.keys(mine)).toEqual(
    'name description type phases from file hash base shadowed_by errors warnings'.split(' '),
  );
});

test('an argument is refused', async () => {
  using project = createTestFolder(files);
  expect((await project.run(['list', 'mine'])).code).toBe(exit.usage);
});
