/**
 * Do the tests still catch what they caught? Plants the bugs of planted/bugs one at a time and runs the one test that
 * caught each: `npm run planted [-- --only ID,...] [--shard K/N] [--state FILE] [--verify]`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { jsonLines } from '../json-lines.ts';

interface Bug {
  id: string;
  /** What the fault does to a user. */
  what: string;
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The test's name has its describe parts, separated by ' > '. */
  caughtBy: { file: string; test: string };
  /** The commit that fixed the original fault. */
  fix?: string;
}

type Verdict = 'caught' | 'missed' | 'stale' | 'passes';

interface Result {
  key: string;
  name: string;
  verdict: Verdict;
  why: string;
  seconds: number;
}

/** Milliseconds per test, without the build. A bug may prevent the state that a test polls for. */
const limit = 120_000;
const env = { ...process.env, STEPFAST_POLL_MS: '60000' };
const root = join(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    shard: { type: 'string', default: '1/1' },
    state: { type: 'string' },
    /** Plants nothing: checks that every text occurs once and that every named test passes. */
    verify: { type: 'boolean', default: false },
  },
});

// A commit that changes only lab/ changes no result.
const commit = git(root, 'log', '-1', '--format=%H', '--', '.', ':!lab');
const stateFile = options.state ?? join(tmpdir(), `stepfast-planted-${commit.slice(0, 12)}.jsonl`);
const known = readState();
const bugs = chooseBugs();
const copy = join(mkdtempSync(join(tmpdir(), 'stepfast-planted-')), 'copy');
const results: Result[] = [];
/** Vitest's process group. */
let running: number | undefined;
process.once('exit', () => {
  endGroup(running);
  rmSync(join(copy, '..'), { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
if (bugs.some((bug) => options.verify || !known.has(keyOf(bug)))) makeCopy();
const broken = options.verify ? new Set() : brokenTypes(bugs.filter((bug) => !known.has(keyOf(bug))));
// First all tests without a bug, file by file: they share one build.
const files = new Set(bugs.map(({ caughtBy }) => caughtBy.file));
for (const file of files) await checkPasses(bugs.filter(({ caughtBy }) => caughtBy.file === file));
for (const bug of bugs) {
  const before = known.get(keyOf(bug.caughtBy));
  const result = broken.has(bug)
    ? {
        key: keyOf(bug),
        name: bug.id,
        seconds: 0,
        verdict: 'stale' as const,
        why: "doesn't compile with it",
      }
    : isStale(bug) || options.verify || before?.verdict !== 'passes'
      ? { key: keyOf(bug), name: bug.id, seconds: 0, ...withoutPlanting(bug, before) }
      : (known.get(keyOf(bug)) ?? (await plant(bug)));
  results.push(result);
}
const width = Math.max(0, ...results.map(({ name }) => name.length));
console.log();
for (const { name, verdict, seconds, why } of results)
  console.log(`${name.padEnd(width)}  ${verdict}  ${seconds.toFixed(0).padStart(4)} s  ${why}`.trimEnd());
const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
if (options.verify) console.log(`${count('passes')} tests pass without their bugs`);
console.log(`${count('caught')} caught, ${count('missed')} missed, ${count('stale')} stale`);
if (count('missed') + count('stale') > 0) process.exitCode = 1;

function chooseBugs(): Bug[] {
  const all = globSync(join(import.meta.dirname, 'bugs/*.json'))
    .sort()
    .flatMap((file): Bug[] => JSON.parse(readFileSync(file, 'utf8')));
  const [shard = 1, shards = 1] = options.shard.split('/').map(Number);
  if (!(shard >= 1 && shard <= shards)) throw new Error(`there is no shard ${options.shard}`);
  const wanted = options.only?.split(',');
  const harmless = all.filter(({ find, replace }) => find === replace);
  if (harmless.length > 0) throw new Error(`bugs that change nothing: ${harmless.map(({ id }) => id)}`);
  const unknown = wanted?.filter((id) => !all.some((bug) => bug.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown bugs: ${unknown.join(', ')}`);
  const chosen = all.filter((bug, at) => wanted?.includes(bug.id) ?? at % shards === shard - 1);
  if (chosen.length === 0) throw new Error('no bug was chosen');
  // Last, since they leave a built program with a bug behind.
  const isLate = ({ caughtBy }: Bug): number => Number(runsProgram(caughtBy.file));
  return chosen.sort((one, other) => isLate(one) - isLate(other));
}

/** A clone of the commit: hard links to node_modules, without caches that a run writes to. */
function makeCopy(): void {
  execFileSync('git', ['clone', '--quiet', '--shared', root, copy]);
  const modules = join(copy, 'node_modules');
  try {
    execFileSync('cp', ['-al', join(root, 'node_modules'), modules], { stdio: 'pipe' });
  } catch {
    // Another file system.
    rmSync(modules, { recursive: true, force: true });
    cpSync(join(root, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true });
  }
  for (const cache of ['.cache', '.vite', '.vitest', '.experimental-vitest-cache'])
    rmSync(join(modules, cache), { recursive: true, force: true });
}

function build(): void {
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: copy, stdio: 'pipe' });
}

/** The tests of one file, in one process. */
async function checkPasses(ofFile: readonly Bug[]): Promise<void> {
  const asked = new Map(ofFile.map(({ caughtBy }) => [keyOf(caughtBy), caughtBy]));
  for (const key of asked.keys()) if (known.has(key)) asked.delete(key);
  const [first] = asked.values();
  if (!first) return;
  const outcomeOf = await runTests(
    first.file,
    [...asked.values()].map(({ test }) => test),
  );
  for (const [key, { file, test }] of asked) {
    const { outcome, why, seconds } = outcomeOf(test);
    const name = `${basename(file)} > ${test}`;
    const verdict = outcome === 'passed' ? 'passes' : 'missed';
    remember({
      key,
      name,
      verdict,
      why: outcome === 'failed' ? `fails without the bug: ${why}` : why,
      seconds,
    });
  }
}

/** A bug that uses a name that is gone would be caught by any test. */
function brokenTypes(wanted: readonly Bug[]): Set<Bug> {
  const broken = new Set<Bug>();
  let left = wanted.filter((bug) => !isStale(bug));
  while (left.length > 0) {
    const round = new Map<string, Bug>();
    for (const bug of left) if (!round.has(bug.file)) round.set(bug.file, bug);
    left = left.filter((bug) => round.get(bug.file) !== bug);
    const sound = new Map([...round.keys()].map((file) => [file, readFileSync(join(copy, file), 'utf8')]));
    for (const [file, { find, replace }] of round)
      writeFileSync(
        join(copy, file),
        (sound.get(file) ?? '').replace(find, () => replace),
      );
    const tsc = join(copy, 'node_modules/.bin/tsc');
    const inDashboard = [...round.keys()].some((file) => file.startsWith('dashboard/'));
    const errors = ['.', ...(inDashboard ? ['dashboard'] : [])].flatMap((project) =>
      spawnSync(tsc, ['--noEmit', '-p', project], { cwd: copy, encoding: 'utf8' }).stdout.split('\n'),
    );
    for (const [file, bug] of round) {
      writeFileSync(join(copy, file), sound.get(file) ?? '');
      if (errors.some((line) => line.startsWith(`${file}(`))) broken.add(bug);
    }
  }
  return broken;
}

async function plant(bug: Bug): Promise<Result> {
  const { id, file, find, replace, caughtBy } = bug;
  const path = join(copy, file);
  const sound = readFileSync(path, 'utf8');
  try {
    const faulty = sound.replace(find, () => replace);
    writeFileSync(path, faulty);
    const { outcome, ...rest } = (await runTests(caughtBy.file, [caughtBy.test]))(caughtBy.test);
    const verdict = outcome === 'failed' ? 'caught' : 'missed';
    return remember({ key: keyOf(bug), name: id, verdict, ...rest });
  } finally {
    writeFileSync(path, sound);
  }
}

function remember(result: Result): Result {
  known.set(result.key, result);
  appendFileSync(stateFile, `\n${JSON.stringify(result)}`);
  console.log(`${result.verdict}: ${result.name}${result.why && `: ${result.why}`}`);
  return result;
}

function withoutPlanting(bug: Bug, before: Result | undefined): { verdict: Verdict; why: string } {
  if (isStale(bug)) return { verdict: 'stale', why: `no longer applies to ${bug.file}` };
  return { verdict: before?.verdict ?? 'missed', why: before?.why ?? '' };
}

function isStale({ file, find }: Bug): boolean {
  const path = join(root, file);
  return !existsSync(path) || git(root, 'show', `HEAD:${file}`).split(find).length !== 2;
}

interface Outcome {
  outcome: 'passed' | 'failed' | 'none';
  why: string;
  seconds: number;
}

/** The part of Vitest's report that counts. */
interface Report {
  testResults: {
    assertionResults: {
      ancestorTitles: string[];
      title: string;
      status: string;
      failureMessages: string[];
    }[];
  }[];
}

async function runTests(file: string, tests: readonly string[]): Promise<(test: string) => Outcome> {
  const began = performance.now();
  const report = await reportOf(file, tests);
  const seconds = (performance.now() - began) / 1000;
  return (test) => {
    if (typeof report === 'string') return { outcome: 'none', why: report, seconds };
    const ran = report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ ancestorTitles, title }) => [...ancestorTitles, title].filter(Boolean).join(' > ') === test)
      .filter(({ status }) => status === 'passed' || status === 'failed');
    if (ran.length === 0) return { outcome: 'none', why: 'no such test', seconds };
    const failed = ran.find(({ status }) => status === 'failed');
    const why = failed?.failureMessages[0]?.split('\n')[0]?.slice(0, 120) ?? '';
    if (/(?:Test|Hook) timed out/.test(why)) return { outcome: 'none', why, seconds };
    return { outcome: failed ? 'failed' : 'passed', why, seconds };
  };
}

/** Runs the named tests of a file. Returns Vitest's report, or why there is none. */
async function reportOf(file: string, tests: readonly string[]): Promise<Report | string> {
  if (runsProgram(file))
    try {
      // So that the limit is that of the tests. Vitest builds only what has changed since.
      build();
    } catch {
      return 'does not build';
    }
  const output = join(copy, '..', 'report.json');
  rmSync(output, { force: true });
  const args = ['run', file, '-t', patternOf(tests), '--reporter=json', `--outputFile=${output}`];
  const vitest = [join(copy, 'node_modules/vitest/vitest.mjs'), ...args];
  const child = spawn(process.execPath, vitest, { cwd: copy, env, detached: true, stdio: 'ignore' });
  running = child.pid;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid);
  }, limit * tests.length);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  endGroup(child.pid);
  running = undefined;
  if (isLate) return `no result in ${(limit * tests.length) / 1000} seconds`;
  return existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')) : 'Vitest ended without a report';
}

function runsProgram(testFile: string): boolean {
  return testFile.startsWith('test/e2e/') || testFile.endsWith('.process.test.ts');
}

/** Versions of Vitest separate the parts of a name by a space or by ' > '. */
function patternOf(tests: readonly string[]): string {
  const escaped = (part: string): string => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `^ ?(?:${tests.map((test) => test.split(' > ').map(escaped).join(' (?:> )?')).join('|')})$`;
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function readState(): Map<string, Result> {
  // A test may have failed by chance.
  const good = jsonLines<Result>(stateFile).filter(({ verdict }) => verdict !== 'missed');
  return new Map(good.map((result) => [result.key, result]));
}

function keyOf(content: object): string {
  return createHash('sha256')
    .update(`${commit} ${JSON.stringify(content)}`)
    .digest('hex')
    .slice(0, 16);
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 }).trim();
}
