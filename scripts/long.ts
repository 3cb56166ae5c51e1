/**
 * `npm run long [-- NAME ...] [--list] [--full] [--logs DIR]`: suites that are too slow or too noisy for every change. They run
 * one after the other, even after a failure: about 12 minutes on two idle cores, several hours with `--full`. Each suite's
 * output is in its own file; at the end come a table, commands that replay failures, and one JSON line.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { ensureBuilt } from './ensure-built.ts';
import { figuresIn, type Outcome, replaysIn, tableOf } from './long/outcome.ts';

interface Suite {
  command: readonly string[];
  /** Replaces `command` with --full. */
  full?: readonly string[];
  /** Measures ratios of times, which other load on the machine distorts. */
  tries?: number;
  /** Uses new random values each time. */
  random?: boolean;
  /** Runs on another Node version. */
  node?: number;
}

const root = join(import.meta.dirname, '..');
process.chdir(root);
const tailLines = 40;
const vitest = 'node_modules/vitest/vitest.mjs';
const mutated = ['handle', 'may-stop'];

const suites: Record<string, Suite> = {
  'tests-node22': { command: [vitest, 'run'], node: 22 },
  'tests-node26': { command: [vitest, 'run'], node: 26 },
  'property-tests': {
    // The configuration excludes test/e2e.
    command: [vitest, 'run', ...propertyTests('src'), ...propertyTests('test')],
    random: true,
  },
  'property-tests-server': {
    command: [vitest, 'run', '--project', 'e2e', ...propertyTests('test/e2e')],
    random: true,
  },
  'driver-hosts': {
    command: [
      ...[vitest, 'run', '--project', 'e2e'],
      ...['codex', 'copilot', 'opencode'].flatMap((host) =>
        ['decisions', 'stubborn', 'worktree'].map((name) => `test/e2e/${host}/driver-${name}.test.ts`),
      ),
    ],
  },
  properties: script('properties --runs 20000', 'properties --runs 500000', { random: true }),
  fuzz: script('fuzz definition --runs 20000', 'fuzz definition --runs 200000', { random: true }),
  sim: script('sim --histories 5000', 'sim --histories 100000', { random: true }),
  kill: script('kill --kills 200 --race-steps 1000', 'kill --kills 2000 --race-steps 4000', { random: true }),
  'driver-kill': script('driver-kill --kills 40', 'driver-kill --kills 200', { random: true }),
  'bench-mcp': script('bench mcp', undefined, { tries: 3 }),
  'bench-hook': script('bench hook', undefined, { tries: 3 }),
  'bench-tokens': script('bench tokens'),
  'bench-context': script('bench context --runs 500', 'bench context', { tries: 3 }),
  'bench-window': script('bench window'),
  'bench-tree': script('bench tree', undefined, { tries: 3 }),
  'bench-server': script('bench server --small', 'bench server', { tries: 3 }),
  'bench-claims': script('bench claims --rounds 3', 'bench claims', { tries: 3 }),
  dashboard: script('dashboard --small', 'dashboard', { tries: 3 }),
  fleet: script('fleet --agents 500 --minutes 5 --every 20', 'fleet'),
  faults: script('faults --workflows 300 --tasks 300', 'faults'),
  attack: script('attack'),
  stubborn: script('stubborn --sessions 40', 'stubborn --sessions 200', { random: true }),
  survive: script('survive --compactions 6', 'survive'),
  seeds: script('seeds'),
  mutation: {
    command: [
      'node_modules/.bin/stryker',
      'run',
      '--mutate',
      mutated.map((name) => `src/machine/${name}.ts`).join(),
    ],
    full: ['node_modules/.bin/stryker', 'run'],
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    logs: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Suites: ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
if (values.list) {
  for (const [name, suite] of Object.entries(suites)) console.log(`${name.padEnd(24)}${shown(suite)}`);
  process.exit();
}

/** Timeout for a suite that hangs. */
const limitMs = (values.full ? 12 : 1) * 3_600_000;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const logs = values.logs ?? mkdtempSync(join(tmpdir(), 'stepfast-long-'));
mkdirSync(logs, { recursive: true });
console.log(`Logs are in ${logs}`);
ensureBuilt();
const outcomes: Outcome[] = [];
for (const [name, suite] of Object.entries(suites))
  if (positionals.length === 0 || positionals.includes(name)) outcomes.push(await play(name, suite));
console.log(`\n${tableOf(outcomes)}`);
for (const { replays } of outcomes) for (const line of replays) console.log(line);
const failed = outcomes.filter(({ passed }) => !passed).length;
console.log(JSON.stringify({ passed: outcomes.length - failed, failed, suites: outcomes }));
if (failed > 0) process.exitCode = 1;

function script(usual: string, full?: string, more: Partial<Suite> = {}): Suite {
  const command = (line: string): string[] => {
    const [name, ...args] = line.split(' ');
    return [`lab/${name}/run.ts`, ...args];
  };
  return { command: command(usual), ...(full === undefined ? {} : { full: command(full) }), ...more };
}

function propertyTests(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('fc.assert('));
}

function argsOf({ command, full = command }: Suite): readonly string[] {
  return values.full ? full : command;
}

function shown(suite: Suite): string {
  const { random = false, node = '' } = suite;
  return `${random ? 'STEPFAST_RANDOM_SEEDS=1 ' : ''}node${node} ${argsOf(suite).join(' ')}`;
}

async function play(name: string, suite: Suite): Promise<Outcome> {
  const log = join(logs, `${name}.log`);
  const started = performance.now();
  let passed = false;
  let tries = 0;
  while (!passed && tries < (suite.tries ?? 1)) {
    tries += 1;
    process.stdout.write(tries === 1 ? `${name.padEnd(24)}` : ' retry');
    passed = await run(suite, log);
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  const text = stripVTControlCharacters(readFileSync(log, 'utf8'));
  console.log(` ${passed ? 'ok' : 'FAILED'}  ${seconds} s`);
  if (!passed) console.log(text.trimEnd().split('\n').slice(-tailLines).join('\n'));
  return { name, passed, seconds, tries, figures: figuresIn(text), replays: passed ? [] : replaysIn(text) };
}

async function run(suite: Suite, log: string): Promise<boolean> {
  const { random, node } = suite;
  const output = openSync(log, 'w');
  const env: NodeJS.ProcessEnv = { ...process.env, ...(random ? { STEPFAST_RANDOM_SEEDS: '1' } : {}) };
  try {
    if (node !== undefined) {
      const folder = execFileSync('bash', ['.ci/node', String(node)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', output],
      });
      env.PATH = `${folder.trim()}${delimiter}${env.PATH}`;
    }
    const child = spawn('node', argsOf(suite), { env, detached: true, stdio: ['ignore', output, output] });
    // Kills the whole process group of the suite.
    const end = (): void => void (child.pid && process.kill(-child.pid));
    const timer = setTimeout(end, limitMs);
    process.once('exit', end);
    const [status] = await once(child, 'exit').finally(() => {
      clearTimeout(timer);
      process.off('exit', end);
    });
    return status === 0;
  } catch (error) {
    writeSync(output, `${error}\n`);
    return false;
  } finally {
    closeSync(output);
  }
}
