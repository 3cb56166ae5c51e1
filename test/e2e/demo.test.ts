import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cliProgram } from '../../src/testing/programs.ts';

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-e2e-demo-')));
  for (const name of ['tmp', 'home', 'cwd']) mkdirSync(join(directory, name));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Everything that it leaves, except compiled code. */
const left = (): string[] => ['tmp', 'home', 'cwd'].flatMap((name) => readdirSync(join(directory, name)));

async function demo(interruptAt?: RegExp): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [cliProgram, 'demo'], {
    cwd: join(directory, 'cwd'),
    env: {
      PATH: process.env.PATH,
      HOME: join(directory, 'home'),
      XDG_CACHE_HOME: join(directory, 'cache'),
      TMPDIR: join(directory, 'tmp'),
      LANG: 'C.UTF-8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let sent = false;
  const read = (chunk: Buffer): void => {
    output += String(chunk);
    if (sent || !interruptAt?.test(output)) return;
    sent = true;
    child.kill('SIGINT');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

test('the demonstration tells what the engine answers, plainly into a pipe, and leaves nothing', async () => {
  const { code, output } = await demo();
  expect(output).not.toContain('\u001b');
  const lines = [
    '✗ node cart.test.mjs  exit 1',
    'FAIL  an empty cart: ',
    ':release#1',
    'DECISIONS AND FEEDBACK',
    '- correction n1: An empty cart costs 0, never null.',
    '✓ node cart.test.mjs  exit 0',
    '  complete',
    '1  false claim of completion caught',
    '1  attempt to skip or repeat a step refused',
    '1  compaction survived',
    ' init ',
  ];
  let at = 0;
  for (const line of lines) {
    const found = output.indexOf(line, at);
    expect(found, `${line} in:\n${output}`).toBeGreaterThanOrEqual(at);
    at = found;
  }
  // A command to type is as long as the path of this checkout.
  const shown = output.split('\n').filter((line) => !/ (init|hold) |\/stepfast:go /.test(line));
  for (const line of shown) expect(line.length).toBeLessThanOrEqual(80);
  expect(code).toBe(0);
  expect(left()).toEqual([]);
});

test('Ctrl-C in the middle leaves nothing either', async () => {
  const { code, output } = await demo(/claims to be done/);
  expect(code).toBe(1);
  expect(output).not.toContain(' init ');
  expect(left()).toEqual([]);
});
