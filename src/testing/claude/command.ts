/** Starts the real `claude` with nothing of this machine's user, and no traffic except to the scripted model. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import type { ScriptedModel } from '../model/scripted-model.ts';
import { type Isolated, isolate, systemPath } from './network.ts';

export interface McpServer {
  command: string;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Its tools are listed at once instead of being found by a search. */
  alwaysLoad?: boolean;
}

export interface ClaudeOptions {
  cwd: string;
  model: ScriptedModel;
  /** Holds the host's home, configuration and temporary files; a session can be resumed in the same home. */
  home: string;
  /** The path of `claude`; found on the PATH by default. */
  program?: string | undefined;
  settings?: Record<string, unknown> | undefined;
  pluginDir?: string;
  mcp?: Record<string, McpServer> | undefined;
  /** Tools that need no permission; by default the common ones and those of `mcp`. */
  allow?: readonly string[];
  modelName?: string;
  env?: Record<string, string>;
  /** More arguments, before all others. */
  args?: readonly string[];
}

export interface ClaudeCommand extends Isolated {
  env: Record<string, string>;
}

export const commonTools = ['Bash', 'Read', 'Write', 'Edit', 'NotebookEdit', 'Agent', 'Skill', 'ToolSearch'];

/** The command line that starts the host, for a terminal too. Writes the files that the command line names. */
export async function claudeCommand(options: ClaudeOptions): Promise<ClaudeCommand> {
  const { model, args = [], program = findClaude() } = options;
  seed(options);
  const isolated = await isolate(model, program, [...args, ...argumentsFor(options)]);
  const env = environment(options);
  return {
    ...isolated,
    env: isolated.network === 'open' ? { ...env, ANTHROPIC_BASE_URL: model.url } : env,
  };
}

function findClaude(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, 'claude')).find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new StepfastError('host_missing', "There is no 'claude' on the PATH. Install it, or pass `program`.");
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
    // Waits for MCP servers; otherwise the first request on a busy machine has no tools.
    MCP_CONNECTION_NONBLOCKING: '0',
    MCP_CONNECT_TIMEOUT_MS: '25000',
    ...env,
  };
}

const apiKey = 'dummy-key';

/** Answers the dialogs of a first start. */
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
