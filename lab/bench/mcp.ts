/**
 * The MCP server against what it is measured by, in one interleaved run: `npm run bench -- mcp`. Ratios count; times
 * are this machine's. Bounds: initialize 2.0, status 3.0, 800 tokens for all tools, 140 for one.
 */
import { execFileSync } from 'node:child_process';
import {
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { median, quantile, rounded } from '../figures.ts';
import { handshake, openClient, type RawClient } from './mcp/client.ts';

/** A run of typical length, because state grows with outputs. */
const runLength = 50;
const root = join(import.meta.dirname, '..', '..');

export interface McpFigures {
  initializeRatio: number;
  sdkInitializeRatio: number;
  toolsListRatio: number;
  sdkToolsListRatio: number;
  statusRatio: number;
  advanceRatio: number;
  advanceP99Ratio: number;
  toolTokens: number;
  largestToolTokens: number;
}

interface Programs {
  hand: string[];
  sdk: string[];
  ours: string[];
}

export async function bench({ spawns = 30, calls = 400 } = {}): Promise<McpFigures> {
  // Not the system's temporary directory, which may be in memory, where fsync is free.
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'bench-mcp-'));
  try {
    const env = { ...process.env, XDG_STATE_HOME: join(directory, 'state') };
    const project = join(directory, 'project');
    prepare(project);
    const programs = await bundle(directory);
    const at = { cwd: project, env };
    const starts = await measureStarts(programs, at, spawns);
    const { status, advance, tools } = await measureCalls(programs, at, calls);
    const tokens = tools.map((tool) => encode(JSON.stringify(tool)).length);
    const figures: McpFigures = {
      initializeRatio: ratio(starts.ours.initialize, starts.hand.initialize),
      sdkInitializeRatio: ratio(starts.sdk.initialize, starts.hand.initialize),
      toolsListRatio: ratio(starts.ours.list, starts.hand.list),
      sdkToolsListRatio: ratio(starts.sdk.list, starts.hand.list),
      statusRatio: ratio(status.ours, status.echo),
      advanceRatio: ratio(advance.ours, advance.append),
      advanceP99Ratio: rounded(quantile(advance.ours, 0.99) / quantile(advance.append, 0.99)),
      toolTokens: tokens.reduce((sum, each) => sum + each, 0),
      largestToolTokens: Math.max(...tokens),
    };
    print([
      ['spawn → initialize, hand-written', starts.hand.initialize],
      ['spawn → initialize, bare SDK', starts.sdk.initialize],
      ['spawn → initialize, stepfast mcp', starts.ours.initialize],
      ['spawn → tools/list, hand-written', starts.hand.list],
      ['spawn → tools/list, bare SDK', starts.sdk.list],
      ['spawn → tools/list, stepfast mcp', starts.ours.list],
      ['echo tool, bare SDK', status.echo],
      ['workflow_status', status.ours],
      ['append + fdatasync of a journal line', advance.append],
      ['workflow_advance', advance.ours],
    ]);
    return figures;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A separate repository, because this checkout may be a linked worktree, whose runs are in the main one. */
export function prepare(project: string): void {
  mkdirSync(join(project, '.stepfast', 'workflows'), { recursive: true });
  execFileSync('git', ['init', '-q', project]);
  const steps = '  - { id: polish, type: ralph, n: 1000, instructions: Improve the weakest part. }';
  writeFileSync(
    join(project, '.stepfast', 'workflows', 'bench.yaml'),
    `name: bench\ndescription: One long step\nsteps:\n${steps}\n`,
  );
}

async function bundle(directory: string): Promise<Programs> {
  await build({
    absWorkingDir: root,
    entryPoints: {
      hand: 'lab/bench/mcp/hand-written.ts',
      sdk: 'lab/bench/mcp/bare-sdk.ts',
    },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node22',
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
  });
  return {
    hand: [join(directory, 'hand.mjs')],
    sdk: [join(directory, 'sdk.mjs')],
    ours: [join(root, 'dist', 'cli.js'), 'mcp'],
  };
}

type Place = { cwd: string; env: NodeJS.ProcessEnv };
type Starts = { initialize: number[]; list: number[] };

async function measureStarts(
  programs: Programs,
  place: Place,
  spawns: number,
): Promise<Record<'hand' | 'sdk' | 'ours', Starts>> {
  const kinds = ['hand', 'sdk', 'ours'] as const;
  const empty = (): Starts => ({ initialize: [], list: [] });
  const starts = { hand: empty(), sdk: empty(), ours: empty() };
  // The first round warms up the file and compile caches and does not count.
  for (let round = 0; round <= spawns; round += 1) {
    for (const kind of kinds) {
      const began = performance.now();
      const client = openClient(programs[kind], place);
      await handshake(client);
      const initialized = performance.now();
      await client.request('tools/list');
      const listed = performance.now();
      await client.close();
      if (round === 0) continue;
      starts[kind].initialize.push(initialized - began);
      starts[kind].list.push(listed - began);
    }
  }
  return starts;
}

async function measureCalls(programs: Programs, place: Place, calls: number) {
  const ours = openClient(programs.ours, place);
  const sdk = openClient(programs.sdk, place);
  await handshake(ours);
  await handshake(sdk);
  const { tools } = await ours.request('tools/list');
  const call = async (client: RawClient, name: string, given: object): Promise<Record<string, unknown>> => {
    const result = await client.request('tools/call', { name, arguments: given });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result;
  };
  const begin = async (round: number) =>
    structureOf(
      await call(ours, 'workflow_start', { workflow: 'bench', summary: `bench ${round}`, new: true }),
    );
  let S = await begin(-1);
  const text = JSON.stringify(S);
  const runs = join(place.cwd, '.stepfast', 'runs');
  const journal = join(runs, S.run, 'journal.jsonl');
  const descriptor = openSync(join(runs, S.run, 'bench.tmp'), 'a');
  const status = { ours: [] as number[], echo: [] as number[] };
  const advance = { ours: [] as number[], append: [] as number[] };
  const warmUp = Math.ceil(calls / 10);
  for (let round = 0; round < calls + warmUp; round += 1) {
    if (round % runLength === 0) S = await begin(round);
    const times = [
      await timed(() => call(sdk, 'echo', { text })),
      await timed(() => call(ours, 'workflow_status', { at: S.at })),
      await timed(async () => {
        S = structureOf(await call(ours, 'workflow_advance', { output: `round ${round} is done`, at: S.at }));
      }),
      await timed(async () => {
        writeSync(descriptor, lineOf(journal));
        fdatasyncSync(descriptor);
      }),
    ];
    if (round < warmUp) continue;
    const [echo = 0, asked = 0, advanced = 0, appended = 0] = times;
    status.echo.push(echo);
    status.ours.push(asked);
    advance.ours.push(advanced);
    advance.append.push(appended);
  }
  await ours.close();
  await sdk.close();
  // As sent to the model.
  const known = (tools as { name: string; description: string; inputSchema: object }[]).map(
    ({ name, description, inputSchema }) => ({ name, description, inputSchema }),
  );
  return { status, advance, tools: known };
}

/** What a server says about a run is the structure that its text repeats. */
const structureOf = (result: Record<string, unknown>): { at: string; run: string } =>
  result.structuredContent as { at: string; run: string };

let line: string | undefined;
/** The journal's own last line, read once. */
function lineOf(journal: string): string {
  line ??= `\n${readFileSync(journal, 'utf8').trimEnd().split('\n').at(-1)}\n`;
  return line;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

const ratio = (ours: readonly number[], theirs: readonly number[]): number =>
  rounded(median(ours) / median(theirs));

function print(rows: readonly (readonly [string, readonly number[]])[]): void {
  console.log(`${''.padEnd(40)}${'p50'.padStart(10)}${'p99'.padStart(10)}`);
  for (const [name, times] of rows) {
    const [middle, high] = [median(times), quantile(times, 0.99)].map((ms) =>
      `${ms.toFixed(2)} ms`.padStart(10),
    );
    console.log(`${name.padEnd(40)}${middle}${high}`);
  }
}
