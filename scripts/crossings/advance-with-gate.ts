/** The scenario "advance with a gate": a real `stepfast mcp` from the sources is sent one `workflow_advance`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createTestProject } from '../../src/testing/index.ts';
import type { Call, ProcessRecord, Scenario } from './calls.ts';

const entry = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const gate = 'true';
const patienceMs = 120_000;
const workflow = `
name: gated
description: One step with a gate
steps:
  - { id: work, type: action, instructions: Work., gate: [{ run: '${gate}' }] }
  - { id: rest, type: action, instructions: Rest. }
`;

export const advanceWithGate: Scenario = {
  name: 'advance with a gate',
  leaves: {
    'store append': ({ file, name }: Call) => file.startsWith('store/') && name === 'append',
    'gate start': ({ command }: Call) => command === `sh -c ${gate}`,
  },
  async record() {
    const folder = mkdtempSync(join(tmpdir(), 'stepfast-crossings-'));
    using project = createTestProject({ '.stepfast/workflows/gated.yaml': workflow });
    project.trust('gated');
    try {
      await play(project.root, {
        ...project.env,
        NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'recorder.ts'))}`,
        STEPFAST_CROSSINGS: folder,
      });
      return await recordsFrom('first', folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Starts a run, begins to record, and advances. */
async function play(cwd: string, env: Record<string, string>): Promise<void> {
  const server = spawn(process.execPath, [entry, 'mcp'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  const exit = once(server, 'exit');
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method: string, params: object): Promise<ToolResult> => {
    id += 1;
    server.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { value, done } = await lines.next();
    const { result, error } = done ? { error: 'the server has ended' } : JSON.parse(value);
    if (!result || result.isError) throw new Error(`${method}: ${JSON.stringify(error ?? result)}`);
    return result;
  };
  const call = async (name: string, args: object): Promise<Record<string, unknown>> =>
    (await request('tools/call', { name, arguments: args })).structuredContent;
  const clientInfo = { name: 'crossings', version: '1' };
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  server.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { at } = await call('workflow_start', { workflow: 'gated', summary: 'work' });
  server.send('record');
  await once(server, 'message');
  const { step } = await call('workflow_advance', { at, output: 'done' });
  if (step !== 'rest') throw new Error(`the run is at ${step} after the advance`);
  server.stdin?.end();
  await exit;
}

interface ToolResult {
  structuredContent: Record<string, unknown>;
}

/** Of the process and of those that it started with the recorder: its gate runner may end after it. */
async function recordsFrom(id: string, folder: string): Promise<ProcessRecord[]> {
  const file = join(folder, `${id}.json`);
  for (const end = Date.now() + patienceMs; !existsSync(file); await setTimeout(20))
    if (Date.now() > end) throw new Error(`process ${id} has written no record`);
  const record: ProcessRecord = JSON.parse(readFileSync(file, 'utf8'));
  const runners = record.calls.filter(({ command }) => command?.includes(entry));
  const others = await Promise.all(runners.map((runner) => recordsFrom(runner.id as string, folder)));
  return [record, ...others.flat()];
}
