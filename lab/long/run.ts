/**
 * `npm run long [-- NAME ...] [--list] [--again] [--logs DIR]`: every suite at its full size, one part after the other, even
 * after a failure. What passed on a clean checkout of this commit isn't run again, so a run that was ended can be
 * started again. Each part's output is in its own file. At the end come a table, commands that replay failures, and one
 * JSON line. Agents whose suites passed are noted in `.ci/full.json`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { jsonLines } from '../json-lines.ts';
import { figuresIn, type Outcome, replaysIn, tableOf } from './outcome.ts';
import { type Part, suites } from './suites.ts';

process.chdir(join(import.meta.dirname, '../..'));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    logs: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Suites: ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const wanted = Object.entries(suites).flatMap(([suite, parts]) =>
  positionals.length === 0 || positionals.includes(suite)
    ? parts.map((part, n) => ({ suite, part, name: parts.length === 1 ? suite : `${suite}-${n + 1}` }))
    : [],
);
if (values.list) {
  for (const { name, part } of wanted) console.log(`${name.padEnd(24)}${shown(part)}`);
  process.exit();
}

/** A suite that hangs. */
const limitMs = 3_600_000;
const tailLines = 40;
/** Runs a suite beside busy loops, which end with this shell. */
const besideLoops = `
load=$1
shift
for ((n = 0; n < load; n++)); do while kill -0 $$ 2>/dev/null; do :; done & done
"$@"
exit`;
/** The exit status of a suite whose inputs are missing. */
const notRunStatus = 77;
const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
const commit = git('rev-parse', 'HEAD');
const logs =
  values.logs ??
  join(process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache/stepfast-ci'), 'long', commit.slice(0, 12));
const results = join(logs, 'results.jsonl');
let recorded = isClean();
/** When a suite exits, Linux ends all processes in its namespace, including detached ones. Needs root. */
const unshare = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const namespace = spawnSync('env', [...unshare, 'true']).status === 0 ? unshare : [];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
mkdirSync(logs, { recursive: true });
console.log(`Logs are in ${logs}${recorded ? '' : '. The checkout has changes, so every suite runs.'}`);
ensureBuilt();
const before = new Map(passedBefore().map((outcome) => [outcome.name, outcome]));
const outcomes: Outcome[] = [];
for (const { name, part } of wanted) outcomes.push(before.get(name) ?? (await play(name, part)));

console.log(`\n${tableOf(outcomes)}`);
for (const { replays } of outcomes) for (const line of replays) console.log(line);
const failed = outcomes.filter(({ passed, notRun }) => !passed && !notRun).length;
const passed = outcomes.filter((outcome) => outcome.passed).length;
noteAgents();
console.log(JSON.stringify({ passed, failed, suites: outcomes }));
if (failed > 0) process.exitCode = 1;

function passedBefore(): Outcome[] {
  if (!recorded || values.again) return [];
  return jsonLines<Outcome & { commit: string }>(results).filter(
    (outcome) => outcome.passed && outcome.commit === commit,
  );
}

function shown({ random = false, node, load = 0, args }: Part): string {
  const head = `${random ? 'STEPFAST_RANDOM_SEEDS=1 ' : ''}node${node ?? ''} ${args.join(' ')}`;
  return load === 0 ? head : `${head} (beside ${load} busy loops)`;
}

async function play(name: string, part: Part): Promise<Outcome> {
  const log = join(logs, `${name}.log`);
  const state = join(logs, `${name}.jsonl`);
  if (values.again || !recorded) rmSync(state, { force: true });
  const started = performance.now();
  let status: number | null = null;
  let tries = 0;
  while (status !== 0 && status !== notRunStatus && tries < (part.tries ?? 1)) {
    tries += 1;
    process.stdout.write(tries === 1 ? `${name.padEnd(24)}` : ' retry');
    status = await run({ ...part, args: part.args.map((arg) => arg.replace('{state}', () => state)) }, log);
  }
  const passed = status === 0;
  const notRun = status === notRunStatus;
  const seconds = Math.round((performance.now() - started) / 1000);
  const text = stripVTControlCharacters(readFileSync(log, 'utf8'));
  console.log(` ${passed ? 'ok' : notRun ? 'not run' : 'FAILED'}  ${seconds} s`);
  if (!passed && !notRun) console.log(text.trimEnd().split('\n').slice(-tailLines).join('\n'));
  const replays = passed ? [] : replaysIn(text);
  const outcome = { name, passed, notRun, seconds, tries, figures: figuresIn(text), replays };
  if (stillRecorded()) appendFileSync(results, `\n${JSON.stringify({ commit, ...outcome })}`);
  return outcome;
}

async function run({ args, random, node, load = 0 }: Part, log: string): Promise<number | null> {
  const output = openSync(log, 'w');
  const stdio = ['ignore', output, output] satisfies ['ignore', number, number];
  const env: NodeJS.ProcessEnv = { ...process.env, ...(random ? { STEPFAST_RANDOM_SEEDS: '1' } : {}) };
  try {
    if (node !== undefined) {
      const folder = execFileSync('bash', ['.ci/node', String(node)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', output],
      });
      env.PATH = `${folder.trim()}${delimiter}${env.PATH}`;
    }
    const command = [...namespace, 'bash', '-c', besideLoops, 'bash', `${load}`, 'node', ...args];
    const child = spawn('env', command, { env, detached: true, stdio });
    // The suite's process group, and with it its namespace.
    const end = (): void => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nothing of it is left.
      }
    };
    const timer = setTimeout(end, limitMs);
    process.once('exit', end);
    const [status] = await once(child, 'exit');
    clearTimeout(timer);
    process.off('exit', end);
    end();
    return status;
  } catch (error) {
    appendFileSync(log, `${error}\n`);
    return null;
  } finally {
    closeSync(output);
  }
}

/** Without the file that a run writes itself, which changes no result. */
function isClean(): boolean {
  const changes = git('status', '--porcelain', '--', '.', ':!.ci/full.json');
  return changes === '' && git('rev-parse', 'HEAD') === commit;
}

/** Once the checkout has changed, results say nothing about the commit. */
function stillRecorded(): boolean {
  if (recorded && !isClean()) {
    recorded = false;
    console.log('The checkout has changed, so results are no longer recorded.');
  }
  return recorded;
}

/** CI runs an agent's suite in full again if its inputs change after this commit. */
function noteAgents(): void {
  if (!stillRecorded()) return;
  const file = '.ci/full.json';
  const noted: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'));
  const passed = outcomes.flatMap((outcome) => (outcome.passed ? [outcome.name] : []));
  for (const folder of globSync('test/e2e/*/')) {
    const agent = folder.split('/').at(-1) ?? '';
    if (passed.includes(`agent-${agent}`)) noted[agent] = commit;
  }
  writeFileSync(file, `${JSON.stringify(noted, null, 2)}\n`);
}
