/** The agent programs that end-to-end tests run. Run as a script, it prints their paths. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepfastError } from '../src/errors.ts';
import { installPackage, type PinnedPackage, versionOf, wrongVersion } from './install-package.ts';

const claude: PinnedPackage = {
  name: 'Claude Code',
  version: '2.1.325',
  package: claudePackage(),
  folder: 'claude-code',
  /** npm silently installs an older version if `engines` do not match, so the program's own version is checked. */
  async check(folder) {
    const binary = join(folder, binaryName());
    const answer = await versionOf(binary);
    if (answer.split(' ')[0] !== this.version) throw wrongVersion(binary, answer, this.version);
  },
};

export const claudeVersion = claude.version;

let asked: Promise<string> | undefined;

/** The path of the pinned `claude`, which is installed if needed. Throws if something is missing. */
export async function claudeBinary(): Promise<string> {
  asked ??= installPackage(claude);
  return join(await asked, binaryName());
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
