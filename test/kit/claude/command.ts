/** How the real `claude` is started: nothing of this machine's user, no traffic but to the scripted model. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudeBinary } from '../../../scripts/install-hosts.ts';
import { isolation, type Network, systemPath } from './network.ts';
import type { ScriptedModel } from './scripted-model.ts';

export interface McpServer {
  command: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Its tools are listed at once and not found by a search. */
  alwaysLoad?: boolean;
}

export interface ClaudeOptions {
  cwd: string;
  model: ScriptedModel;
  /** Holds its home, configuration and temporary files; who shares it can resume a session of the other. */
  home: string;
  settings?: Record<string, unknown>;
  pluginDir?: string;
  mcp?: Record<string, McpServer>;
  /** Tools that need no permission; the common ones and those of `mcp` where not given. */
  allow?: readonly string[];
  modelName?: string;
  env?: Record<string, string>;
  /** More arguments, before all others. */
  args?: readonly string[];
}

export interface Command {
  program: string;
  args: string[];
  env: Record<string, string>;
  network: Network;
}

const commonTools = ['Bash', 'Read', 'Write', 'Edit', 'NotebookEdit', 'Agent', 'Skill', 'ToolSearch'];

/** Also for a terminal: without the arguments of a stream. Writes the files that it names. */
export async function claudeCommand(options: ClaudeOptions): Promise<Command> {
  const { model, args = [] } = options;
  const command = { ...(await launcher(model)), env: environment(options) };
  seed(options);
  const all = [...command.args, ...args, ...argumentsFor(options)];
  return command.network === 'open'
    ? { ...command, args: all, env: { ...command.env, ANTHROPIC_BASE_URL: model.url } }
    : { ...command, args: all };
}

async function launcher({ socket }: ScriptedModel): Promise<Omit<Command, 'env'>> {
  const [binary, prefix] = await Promise.all([claudeBinary(), isolation()]);
  const [program, ...flags] = prefix ?? [];
  if (program === undefined) return { program: binary, args: [], network: 'open' };
  const inside = join(import.meta.dirname, 'inside.ts');
  return { program, args: [...flags, process.execPath, inside, socket, binary], network: 'loopback' };
}

export function configOf(home: string): string {
  return join(home, 'config');
}

function environment({ home, env = {} }: ClaudeOptions): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${systemPath}`,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    CLAUDE_CODE_TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    CLAUDE_CONFIG_DIR: configOf(home),
    ANTHROPIC_API_KEY: apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    // It waits for its MCP servers; else the first request of a busy machine has no tools.
    MCP_CONNECTION_NONBLOCKING: '0',
    MCP_CONNECT_TIMEOUT_MS: '25000',
    ...env,
  };
}

const apiKey = 'dummy-key';

/** What spares a terminal its dialogs. */
function seed({ home, cwd }: ClaudeOptions): void {
  for (const directory of [configOf(home), join(home, 'tmp')]) mkdirSync(directory, { recursive: true });
  const file = join(configOf(home), '.claude.json');
  if (existsSync(file)) return;
  const state = {
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [apiKey], rejected: [] },
    projects: { [cwd]: { hasTrustDialogAccepted: true } },
  };
  writeFileSync(file, JSON.stringify(state));
}

let files = 0;

function argumentsFor({ home, settings, pluginDir, mcp, allow, modelName }: ClaudeOptions): string[] {
  const written = (name: string, value: unknown): string => {
    const file = join(home, `${name}-${process.pid}-${++files}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const allowed = allow ?? [...commonTools, ...Object.keys(mcp ?? {}).map((name) => `mcp__${name}`)];
  return [
    ...(settings === undefined ? [] : ['--settings', written('settings', settings)]),
    ...(mcp === undefined ? [] : ['--mcp-config', written('mcp', { mcpServers: mcp })]),
    ...(pluginDir === undefined ? [] : ['--plugin-dir', pluginDir]),
    ...(allowed.length === 0 ? [] : ['--allowedTools', allowed.join(',')]),
    ...(modelName === undefined ? [] : ['--model', modelName]),
  ];
}
