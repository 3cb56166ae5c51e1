import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'esbuild';
import { createTestFolder, type TestProject } from '../../src/testing/index.ts';

export const eras = ['2025', '2026'] as const;
export type Era = (typeof eras)[number];

/** The program as it is published, in one piece: it starts several times faster than its sources. */
export const entry = await bundled();

async function bundled(): Promise<string> {
  const outdir = mkdtempSync(join(tmpdir(), 'stepfast-mcp-bundle-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    absWorkingDir: join(import.meta.dirname, '..', '..'),
    entryPoints: { entry: 'test/mcp/entry.ts' },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    alias: { yaml: './node_modules/yaml/browser/index.js' },
  });
  return join(outdir, 'entry.mjs');
}

export interface Connection {
  client: Client;
  call(tool: string, given?: Record<string, unknown>): Promise<Called>;
  close(): Promise<void>;
}

export interface Called {
  isError: boolean;
  text: string;
  /** The structure, or an empty one. */
  S: Record<string, unknown> & { at: string; run: string };
}

/** A folder with these workflows; gates run in the bundled program. */
export function createProject(workflows: Record<string, string>): TestProject {
  const files = Object.entries(workflows).map(([name, text]) => [`.stepfast/workflows/${name}.yaml`, text]);
  const project = createTestFolder(Object.fromEntries(files));
  const runner = { program: process.execPath, args: [entry, 'gate-runner'] };
  return { ...project, runtime: (options) => project.runtime({ runner, ...options }) };
}

/** A server process of its own, spoken to by the real client. */
export async function connect(
  project: Pick<TestProject, 'root' | 'env'>,
  era: Era = '2025',
  { args = [], cwd = project.root }: { args?: readonly string[]; cwd?: string } = {},
): Promise<Connection> {
  const client = new Client(
    { name: 'test-host', version: '1' },
    era === '2026' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp', ...args],
    cwd,
    env: project.env,
  });
  await client.connect(transport);
  return {
    client,
    close: () => client.close(),
    async call(tool, given = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name: tool, arguments: given });
      const [first] = content;
      // Tests read whatever keys they expect.
      const S = (structuredContent ?? {}) as Called['S'];
      return { isError: isError === true, text: first?.type === 'text' ? first.text : '', S };
    },
  };
}
