import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandEnvironment, runCommand } from '../../evidence/index.ts';
import { withoutAgentVariables } from '../../hosts/index.ts';
import { prompt } from '../confirm.ts';
import type { Io } from '../io.ts';
import { withProgress } from '../progress.ts';
import { findTestCommands, type TestCommand } from './test-command.ts';

/** Longer test runs are stopped: `init` only shows the state of the tests. */
const limitMs = 60_000;

export interface TestResult {
  is: 'passes' | 'fails' | 'takes_longer';
  exit: number | null;
}

/** The given test command, else the ones that were found, else the one that a person at a terminal types. */
export async function testCommandsFor(
  root: string,
  { test, yes }: { test?: string | undefined; yes?: boolean | undefined },
  io: Io,
): Promise<TestCommand[]> {
  const given = test?.trim() ?? '';
  if (given !== '') return [{ command: given, from: '--test' }];
  const found = findTestCommands(root);
  if (found.length > 0 || yes || !io.stdin.terminal) return found;
  const typed = await prompt(io, 'No test command was found. Which command runs the tests? (Enter: none) ');
  return typed.trim() === '' ? [] : [{ command: typed.trim(), from: 'you' }];
}

/** Runs the test command once, so that a person knows its result before the first task. */
export async function tryTestCommand(command: string, root: string, io: Io): Promise<TestResult> {
  const directory = mkdtempSync(join(tmpdir(), 'stepfast-init-'));
  try {
    const env = commandEnvironment(withoutAgentVariables(io.env));
    const log = join(directory, 'output.log');
    const run = runCommand({ command, cwd: root, env, timeoutMs: limitMs, log });
    const { exit, timedOut } = await withProgress(io, `running ${command}`, run);
    return { is: timedOut ? 'takes_longer' : exit === 0 ? 'passes' : 'fails', exit };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `npm test: fails now (exit 1)`. */
export function testResultText(command: string, { is, exit }: TestResult): string {
  if (is === 'passes') return `${command}: passes`;
  if (is === 'takes_longer') return `${command}: takes longer than ${limitMs / 1000} s, so it was stopped`;
  return `${command}: fails now (${exit === null ? 'ended by a signal' : `exit ${exit}`})`;
}
