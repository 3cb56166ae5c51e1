/**
 * Fault injection for the team server: `npm run faults [-- --workflows N] [--tasks N] [--only SUITE,...]
 * [--seed N] [--small] [--plant no-key|async-commit]`. Fails if an invariant is violated. If a suite
 * was skipped, it exits with 77: not run.
 */
import { spawnSync } from 'node:child_process';
import { options } from '../options.ts';
import { claims } from './claims.ts';
import { crash } from './crash.ts';
import { disk, privateMounts } from './disk.ts';
import { network } from './network.ts';
import { pool } from './pool.ts';
import type { Outcome, SuiteOptions } from './suite.ts';

/** `inside`: in a private mount namespace. */
const defaults = { workflows: 0, tasks: 0, only: '', seed: 1, small: false, plant: '', inside: false };
const asked = options(defaults);
/** So that CI and `long` don't count it as passed. */
const notRunStatus = 77;
const plants = ['no-key', 'async-commit'] as const;
const plant = plants.find((each) => each === asked.plant);
if (asked.plant !== '' && !plant) fail(`--plant is one of: ${plants.join(', ')}`);
const workflows = asked.workflows || (asked.small ? 150 : 5000);
const tasks = asked.tasks || (asked.small ? 200 : 2000);
const whole: SuiteOptions = { workflows, tasks, seed: asked.seed, plant };
const tenth = { ...whole, workflows: Math.max(50, Math.round(workflows / 10)) };

const suites: Record<string, [about: string, play: () => Promise<Outcome> | Outcome]> = {
  crash: ['PostgreSQL stopped immediately every 2 s, one of two servers killed', () => crash(whole)],
  claims: ['64 agents claim tasks, one claim in ten is of one that dies', () => claims(whole)],
  pool: ['others take every connection of the database', () => pool(tenth)],
  disk: ['the disk of the database is full', () => (asked.inside ? disk(tenth) : onFullDisk())],
  network: ['everything is late, connections break', () => network(tenth)],
};

const chosen = asked.only === '' ? Object.keys(suites) : asked.only.split(',');
const counted: Record<string, object> = {};
let broken = 0;
let isSkipped = false;
for (const name of chosen) {
  const [about, play] =
    (Object.hasOwn(suites, name) && suites[name]) ||
    fail(`--only names some of: ${Object.keys(suites).join(', ')}`);
  console.log(`${name}: ${about}`);
  const { counts, findings, skipped } = await play();
  if (skipped !== undefined) console.log(`  skipped: ${skipped}`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${what.padEnd(18)}${String(count).padStart(8)}`);
  for (const { kind, what } of findings.slice(0, 10)) console.log(`  ${kind}: ${what}`);
  if (findings.length > 10) console.log(`  and ${findings.length - 10} more`);
  counted[name] = skipped === undefined ? { ...counts, findings: findings.length } : { skipped };
  broken += findings.length;
  isSkipped ||= skipped !== undefined;
}
console.log(JSON.stringify({ broken, ...counted }));
if (broken > 0) process.exitCode = 1;
else if (isSkipped) process.exitCode = notRunStatus;

/** Runs the suite again in a private mount namespace, where it can create a small disk. Its process prints findings. */
function onFullDisk(): Outcome {
  if (!privateMounts()) return { counts: {}, findings: [], skipped: 'no file system can be mounted here' };
  const args = ['--only', 'disk', '--inside', '--workflows', `${workflows}`, '--seed', `${asked.seed}`];
  const { stdout } = spawnSync(
    'unshare',
    ['-m', process.execPath, import.meta.filename, ...args, ...(plant ? ['--plant', plant] : [])],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new Error(`the full-disk suite failed:\n${stdout}`);
  const { findings: found, ...counts } = JSON.parse(last).disk;
  const told = [...stdout.matchAll(/^ {2}(?:lost|twice|wrong): (.*)$/gm)];
  const findings = Array.from({ length: found }, (_, index) => ({
    kind: 'wrong' as const,
    what: told[index]?.[1] ?? 'not shown',
  }));
  return { counts, findings };
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
