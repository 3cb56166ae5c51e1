import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costMeter } from '../../test/kit/cpu-time.ts';
import { createTestFolder } from '../testing/index.ts';
import { exit } from './exit.ts';
import { frameOf } from './source-frame.ts';

const good = `name: good
description: Does one thing
steps:
  - id: do
    type: action
    instructions: Do it
`;
const bad = `name: bad
description: Has mistakes
steps:
  - id: do
    type: acton
    instructons: Do it
`;

test('a valid file is one line with its steps and its short hash', async () => {
  using project = createTestFolder({ '.stepfast/workflows/good.yaml': good });
  const { code, stdout, stderr } = await project.run(['validate']);
  expect(code).toBe(exit.ok);
  expect(stdout).toMatch(
    /^✓ good {2}1 step · [0-9a-f]{8} · \.stepfast\/workflows\/good\.yaml\n\n1 file: 1 valid\n$/,
  );
  expect(stderr).toBe('');
});

test('a mistake is shown with its position, its line, a caret and a fix', async () => {
  using project = createTestFolder({ '.stepfast/workflows/bad.yaml': bad });
  const { code, stdout } = await project.run(['validate']);
  expect(code).toBe(exit.no);
  expect(stdout).toContain('✗ .stepfast/workflows/bad.yaml');
  expect(stdout).toMatch(/ {2}error 5:11 {2}.+\n {4}5 │ {5}type: acton\n {6}│ {11}\^{5}\n {8}help: .*action/);
});

test('the last line sums up', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/bad.yaml': bad,
    '.stepfast/workflows/good.yaml': good,
  });
  const { stdout } = await project.run(['validate']);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 files: 1 valid, 1 invalid (2 errors)');
});

test('the project is found from a directory below it', async () => {
  using project = createTestFolder({ '.stepfast/workflows/good.yaml': good, 'deep/down/x': '' });
  const { code, stdout } = await project.run(['validate'], { cwd: `${project.root}/deep/down` });
  expect(code).toBe(exit.ok);
  expect(stdout).toContain('../../.stepfast/workflows/good.yaml');
});

test('files and names of workflows can be named', async () => {
  using project = createTestFolder({ '.stepfast/workflows/good.yaml': good, 'elsewhere.yaml': bad });
  expect((await project.run(['validate', 'good'])).code).toBe(exit.ok);
  expect((await project.run(['validate', 'elsewhere.yaml'])).code).toBe(exit.no);
});

test('a file that does not exist is not found', async () => {
  using project = createTestFolder();
  const { code, stderr } = await project.run(['validate', 'nope.yaml']);
  expect(code).toBe(exit.notFound);
  expect(stderr).toBe("error There is no file 'nope.yaml'.\n");
});

test('a project without workflows is told what to do', async () => {
  using project = createTestFolder({ '.git/HEAD': '' });
  const { code, stdout, stderr } = await project.run(['validate']);
  expect(code).toBe(exit.notFound);
  expect(stdout).toBe('');
  expect(stderr).toContain('No workflows in .stepfast/workflows.');
});

test('--json prints one document with stable keys', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/bad.yaml': bad,
    '.stepfast/workflows/good.yaml': good,
  });
  const { code, stdout } = await project.run(['validate', '--json']);
  const document = JSON.parse(stdout);
  expect(code).toBe(exit.no);
  expect(document).toMatchObject({ valid: false, errors: 2, warnings: 0 });
  expect(Object.keys(document)).toEqual(['valid', 'errors', 'warnings', 'files']);
  expect(document.files[1]).toMatchObject({
    file: '.stepfast/workflows/good.yaml',
    valid: true,
    name: 'good',
    steps: 1,
  });
  expect(Object.keys(document.files[0].diagnostics[0])).toEqual(
    'severity code file line column message suggestion'.split(' '),
  );
});

test('colours appear only where the output has them', async () => {
  using project = createTestFolder({ '.stepfast/workflows/bad.yaml': bad });
  const plain = await project.run(['validate']);
  const coloured = await project.run(['validate'], { colour: true });
  expect(plain.stdout).not.toContain('\u001b');
  expect(coloured.stdout).toContain('\u001b[31m');
});

test('a terminal without Unicode gets ASCII only', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/bad.yaml': bad,
    '.stepfast/workflows/good.yaml': good,
  });
  const { stdout } = await project.run(['validate'], { unicode: false });
  expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
});

