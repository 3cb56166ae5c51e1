/** A person at a real terminal, beside or before a session. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { type ClaudeProject, runtimeIn } from '../../../src/testing/index.ts';
import { createClaudeProject } from '../../kit/claude.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';

const top = join(import.meta.dirname, '..', '..', '..');

let stage: ClaudeProject;
let terminal: Terminal | undefined;
afterEach(async () => {
  await terminal?.close().catch(() => {});
  await stage[Symbol.asyncDispose]();
});

/** A shell in the project, where `stepfast` is installed. */
async function shell(files: Record<string, string>): Promise<Terminal> {
  stage = await createClaudeProject(files);
  const bin = join(stage.home, 'bin');
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(top, 'dist', 'cli.js')}' "$@"\n`;
  writeFileSync(join(bin, 'stepfast'), script, { mode: 0o755 });
  const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  const { HOME = '' } = stage.project.env;
  terminal = await openTerminal({
    directory: stage.home,
    command: ['sh'],
    cwd: stage.project.root,
    env: { PATH: path, HOME, PS1: '$ ', XDG_STATE_HOME: join(HOME, '.local', 'state'), LANG: 'C.UTF-8' },
    columns: 80,
    rows: 60,
  });
  return terminal;
}

async function enter(text: string): Promise<void> {
  await terminal?.type(text);
  await terminal?.press('Enter');
}

let count = 0;

/** Runs a command, and returns what it prints. */
async function screenOf(command: string): Promise<string> {
  count += 1;
  await enter(`clear; ${command}; echo "${count}: exit $?"`);
  await terminal?.waitFor(new RegExp(`^${count}: exit \\d`, 'm'));
  return stripVTControlCharacters((await terminal?.screen()) ?? '');
}

const w = (gate: string): string =>
  `name: w\ndescription: Does it\nsteps:\n  - { id: do, type: action, instructions: Do it., gate: [{ run: ${JSON.stringify(gate)} }], review: { by: human } }\n`;

/** What runners print: the failing test is far from the end. */
const long = `echo 'not ok 1 - the total is wrong'; for line in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "# line $line"; done; exit 1`;

it('[U19] [U12] init asks for the test command and runs it; go says what the person does next', async () => {
  await shell({ 'README.md': 'x\n' });
  await enter('stepfast init');
  await terminal?.waitFor(/No test command was found/);
  await enter('grep -q y README.md');
  await terminal?.waitFor(/grep -q y README\.md: .*exit 1[\s\S]*\[y\/N\]/);
  await enter('y');
  await terminal?.waitFor(/✓ 3 files/);
  const written = readFileSync(join(stage.project.root, '.stepfast/workflows/go.yaml'), 'utf8');
  expect(written).toContain('grep -q y README.md');
  const screen = await screenOf('stepfast go "make it so"');
  expect(screen).toMatch(/next .*continue/);
  expect(screen).not.toMatch(/[0-9a-z]{8}:do#1/);
});

it('[U11] trust without a name shows what is not trusted, and asks', async () => {
  await shell({
    '.stepfast/workflows/w.yaml': w('true'),
    '.stepfast/workflows/v.yaml': w('false').replace('name: w', 'name: v'),
  });
  stage.project.trust('v');
  await enter('stepfast trust');
  await terminal?.waitFor(/\bw\b[\s\S]*\btrue\b[\s\S]*\[y\/N\]/);
  await enter('y');
  expect(await screenOf('stepfast start w')).toContain('exit 0');
});

it('[U8] [U16] status shows the failing test that the agent sees, and an approval is one y', async () => {
  await shell({ '.stepfast/workflows/w.yaml': w(`test -f done.txt || { ${long}; }`) });
  stage.project.trust('w');
  const { run, at } = await stage.project.startRun('w');
  const { call } = runtimeIn(stage.project);
  await call({ type: 'advance', output: 'Done!', at }, { session: 'agent' }, { run });
  expect(await screenOf('stepfast status')).toContain('not ok 1 - the total is wrong');
  stage.project.write({ 'done.txt': '' });
  await call({ type: 'advance', output: 'Done.', at }, { session: 'agent' }, { run });
  await enter('stepfast approve');
  await terminal?.waitFor(/\[y\/N\]/);
  await enter('y');
  expect(await screenOf('stepfast status')).toMatch(/complete/);
});
