/**
 * The MCP server against the least that could work, in one interleaved run: `npm run bench -- mcp`. Its start-up is
 * compared with a hand-written server, `workflow_status` with the echo tool of the SDK, and `workflow_advance` with an
 * append to a file and its fdatasync.
 */
import { fdatasyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { createTestProject, type TestProject } from '../../src/testing/index.ts';
import { median, printTable, quantile, rounded, takeTurns, timed } from '../figures.ts';
import { handshake, openClient, type RawClient } from './mcp/client.ts';

const spawns = 30;
const calls = 400;
/** A run of typical length, because state grows with outputs. */
const runLength = 50;
const root = join(import.meta.dirname, '../..');
const workflow = `name: bench
description: One long step
steps:
  - { id: polish, type: ralph, n: 1000, instructions: Improve the weakest part. }
`;

export async function bench(): Promise<object> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'bench-mcp-'));
  using project = createDiskProject(directory);
  try {
    await build({
      ...{ absWorkingDir: root, outdir: directory, outExtension: { '.js': '.mjs' } },
      entryPoints: { hand: 'lab/bench/mcp/hand-written.ts', sdk: 'lab/bench/mcp/bare-sdk.ts' },
      ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node22', minify: true },
    });
    const open = (...args: string[]): RawClient => openClient(args, { cwd: project.root, env: project.env });
    const hand = () => open(join(directory, 'hand.mjs'));
    const sdk = () => open(join(directory, 'sdk.mjs'));
    const ours = () => open(join(root, 'dist/cli.js'), 'mcp');
    const start = (program: () => RawClient) => async (): Promise<number> => {
      const started = performance.now();
      const client = program();
      await handshake(client);
      const ms = performance.now() - started;
      await client.close();
      return ms;
    };
    const starts = await takeTurns(spawns, { hand: start(hand), sdk: start(sdk), ours: start(ours) });
    const { tools, ...times } = await measureCalls(project, ours(), sdk());
    printTable([
      ['', 'p50', 'p99'],
      ...Object.entries({ ...starts, ...times }).map(([name, all]) => [
        name,
        ...[median(all), quantile(all, 0.99)].map((ms) => `${ms.toFixed(2)} ms`),
      ]),
    ]);
    const ratio = (one: readonly number[], other: readonly number[]) => rounded(median(one) / median(other));
    const tokens = tools.map((tool) => encode(JSON.stringify(tool)).length);
    return {
      initializeRatio: ratio(starts.ours, starts.hand),
      statusRatio: ratio(times.status, times.echo),
      advanceRatio: ratio(times.advance, times.append),
      toolTokens: tokens.reduce((sum, each) => sum + each, 0),
      largestToolTokens: Math.max(...tokens),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Not in the system's temporary directory, which may be in memory, where fsync is free. */
export function createDiskProject(directory: string): TestProject {
  process.env.TMPDIR = directory;
  return createTestProject({ '.stepfast/workflows/bench.yaml': workflow });
}

async function measureCalls({ root: cwd }: TestProject, ours: RawClient, sdk: RawClient) {
  await handshake(ours);
  await handshake(sdk);
  const { tools } = await ours.request('tools/list');
  const call = async (client: RawClient, name: string, given: object): Promise<{ at: string }> => {
    const result = await client.request('tools/call', { name, arguments: given });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result.structuredContent as { at: string };
  };
  const begin = (round: number) =>
    call(ours, 'workflow_start', { workflow: 'bench', summary: `bench ${round}`, new: true });
  let { at } = await begin(-1);
  const line = `${'x'.repeat(1000)}\n`;
  const file = openSync(join(cwd, 'bench.tmp'), 'a');
  const times = await takeTurns(calls, {
    async echo(round) {
      if (round % runLength === 0) ({ at } = await begin(round));
      return await timed(() => call(sdk, 'echo', { text: line }));
    },
    status: () => timed(() => call(ours, 'workflow_status', { at })),
    advance: (round) =>
      timed(async () => {
        ({ at } = await call(ours, 'workflow_advance', { output: `round ${round} is done`, at }));
      }),
    append: () =>
      timed(() => {
        writeSync(file, line);
        fdatasyncSync(file);
      }),
  });
  await ours.close();
  await sdk.close();
  // As sent to the model.
  const known = (tools as { name: string; description: string; inputSchema: object }[]).map(
    ({ name, description, inputSchema }) => ({ name, description, inputSchema }),
  );
  return { ...times, tools: known };
}