test('escape sequences in a file never reach the terminal', async () => {
  using project = createTestFolder({ 'x.yaml': 'name: "\u001b]0;owned\u0007"\nsteps: \u001b[2J\n' });
  const { stdout } = await project.run(['validate', 'x.yaml']);
  expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

test('a line wider than the terminal is cut around the mistake', () => {
  const frame = frameOf(`${'x'.repeat(200)} wrong ${'y'.repeat(200)}`, 202, 40);
  expect(frame?.text).toHaveLength(40);
  expect(frame?.text.slice(frame.indent)).toMatch(/^wrong /);
  expect(frame?.caret).toBe('^^^^^');
});

test('the caret stands below wide characters', () => {
  expect(frameOf('名前: x', 5, 80)).toEqual({ text: '名前: x', indent: 6, caret: '^' });
});

test('a pipe among the workflows does not hold the program', async () => {
  using here = createTestFolder({ '.stepfast/workflows/a.yaml': 'name: x' });
  execFileSync('mkfifo', [join(here.root, '.stepfast', 'workflows', 'p.yaml')]);
  const { code, stdout } = await here.run(['validate']);
  expect(code).toBe(1);
  expect(stdout).toContain('This is not a file');
});

test('errors on a very long line are shown quickly', async () => {
  const keys = Array.from({ length: 20 }, (_, index) => `zz${index}: ${'x'.repeat(10_000)}`).join(', ');
  using here = createTestFolder({ 'long.yaml': `{ name: x, description: y, steps: [], ${keys} }` });
  const spent = costMeter();
  const { stdout } = await here.run(['validate', 'long.yaml']);
  expect(stdout).toContain("Unknown key 'zz19'");
  expect(spent()).toBeLessThan(60);
});

test('a directory is answered with what to name instead', async () => {
  using here = createTestFolder({ 'flows/a.yaml': 'name: x' });
  const { code, stderr } = await here.run(['validate', 'flows']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('flows/*.yaml')]);
});

const withAgent = (agent: string): string =>
  `name: w\ndescription: d\nagents: { helper: { description: Helps, ${agent} } }\nsteps: [{ id: a, type: action, agent: helper, instructions: Do it }]\n`;

interface Validated {
  files: { notes: string[]; diagnostics: { severity: string; code: string; suggestion: string | null }[] }[];
}

async function diagnosticsOf(agent: string) {
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': withAgent(agent) });
  const { code, stdout } = await project.run(['validate', '--json']);
  const { files }: Validated = JSON.parse(stdout);
  return { code, found: files[0]?.diagnostics ?? [], notes: files[0]?.notes ?? [] };
}

test.each([
  ['tools: [Wrtie]', "'Write'"],
  ['cannot: [Bahs]', "'Bash'"],
  ['tools: [Task]', "'Agent'"],
  ['cannot: [MultiEdit]', "'Edit'"],
  ['cannot: [KillShell]', "'TaskStop'"],
  ['tools: ["Edit(src/**)"]', 'Bash(git *)'],
  ['cannot: ["browser*"]', 'mcp__'],
  ['tools: [commit]', 'mcp__'],
])('A14: %s is an error, with what was meant', async (agent, meant) => {
  const { code, found } = await diagnosticsOf(agent);
  expect(code).toBe(exit.no);
  expect(found).toEqual([expect.objectContaining({ severity: 'error', code: 'unknown_tool' })]);
  expect(found[0]?.suggestion).toContain(meant);
});

test.each([
  'tools: [Read, Glob, "Bash(git *)", "Bash(npm run test:*)", mcp__docs, "mcp__docs__*", mcp__docs__search]',
  'cannot: [Write, Edit, NotebookEdit, "mcp__*", "Notebook*", "*"]',
  'tools: []',
  'tools: [read, bash, task]',
  'tools: [read_file, run_shell_command]',
])('A14: %s is fine', async (agent) => {
  expect(await diagnosticsOf(agent)).toEqual({ code: exit.ok, found: [], notes: [] });
});

test.each([
  ['tools: [edit_file, run_terminal_cmd]', 'foreign_tool', 2],
  ['cannot: [mcp__stepfast__workflow_advance]', 'own_tool', 1],
])('A14: %s loads with a warning', async (agent, warning, count) => {
  const { code, found } = await diagnosticsOf(agent);
  expect(code).toBe(exit.ok);
  expect(found).toHaveLength(count);
  for (const each of found) expect(each).toMatchObject({ severity: 'warning', code: warning });
});

test('A14: one note says that model and permissions are not used yet', async () => {
  const { code, found, notes } = await diagnosticsOf('model: opus, permissions: plan');
  expect({ code, found }).toEqual({ code: exit.ok, found: [] });
  expect(notes).toHaveLength(1);
  for (const part of ['model', 'permissions', 'helper']) expect(notes[0]).toContain(part);
  using project = createTestFolder({ '.stepfast/workflows/w.yaml': withAgent('model: opus') });
  const { stdout } = await project.run(['validate']);
  expect(stdout.split('\n')[1]).toMatch(/^ {2}note {2}.*(?:model.*helper|helper.*model)/);
});
