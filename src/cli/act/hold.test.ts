import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const env = { PATH: process.env.PATH };
const person = { env, terminal: true };
let project: TestProject;

beforeEach(() => {
  project = createTestFolder({ 'a.txt': '' });
});
afterEach(() => project[Symbol.dispose]());

const holding = async (): Promise<unknown> =>
  JSON.parse((await project.run(['hold', '--json'], { env })).stdout).hold;

test('a person sets it sees it and removes it', async () => {
  const set = await project.run(['hold', 'npm test'], { ...person, input: ['y'] });
  expect(set.code).toBe(exit.ok);
  expect(set.stderr).toContain('  npm test\n');
  expect(set.stdout).toContain("cannot stop until 'npm test' passes");
  expect(set.stderr).toContain('A hold needs the hooks');
  expect(await holding()).toMatchObject({ command: 'npm test' });
  const shown = await project.run(['hold'], person);
  expect(shown.stdout).toContain('command npm test');
  expect(shown.stdout).toContain('no session has tried to stop yet');
  const marks = join(project.root, '.stepfast/sessions/marks');
  expect(readdirSync(marks)).toContain('stop');
  const off = await project.run(['hold', '--off'], person);
  expect(off.stdout).toBe('Hold removed.\n');
  expect(await holding()).toBeNull();
  expect(readdirSync(marks)).toEqual(['because']);
});

test.each(['.stepfast', '.stepfast/sessions', '.stepfast/sessions/marks'])(
  'nothing is set where %s is a link out of the project',
  async (name) => {
    using elsewhere = createTestFolder();
    mkdirSync(dirname(join(project.root, name)), { recursive: true });
    symlinkSync(elsewhere.root, join(project.root, name));
    const set = await project.run(['hold', 'npm test'], { ...person, input: ['y'] });
    expect(set.code).not.toBe(exit.ok);
    expect(set.stderr).toContain('leads out of the project');
    expect(await holding()).toBeNull();
    expect(readdirSync(elsewhere.root)).toEqual([]);
  },
);

test('another word sets nothing', async () => {
  expect((await project.run(['hold', 'npm test'], { ...person, input: ['hold'] })).code).toBe(exit.no);
  expect(await holding()).toBeNull();
});

test.each([
  ['a pipe', { env }],
  ["an agent's shell", { env: { ...env, CLAUDECODE: '1' }, terminal: true }],
])('%s can neither set nor remove it', async (_, caller) => {
  expect((await project.run(['hold', 'true'], { ...caller, input: ['y'] })).code).toBe(exit.no);
  expect(await holding()).toBeNull();
  await project.run(['hold', 'npm test'], { ...person, input: ['y'] });
  const off = await project.run(['hold', '--off', '--json'], caller);
  expect(off.code).toBe(exit.no);
  expect(JSON.parse(off.stdout)).toMatchObject({ code: 'person_only' });
  expect(await holding()).toMatchObject({ command: 'npm test' });
});

test('nothing is said plainly, with what to type', async () => {
  expect((await project.run(['hold'], person)).stderr).toContain('stepfast hold "npm test"');
  expect((await project.run(['hold', '--off'], person)).stderr).toBe('No hold is set here.\n');
});

test('a command without quotes is told how to be written', async () => {
  const { code, stderr } = await project.run(['hold', 'npm', 'test'], person);
  expect(code).toBe(exit.usage);
  expect(stderr).toContain('stepfast hold "npm test"');
});
