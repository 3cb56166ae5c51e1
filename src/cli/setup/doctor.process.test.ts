import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeIo } from '../../testing/fake-io.ts';
import { createTestFolder, type TestProject } from '../../testing/index.ts';
import { exit } from '../exit.ts';
import { openRuntime } from '../run-options.ts';
import { checkCommand, checkFileSystem, checkNode, checkProject } from './checks-project.ts';
import { checkHooks, checkRuns } from './checks-runs.ts';

const workflow = `name: w
description: Reads and works
required_reading: ["@docs/auth.md"]
steps:
  - { id: plan, type: action, instructions: Plan. }
  - { id: build, type: action, instructions: Build. }
`;
const files = { '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' };

/** Every check except hosts and the MCP server. */
async function looked(project: TestProject, now = Date.now()): Promise<{ wrong: boolean; says: string }> {
  const runtime = openRuntime(createFakeIo({ cwd: project.root, home: project.home }).io, {});
  const checks = [
    ...checkProject(runtime),
    ...(await checkRuns(runtime, now)),
    ...(await checkHooks(runtime, now)),
  ];
  const says = checks.map(({ what, says: words, next }) => `${what}: ${words} > ${next}`).join('\n');
  return { wrong: checks.some(({ state }) => state === 'wrong'), says };
}

async function started(project: TestProject): Promise<{ run: string; at: string; folder: string }> {
  const { stdout } = await project.run(['start', 'w', '--json']);
  const { run, at } = JSON.parse(stdout);
  return { run, at, folder: join(project.root, '.stepfast', 'runs', run) };
}

test('a project without .stepfast gets the next command', async () => {
  using project = createTestFolder();
  const { wrong, says } = await looked(project);
  expect(wrong).toBe(true);
  expect(says).toContain(' > stepfast init');
});

test('[P6/10] a project on a network file system is a problem', () => {
  using project = createTestFolder(files);
  const directory = join(project.root, '.stepfast');
  expect(checkFileSystem(directory)).toEqual([]);
  expect(checkFileSystem(directory, () => true)).toMatchObject([{ what: 'file system', state: 'wrong' }]);
  expect(checkFileSystem(join(project.root, 'none'), () => true)).toEqual([]);
});

test('[U7] a printed command that the shell does not find is a problem', async () => {
  using project = createTestFolder(files);
  expect((await project.run(['doctor'], { env: {} })).code).toBe(exit.no);
  expect(checkCommand('stepfast', {})).toMatchObject({ what: 'command', state: 'wrong' });
  expect(checkCommand('npx stepfast', {})).toMatchObject({ state: 'wrong' });
});

test('a healthy project has no problems, and a missing Claude Code is a note', async () => {
  using project = createTestFolder({ ...files, 'bin/stepfast': '' });
  chmodSync(join(project.root, 'bin/stepfast'), 0o755);
  const { code, stdout } = await project.run(['doctor'], { env: { PATH: join(project.root, 'bin') } });
  expect(code).toBe(exit.ok);
  expect(stdout).toContain('No problems found.');
  expect(stdout).toMatch(/MCP server: responds with 8 tools/);
  expect(stdout).toMatch(/not found on PATH\n {4}next: install one, then: stepfast init/);
});

test('[002/10] State file not created? Doctor reports the missing marker of CLAUDE.local.md, or what would be adopted', async () => {
  using project = createTestFolder({ ...files, 'CLAUDE.local.md': '# Workflow State\nWorkflow: Release\n' });
  expect((await looked(project)).says).toMatch(/CLAUDE\.local\.md describes no workflow: it lacks 'Phase:'/i);
  writeFileSync(
    join(project.root, 'CLAUDE.local.md'),
    '# Workflow State\nWorkflow: Release\nPhase: 2/3 Build\n',
  );
  expect((await looked(project)).says).toMatch(
    /CLAUDE\.local\.md describes work in progress > stepfast adopt/,
  );
});

test('[002/10] State file not updated after a transition? Doctor compares the file with the journal', async () => {
  using project = createTestFolder(files);
  const { folder, at } = await started(project);
  const old = readFileSync(join(folder, 'state.json'));
  const now = Date.now() + 60_000;
  await project.run(['advance', '--at', at, '--output', 'Planned.'], { now: () => now });
  expect((await looked(project, now)).says).toMatch(/w at 'build', state\.json written just now/);
  writeFileSync(join(folder, 'state.json'), old);
  expect((await looked(project)).says).toContain('state.json was older than the journal');
  rmSync(join(folder, 'state.json'));
  expect((await looked(project)).says).toContain('state.json was missing');
});

test('[002/10] Workflow lost after compaction? Doctor reports whether hooks ran and what was not read', async () => {
  using project = createTestFolder(files);
  await started(project);
  const { says } = await looked(project);
  expect(says).toContain('no hook has run yet');
  expect(says).toContain('not read: @docs/auth.md');
});

test('[002/10] Multiple state files accumulating? Doctor counts ended runs and suggests clean', async () => {
  using project = createTestFolder(files);
  const { folder, run } = await started(project);
  await project.run(['cancel', '--run', run, '--yes'], { terminal: true, input: [run, 'y'] });
  expect((await looked(project)).says).not.toContain('ended runs');
  const suffix = run.slice(-8);
  for (let n = 10; n < 41; n++) {
    // Generated ids contain no z.
    const copy = run.replace(suffix, `${suffix.slice(0, 5)}z${n}`);
    cpSync(folder, join(folder, '..', copy), { recursive: true });
  }
  expect((await looked(project)).says).toMatch(/ended runs are kept > stepfast clean/);
});

test('missing marks are restored and reported', async () => {
  using project = createTestFolder(files);
  await started(project);
  const marks = join(project.root, '.stepfast', 'sessions', 'marks');
  const before = readdirSync(marks);
  rmSync(marks, { recursive: true });
  expect((await looked(project)).says).toContain('marks: did not match the runs');
  expect(readdirSync(marks)).toEqual(before);
  expect((await looked(project)).says).toContain('marks: match the runs');
});

test('hook errors are reported with event and message', async () => {
  using project = createTestFolder(files);
  await started(project);
  const folder = join(project.root, '.stepfast', 'sessions', 'hooks');
  mkdirSync(folder, { recursive: true });
  const line = { now: Date.now() - 1000, what: 'error', event: 'Stop', message: 'the disk is full' };
  writeFileSync(join(folder, 'log.jsonl'), `${JSON.stringify(line)}\n`);
  const { wrong, says } = await looked(project);
  expect(wrong).toBe(true);
  expect(says).toContain('in Stop: the disk is full > stepfast doctor --live');
});

test('invalid workflows and untrusted commands are reported with the fix', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/bad.yaml': 'name: bad\nsteps: 3\n',
    '.stepfast/workflows/sly.yaml':
      'name: sly\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: x, gate: [{ run: npm test }] }\n',
  });
  const { says } = await looked(project);
  expect(says).toMatch(/bad\.yaml has \d+ errors? > stepfast validate \.stepfast\/workflows\/bad\.yaml/);
  expect(says).toContain(': npm test > review them, then: stepfast trust sly');
});

test('an invalid config file is reported', async () => {
  using project = createTestFolder({ '.stepfast/config.yaml': 'nonsense: [' });
  const { code, stdout } = await project.run(['doctor']);
  expect(code).toBe(exit.no);
  expect(stdout).toContain('config.yaml');
});

test.each([
  ['22.17.9', 'wrong'],
  ['22.18.0', 'ok'],
  ['26.1.0', 'ok'],
])('Node %s is %s', (version, state) => {
  expect(checkNode(version).state).toBe(state);
});
