/** The real Copilot CLI with Stepfast's plugin, in a project of its own, with a scripted model. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hostBinary } from '../../../scripts/install-hosts.ts';
import { hookLogEntries } from '../../../src/hooks/index.ts';
import { isolate } from '../../../src/testing/claude/network.ts';
import { contextOf, type LoggedRequest, type Reply, reply } from '../../../src/testing/index.ts';
import { createLab, type Lab } from '../../kit/lab.ts';
import { openTerminal, type Terminal } from '../../kit/terminal.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const main = join(top, 'src', 'cli', 'main.ts');
export const plugin = join(top, 'copilot');

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface PromptOptions {
  /** In the last session. */
  resume?: boolean;
  /** In place of the permission for every tool. */
  permissions?: readonly string[];
  plugin?: string;
}

export interface CopilotLab extends Lab {
  /** The host's own directory. */
  config: string;
  /** One process: a prompt from its beginning to its end. */
  prompt(text: string, options?: PromptOptions): Promise<Ran>;
  /** The host as a person types it, with the plugins that are installed. */
  host(...args: string[]): Promise<Ran>;
  /** Stepfast as a person types it, with the host on the PATH. */
  stepfast(...args: string[]): Promise<Ran>;
  /** The same behind the wall, with a host that has none of its own: for a model that Stepfast itself starts. */
  within(...args: string[]): Promise<Ran>;
  terminal(): Promise<Terminal>;
  /** Ids, the oldest first. */
  sessions(): string[];
  /** The texts of the main conversation's requests, without the host's own instructions. */
  contexts(): string[];
  /** What hooks logged. */
  logged(): string[];
}

const limitMs = 120_000;

export async function createCopilotLab(files: Record<string, string> = {}): Promise<CopilotLab> {
  const lab = await createLab('copilot', files);
  const { project, home, model } = lab;
  const config = join(home, '.copilot');
  mkdirSync(config);
  writeFileSync(join(config, 'config.json'), JSON.stringify({ trustedFolders: [project.root] }));
  for (const file of Object.keys(files)) {
    const [, name] = /^\.stepfast\/workflows\/(.+)\.yaml$/.exec(file) ?? [];
    if (name !== undefined) project.trust(name);
  }
  const env: Record<string, string> = {
    ...lab.env,
    COPILOT_HOME: config,
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_TYPE: 'anthropic',
    COPILOT_PROVIDER_BASE_URL: lab.url,
    COPILOT_PROVIDER_API_KEY: 'dummy-key',
    COPILOT_MODEL: 'claude-sonnet-4',
    COPILOT_AUTO_UPDATE: 'false',
  };
  const run = (program: string, args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    new Promise((resolve) => {
      const options = { cwd: project.root, env: { ...env, ...more }, timeout: limitMs, maxBuffer: 1 << 28 };
      const child = execFile(program, [...args], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
      child.stdin?.end();
    });
  return {
    ...lab,
    env,
    config,
    prompt: (text, { resume = false, permissions = ['--allow-all-tools'], plugin: from = plugin } = {}) =>
      run('copilot', [
        ...['-p', text, '--plugin-dir', from, '--output-format', 'json', ...permissions],
        ...(resume ? ['--continue'] : []),
      ]),
    host: (...args) => run('copilot', args),
    stepfast: (...args) => run(process.execPath, [main, ...args]),
    within: async (...args) => {
      const bin = join(home, 'plain');
      mkdirSync(bin, { recursive: true });
      if (!existsSync(join(bin, 'copilot'))) symlinkSync(await hostBinary('copilot'), join(bin, 'copilot'));
      const { program, args: rest } = await isolate(model, process.execPath, [main, ...args]);
      return await run(program, rest, { PATH: `${bin}:${env.PATH}` });
    },
    terminal: async () => {
      const terminal = await openTerminal({
        directory: home,
        command: ['copilot', '--plugin-dir', plugin, '--allow-tool', 'shell'],
        cwd: project.root,
        env: { ...env, TERM: 'xterm-256color' },
        columns: 140,
        rows: 45,
      });
      await terminal.waitFor(/\/ commands/);
      return terminal;
    },
    sessions: () => sessionsIn(config),
    contexts: () => model.requestsOf('main').map(({ body }) => contextOf({ body: { ...body, system: '' } })),
    logged: () =>
      hookLogEntries({ directory: join(project.root, '.stepfast') }).map((entry) =>
        'why' in entry ? `${entry.what}: ${entry.why}` : entry.what,
      ),
  };
}

function sessionsIn(config: string): string[] {
  const folder = join(config, 'session-state');
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .map((name) => ({ name, start: startOf(join(folder, name, 'events.jsonl')) }))
    .sort((a, b) => a.start.localeCompare(b.start))
    .map(({ name }) => name);
}

const startOf = (file: string): string =>
  JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '{}').timestamp;

/** A copy of the plugin, with its hooks changed. */
export function pluginWith(
  { home }: Lab,
  change: (hooks: Record<string, { bash: string }[]>) => void,
): string {
  const folder = join(home, 'changed');
  cpSync(plugin, join(folder, 'copilot'), { recursive: true });
  for (const name of ['hooks', 'dist', 'workflows', 'package.json'])
    symlinkSync(join(top, name), join(folder, name));
  const file = join(folder, 'copilot', 'hooks.json');
  const registered = JSON.parse(readFileSync(file, 'utf8'));
  change(registered.hooks);
  writeFileSync(file, JSON.stringify(registered));
  return join(folder, 'copilot');
}

/** The handle that a request shows last. */
const lastHandle = (request: Pick<LoggedRequest, 'body'>): string =>
  contextOf(request)
    .match(/\b\w{8}:[^\s#"]+#\d+/g)
    ?.at(-1) ?? '';

/** Calls of the model, as the host names the tools. */
export const call = {
  bash: (command: string, more: object = {}): Reply =>
    reply.tool('bash', { command, description: 'Runs it' }, more),
  view: (path: string): Reply => reply.tool('view', { path }),
  create: (path: string, text: string): Reply => reply.tool('create', { path, file_text: text }),
  status: (at?: string): Reply => reply.tool('stepfast-workflow_status', at === undefined ? {} : { at }),
  start: (workflow: string): Reply =>
    reply.tool('stepfast-workflow_start', { workflow, summary: 'do it', inputs: {} }),
  advance:
    (output: string) =>
    (request: Pick<LoggedRequest, 'body'>): Reply =>
      reply.tool('stepfast-workflow_advance', { at: lastHandle(request), output }),
};
