/**
 * How much hooks and advances cost compared with another commit: `npm run drift -- --against COMMIT`, or the
 * folder of a checkout; `--only WORD`: hooks with it in their name. Both builds take turns within each round, and
 * processor time counts, so that a busy machine changes no ratio. Linux only.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { starts, tools } from '../bench/hook.ts';
import { type Kind, kinds } from '../bench/hook-ground.ts';
import { handshake, openClient } from '../bench/mcp/client.ts';
import { createDiskProject } from '../bench/mcp.ts';
import { median, timed } from '../figures.ts';

interface Side extends Disposable {
  /** One fire of each hook. */
  hooks: Map<string, () => void>;
  server: number;
  begin(): Promise<void>;
  advance(): Promise<void>;
}

const fires = 4;
/** A run of typical length, because state grows with outputs. */
const advances = 50;
const root = join(import.meta.dirname, '../..');
// Not the system's temporary directory, which may be in memory, where fsync is free.
const cache = join(process.env.STEPFAST_CI_CACHE ?? join(homedir(), '.cache', 'stepfast-ci'), 'drift');
const tickMs = 1000 / Number(execFileSync('getconf', ['CLK_TCK']));
const { values } = parseArgs({
  options: {
    against: { type: 'string', default: 'HEAD' },
    rounds: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
  },
});
mkdirSync(cache, { recursive: true });
const line = openSync(join(cache, 'line.tmp'), 'w');
using before = await openSide(checkout(values.against));
using now = await openSide(root);
const samples = new Map<string, { before: number[]; now: number[]; ratio: number[] }>();
// The first round warms up caches.
for (let round = 0; round <= Number(values.rounds); round += 1) {
  if (round === 1) samples.clear();
  for (const [name, hook] of now.hooks)
    if (name.includes(values.only)) measureHook(`${name}, × node`, before.hooks.get(name) ?? hook, hook);
  await measureAdvances();
}
console.log(['medians of the rounds'.padEnd(34), 'before', 'now', 'now/before'].join('\t'));
for (const [name, each] of samples)
  console.log([name.padEnd(34), ...Object.values(each).map((one) => median(one).toFixed(2))].join('\t'));

function measureHook(name: string, old: () => void, current: () => void): void {
  const node = (): void => void spawnSync(process.execPath, ['-e', '0']);
  const times = [node, old, current, current, old, node].map(childrenCpu);
  const sum = (...at: number[]): number => at.reduce((total, index) => total + (times[index] ?? 0), 0);
  add(name, sum(1, 4) / sum(0, 5), sum(2, 3) / sum(0, 5));
}

async function measureAdvances(): Promise<void> {
  const sides = [before, now];
  for (const side of sides) await side.begin();
  const from = sides.map(({ server }) => cpuIn(server, 12));
  const walls = { before: [] as number[], now: [] as number[], line: [] as number[] };
  for (let index = 0; index < advances; index += 1) {
    walls.before.push(await timed(before.advance));
    walls.now.push(await timed(now.advance));
    walls.line.push(
      await timed(async () => {
        writeSync(line, `${'x'.repeat(400)}\n`);
        fdatasyncSync(line);
      }),
    );
  }
  const append = median(walls.line);
  add('advance, × a journal line (wall)', median(walls.before) / append, median(walls.now) / append);
  const [old = 0, current = 0] = sides.map(({ server }, index) => cpuIn(server, 12) - (from[index] ?? 0));
  add('advance, ms of processor', old / advances, current / advances);
}

function add(name: string, old: number, current: number): void {
  const sample = samples.get(name) ?? { before: [], now: [], ratio: [] };
  samples.set(name, sample);
  sample.before.push(old);
  sample.now.push(current);
  sample.ratio.push(current / old);
}

/** A worktree of the commit with our packages, so that only our code makes a difference. */
function checkout(against: string): string {
  if (existsSync(join(against, 'package.json'))) return resolve(against);
  const commit = execFileSync('git', ['rev-parse', '--verify', `${against}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const tree = join(cache, commit);
  const packages = join(tree, 'node_modules');
  if (existsSync(packages)) return tree;
  // A killed run leaves an incomplete tree. `npm ci` removes the tree, but Git still has it in its list.
  rmSync(tree, { recursive: true, force: true });
  execFileSync('git', ['worktree', 'prune'], { cwd: root });
  execFileSync('git', ['worktree', 'add', '--detach', tree, commit], { cwd: root });
  const incomplete = `${packages}.incomplete`;
  mkdirSync(incomplete);
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(incomplete, name));
  renameSync(incomplete, packages);
  return tree;
}

async function openSide(tree: string): Promise<Side> {
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: tree });
  const ground: typeof import('../bench/hook-ground.ts') = await import(
    // Older commits have it in another folder.
    ['lab', 'scripts'].map((folder) => join(tree, folder, 'bench/hook-ground.ts')).find(existsSync) ?? ''
  );
  const made = new DisposableStack();
  const opened = async (kind: Kind) => made.use(await ground.createGround(kind));
  const hooks = new Map<string, () => void>();
  for (const kind of kinds)
    for (const [name, fire] of Object.entries({
      ...starts(kind, await opened(kind), await opened(kind)),
      ...tools(kind, await opened(kind)),
    })) {
      let round = 0;
      hooks.set(name, () => {
        fire(round);
        round += 1;
      });
    }
  const { root: cwd, env } = made.use(createDiskProject(cache));
  const client = openClient([join(tree, 'dist', 'cli.js'), 'mcp'], { cwd, env });
  made.defer(() => process.kill(client.pid));
  await handshake(client);
  let at = '';
  const call = async (name: string, given: object): Promise<void> => {
    const { isError, structuredContent } = await client.request('tools/call', { name, arguments: given });
    if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
    at = (structuredContent as { at: string }).at;
  };
  return {
    hooks,
    server: client.pid,
    begin: () => call('workflow_start', { workflow: 'bench', summary: 'bench' }),
    advance: () => call('workflow_advance', { output: `done at ${performance.now()}`, at }),
    [Symbol.dispose]: () => made.dispose(),
  };
}

/** Processor time of the processes that `act` started. */
function childrenCpu(act: () => void): number {
  const from = cpuIn('self', 14);
  for (let index = 0; index < fires; index += 1) act();
  return cpuIn('self', 14) - from;
}

/** Field 12: its own time; 14: that of its children. The second field, a name, may have spaces and does not count. */
function cpuIn(pid: number | 'self', field: 12 | 14): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/ \(.*\)/, '')
    .split(' ');
  return (Number(fields[field]) + Number(fields[field + 1])) * tickMs;
}
