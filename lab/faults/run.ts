/**
 * Fault injection for the team server: `npm run faults [-- --workflows N] [--tasks N] [--only SUITE]
 * [--seed N] [--small] [--plant no-key|async-commit]`. Fails if an invariant is violated.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { claims } from './claims.ts';
import { crash } from './crash.ts';
import { disk, privateMounts } from './disk.ts';
import type { Plant } from './drive.ts';
import { network } from './network.ts';
import { pool } from './pool.ts';
import type { Outcome, SuiteOptions } from './suite.ts';

const { values } = parseArgs({
  options: {
    workflows: { type: 'string' },
    tasks: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    plant: { type: 'string' },
    /** Set inside a private mount namespace. */
    inside: { type: 'boolean', default: false },
  },
});
const plants = ['no-key', 'async-commit'];
if (values.plant !== undefined && !plants.includes(values.plant))
  fail(`--plant is one of: ${plants.join(', ')}`);
const workflows = Number(values.workflows ?? (values.small ? 150 : 5000));
const options: SuiteOptions = {
  workflows,
  tasks: Number(values.tasks ?? (values.small ? 200 : 2000)),
  seed: Number(values.seed),
  // Checked above.
  plant: values.plant as Plant,
};
/** Suites that are not named run at a tenth of the size. */
const tenth = { ...options, workflows: Math.max(50, Math.round(workflows / 10)) };

const suites: Record<string, { about: string; play(): Promise<Outcome> }> = {
  crash: {
    about: 'PostgreSQL stopped immediately every 2 s, one of two servers killed',
    play: () => crash(options),
  },
  claims: {
    about: '64 agents claim tasks, one claim in ten is of one that dies',
    play: () => claims(options),
  },
  pool: { about: 'others take every connection of the database', play: () => pool(tenth) },
  disk: { about: 'the disk of the database is full', play: () => onFullDisk() },
  network: { about: 'everything is late, connections break', play: () => network(tenth) },
};

const chosen = values.only === undefined ? Object.keys(suites) : values.only.split(',');
const counted: Record<string, object> = {};
let broken = 0;
for (const name of chosen) {
  const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
  if (!suite) fail(`--only names one of: ${Object.keys(suites).join(', ')}`);
  console.log(`${name}: ${suite.about}`);
  const { counts, findings, skipped } = await suite.play();
  if (skipped !== undefined) console.log(`  skipped: ${skipped}`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${what.padEnd(18)}${String(count).padStart(8)}`);
  for (const { kind, what } of findings.slice(0, 10)) console.log(`  ${kind}: ${what}`);
  if (findings.length > 10) console.log(`  and ${findings.length - 10} more`);
  const of = (kind: string): number => findings.filter((finding) => finding.kind === kind).length;
  counted[name] =
    skipped === undefined
      ? { ...counts, lost: of('lost'), twice: of('twice'), wrong: of('wrong') }
      : { skipped };
  broken += findings.length;
}
console.log(JSON.stringify({ broken, ...counted }));
if (broken > 0) process.exitCode = 1;

/** Runs the suite again in a private mount namespace, where it can create a small disk. */
async function onFullDisk(): Promise<Outcome> {
  if (values.inside) return disk(tenth);
  if (!privateMounts()) return { counts: {}, findings: [], skipped: 'no file system can be mounted here' };
  const args = ['--only', 'disk', '--inside', '--workflows', String(workflows), '--seed', values.seed];
  const plant = values.plant === undefined ? [] : ['--plant', values.plant];
  const { stdout, status } = spawnSync(
    'unshare',
    ['-m', process.execPath, import.meta.filename, ...args, ...plant],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (status !== 0 && !last.startsWith('{')) throw new Error(`the full-disk suite failed:\n${stdout}`);
  const { lost, twice, wrong, ...counts } = JSON.parse(last).disk;
  const told = stdout.split('\n').flatMap((line) => /^ {2}(lost|twice|wrong): (.*)$/.exec(line)?.[2] ?? []);
  const findings = Array.from({ length: lost + twice + wrong }, (_, index) => ({
    kind: 'wrong' as const,
    what: told[index] ?? 'see above',
  }));
  return { counts, findings };
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
