/**
 * The agent programs that end-to-end tests run, each at one pinned version, installed from npm outside the checkout:
 * STEPFAST_CI_CACHE or ~/.cache/stepfast-ci. As a program it prints where they are.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StepfastError } from '../src/errors.ts';

const execute = promisify(execFile);

const claude = { name: 'Claude Code', version: '2.1.325', package: claudePackage() };

let asked: Promise<string> | undefined;

/** The path of the pinned `claude`, installed if need be; throws what is missing. */
export async function claudeBinary(): Promise<string> {
  asked ??= installed();
  return await asked;
}

async function installed(): Promise<string> {
  const cache = process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci');
  const target = join(cache, `claude-code-${claude.version}`);
  if (!existsSync(join(target, 'installed'))) await install(cache, target);
  const binary = join(target, 'node_modules', claude.package, binaryName());
  await check(binary);
  return binary;
}

/** Into a directory of its own, renamed when it is whole: two test runs may do this at once. */
async function install(cache: string, target: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'installing-'));
  try {
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
    const wanted = `${claude.package}@${claude.version}`;
    await npmInstall(directory, wanted);
    await check(join(directory, 'node_modules', claude.package, binaryName()));
    writeFileSync(join(directory, 'installed'), '');
    if (existsSync(join(target, 'installed'))) return;
    rmSync(target, { recursive: true, force: true });
    renameSync(directory, target);
  } catch (cause) {
    if (!existsSync(join(target, 'installed'))) throw cause;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function npmInstall(cwd: string, wanted: string): Promise<void> {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', wanted];
  try {
    await execute('npm', args, { cwd, timeout: 300_000 });
  } catch (cause) {
    throw new StepfastError(
      'host_missing',
      `${claude.name} ${claude.version} is missing: npm could not install ${wanted}. Its answer: ${answerOf(cause)}`,
      { cause },
    );
  }
}

/** npm gives an older version without a word where `engines` do not fit: the program itself is asked. */
async function check(binary: string): Promise<void> {
  const said = await execute(binary, ['--version'], { timeout: 30_000, env: { HOME: dirname(binary) } }).then(
    ({ stdout }) => stdout.trim(),
    (cause: unknown) => {
      throw new StepfastError('host_missing', `${binary} does not start: ${answerOf(cause)}`, { cause });
    },
  );
  if (said.split(' ')[0] === claude.version) return;
  throw new StepfastError(
    'host_version',
    `${binary} says version '${said}', the tests are for ${claude.version}. Remove it and install again.`,
  );
}

function answerOf(cause: unknown): string {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
  return stderr || String(cause);
}

function claudePackage(): string {
  const musl = existsSync('/etc/alpine-release');
  return `@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

function binaryName(): string {
  return process.platform === 'win32' ? 'claude.exe' : 'claude';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await claudeBinary());
  } catch (error) {
    console.error(error instanceof StepfastError ? error.message : error);
    process.exitCode = 1;
  }
}
