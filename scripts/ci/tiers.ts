/**
 * Which agents' end-to-end tests run in full in CI: `node scripts/ci/tiers.ts` prints their folders. Claude Code's always run.
 * The others' run if their adapter, their tests, or shared parts of either changed since `.ci/full.json`, and else only their
 * smoke test. `npm run long` runs all and notes the commit there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const agents = ['codex', 'copilot', 'gemini', 'opencode'] as const;
export type Agent = (typeof agents)[number];

/** What of an agent runs in every CI. */
const smoke = (agent: Agent): string => `test/e2e/${agent}/smoke.test.ts`;
const all = (agent: Agent): string => `test/e2e/${agent}/`;

/** Commits that may change the product until the agents' tests have to pass in full again. */
const mostCommits = 50;

/** Plugins and extensions, which nothing imports. */
const assets: Readonly<Record<Agent, readonly string[]>> = {
  codex: [],
  copilot: ['copilot/'],
  gemini: ['gemini/'],
  opencode: [],
};
/** The same for all agents: the setup of tests, and programs that kits start by their path. */
const sharedAssets = [
  'hooks/',
  'package-lock.json',
  'vitest.config.ts',
  'scripts/build',
  'scripts/ensure-built.ts',
  'src/testing/claude/',
  'test/e2e/build.ts',
  'test/kit/inner-door.ts',
  'test/kit/join-sockets.ts',
  'test/kit/property.ts',
  'test/kit/seed.ts',
  'test/kit/serve-door.ts',
  'test/kit/temporary.ts',
];

/** What its adapter imports of the adapters, and what its tests import of the tests, their kits, and scripts. */
export async function triggersOf(agent: Agent): Promise<Set<string>> {
  const adapter = await importsOf([`src/hosts/${agent}/index.ts`]);
  const tests = await importsOf(globSync(`${all(agent)}*.test.ts`));
  return new Set([
    ...adapter.filter((file) => file.startsWith('src/hosts/')),
    ...tests.filter((file) => /^(src\/testing|test|scripts)\/|^src\/hosts\/[^/]+$/.test(file)),
  ]);
}

async function importsOf(entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints,
    outdir: 'none',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs);
}

export interface Since {
  /** Files that changed since the last full run that passed; undefined if there was none. */
  changed: readonly string[] | undefined;
  commits: number;
}

export type Choice = 'full' | 'smoke' | 'overdue';

export function choose(agent: Agent, triggers: ReadonlySet<string>, { changed, commits }: Since): Choice {
  if (!changed) return 'full';
  const folders = [
    all(agent),
    `src/hosts/${agent}/`,
    `test/fixtures/payloads/${agent}`,
    ...assets[agent],
    ...sharedAssets,
  ];
  const isTrigger = (file: string): boolean =>
    triggers.has(file) || folders.some((start) => file.startsWith(start));
  if (changed.some(isTrigger)) return 'full';
  return commits > mostCommits && changed.some((file) => file.startsWith('src/')) ? 'overdue' : 'smoke';
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function since(commit: string | undefined): Since {
  if (commit === undefined) return { changed: undefined, commits: 0 };
  try {
    const changed = git('diff', '--name-only', '--no-renames', commit, 'HEAD').split('\n').filter(Boolean);
    return { changed, commits: Number(git('rev-list', '--count', `${commit}..HEAD`)) };
  } catch {
    // Not in this clone.
    return { changed: undefined, commits: 0 };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(join(import.meta.dirname, '..', '..'));
  const passed: Partial<Record<Agent, string>> = JSON.parse(readFileSync('.ci/full.json', 'utf8'));
  for (const agent of agents) {
    const choice = choose(agent, await triggersOf(agent), since(passed[agent]));
    if (choice === 'overdue') {
      console.error(
        `${agent}: ${mostCommits} commits without a full run. Run: npm run long -- agent-${agent}`,
      );
      process.exitCode = 1;
    }
    if (!existsSync(smoke(agent))) throw new Error(`${smoke(agent)} is missing`);
    if (choice !== 'smoke') console.log(all(agent));
  }
}
