/** Installs pinned npm programs for tests outside the checkout, in STEPFAST_CI_CACHE or ~/.cache/stepfast-ci. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StepfastError } from '../src/errors.ts';

const execute = promisify(execFile);

export interface PinnedPackage {
  /** Name of the program in messages. */
  name: string;
  version: string;
  package: string;
  /** Folder in the cache; the version is appended. */
  folder: string;
  /** The program in the package's folder. */
  program: string;
  /** Throws if the program isn't this version. */
  check(program: string): Promise<void>;
  /** Finishes the installation after npm unpacked the package. */
  prepare?(folder: string): void;
}

/** The package's program, which is installed if needed. Throws if something is missing. */
export async function installPackage(wanted: PinnedPackage): Promise<string> {
  const cache = process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci');
  const target = join(cache, `${wanted.folder}-${wanted.version}`);
  const checked = join(target, 'installed');
  if (!existsSync(checked)) await install(wanted, cache, target);
  const program = join(target, 'node_modules', wanted.package, wanted.program);
  // Agents can update themselves.
  if (existsSync(program) && readFileSync(checked, 'utf8') === fingerprintOf(program)) return program;
  await wanted.check(program);
  writeFileSync(checked, fingerprintOf(program));
  return program;
}

function fingerprintOf(program: string): string {
  const { size, mtimeMs } = statSync(program);
  return `${size} ${mtimeMs}`;
}

/** Installs into a temporary directory and renames it, because two test runs may do this concurrently. */
async function install(wanted: PinnedPackage, cache: string, target: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'installing-'));
  try {
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
    await npmInstall(directory, wanted);
    const folder = join(directory, 'node_modules', wanted.package);
    wanted.prepare?.(folder);
    const program = join(folder, wanted.program);
    await wanted.check(program);
    writeFileSync(join(directory, 'installed'), fingerprintOf(program));
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

/** The output of `--version`. */
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
