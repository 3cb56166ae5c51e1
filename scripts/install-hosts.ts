/** The agent programs that end-to-end tests run. Run as a script, it prints their paths. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';
import { StepfastError } from '../src/errors.ts';
import { installPackage, versionOf, wrongVersion } from './install-package.ts';

interface PinnedProgram {
  name: string;
  version: string;
  package: string;
  /** Of the package, where it is not the program's. */
  packageVersion?: string;
  /** In the package. */
  program: string;
}

const platform = `${process.platform}-${process.arch}`;
const musl = existsSync('/etc/alpine-release') ? '-musl' : '';
const exe = process.platform === 'win32' ? '.exe' : '';

const programs = {
  claude: {
    name: 'Claude Code',
    version: '2.1.325',
    package: `@anthropic-ai/claude-code-${platform}${musl}`,
    program: `claude${exe}`,
  },
  codex: {
    name: 'Codex',
    version: '0.169.0',
    package: '@openai/codex',
    packageVersion: `0.169.0-${platform}`,
    program: `vendor/${codexTarget()}/bin/codex${exe}`,
  },
  copilot: {
    name: 'Copilot CLI',
    version: '1.0.102',
    package: `@github/copilot-${platform}`,
    program: `copilot${exe}`,
  },
  gemini: {
    name: 'Gemini CLI',
    version: '0.61.0',
    package: '@google/gemini-cli',
    program: 'bundle/gemini.js',
  },
  opencode: {
    name: 'OpenCode',
    version: '1.18.33',
    package: `opencode-${platform}${musl}`,
    program: `bin/opencode${exe}`,
  },
} as const satisfies Record<string, PinnedProgram>;

export type HostProgram = keyof typeof programs;

export const versionOfHost = (host: HostProgram): string => programs[host].version;

const asked = new Map<HostProgram, Promise<string>>();

/** The path of the pinned program, which is installed if needed. Throws if something is missing. */
export async function hostBinary(host: HostProgram): Promise<string> {
  const known = asked.get(host) ?? install(host);
  asked.set(host, known);
  return await known;
}

async function install(host: HostProgram): Promise<string> {
  const { name, version, package: id, program, packageVersion = version }: PinnedProgram = programs[host];
  const binary = await installPackage({
    name,
    version: packageVersion,
    package: id,
    folder: host === 'claude' ? 'claude-code' : host,
    program,
    /** npm silently installs an older version if `engines` do not match, so the program's own version is checked. */
    async check(installed) {
      const answer = await versionOf(installed);
      if (!answer.split(/[\s,]+/).some((word) => word.replace(/\.$/, '') === version))
        throw wrongVersion(installed, answer, version);
    },
  });
  const log = process.env.STEPFAST_CI_SESSIONS;
  return log === undefined ? binary : counting(binary, host, log);
}

/** A program that notes its start in the log and becomes the agent. */
function counting(binary: string, host: HostProgram, log: string): string {
  const shim = join(`${log}.bin`, host, basename(binary));
  mkdirSync(dirname(shim), { recursive: true });
  const draft = `${shim}.${process.pid}.${threadId}`;
  writeFileSync(draft, `#!/bin/sh\necho ${host} >>'${log}'\nexec '${binary}' "$@"\n`, { mode: 0o755 });
  // Other workers may be starting it.
  renameSync(draft, shim);
  return shim;
}

function codexTarget(): string {
  const cpu = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  if (process.platform === 'darwin') return `${cpu}-apple-darwin`;
  return process.platform === 'win32' ? `${cpu}-pc-windows-msvc` : `${cpu}-unknown-linux-musl`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2);
  const names = (Object.keys(programs) as HostProgram[]).filter(
    (host) => wanted.length === 0 || wanted.includes(host),
  );
  try {
    for (const host of names) console.log(await hostBinary(host));
  } catch (error) {
    console.error(error instanceof StepfastError ? error.message : error);
    process.exitCode = 1;
  }
}
