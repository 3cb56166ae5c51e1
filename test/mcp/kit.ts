import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'esbuild';
import { codedMessagesInBundle } from '../../scripts/build/messages.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';

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
    plugins: [codedMessagesInBundle],
  });
  return join(outdir, 'entry.mjs');
}

export interface Project {
  root: string;
  env: Record<string, string>;
  /** The store as the server sees it, for what tests look at and people do. */
  runtime(): Runtime;
  /** As a person who read the workflow's commands. */
  trust(workflow: string): void;
  remove(): void;
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

/** A directory with workflows, and a user of its own. */
export function createProject(workflows: Record<string, string>): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-mcp-')));
  const directory = join(root, 'project');
  mkdirSync(join(directory, '.stepfast', 'workflows'), { recursive: true });
  for (const [name, text] of Object.entries(workflows))
    writeFileSync(join(directory, '.stepfast', 'workflows', `${name}.yaml`), text);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: root,
    XDG_STATE_HOME: join(root, 'state'),
    TMPDIR: tmpdir(),
  };
  const runtime = (): Runtime =>
    createRuntime({ cwd: directory, env, home: root, runner: { program: process.execPath, args: [entry] } });
  return {
    root: directory,
    env,
    runtime,
    trust(workflow) {
      const { hash } = runtime().resolve(workflow);
      runtime().trust.give({ hash, workflow, now: 0, by: 'person' });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A server process of its own, spoken to by the real client. */
export async function connect(
  project: Pick<Project, 'root' | 'env'>,
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
