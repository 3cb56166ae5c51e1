/** The pinned Copilot CLI with a scripted model. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostBinary } from '../../scripts/install-hosts.ts';
import { hookLogEntries } from '../../src/hooks/index.ts';
import { isolate } from '../../src/testing/claude/network.ts';
import {
  contextOf,
  type LoggedRequest,
  type MessageReply,
  type Reply,
  type ReplyOptions,
  reply,
} from '../../src/testing/index.ts';
import { cliProgram } from '../../src/testing/programs.ts';
import type { HostSession, HostStage, SessionHost } from './host-stage.ts';
import { createLab, type Lab } from './lab.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const top = join(import.meta.dirname, '..', '..');
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

const limitMs = 600_000;

interface CopilotStage extends Lab {
  config: string;
}

/** As a person has it before `stepfast init`. */
async function createStage(files: Record<string, string>): Promise<CopilotStage> {
  const lab = await createLab('copilot', files);
  const config = join(lab.home, '.copilot');
  mkdirSync(config);
  writeFileSync(join(config, 'config.json'), JSON.stringify({ trustedFolders: [lab.project.root] }));
  nameSessions(join(lab.bin, 'copilot'));
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
  return { ...lab, config, env };
}

/** Requests of the host do not name their session, so a header tells the model. */
function nameSessions(program: string): void {
  const [first, ...rest] = readFileSync(program, 'utf8').split('\n');
  const header = `session= last=
for word; do
  case "$word" in --resume=*) session="\${word#--resume=}" ;; esac
  if [ "$last" = --session-id ]; then session="$word"; fi
  last="$word"
done
export COPILOT_PROVIDER_HEADERS="x-claude-code-session-id: $session"`;
  writeFileSync(program, [first, header, ...rest].join('\n'));
}

async function runIn(
  { project, env }: Pick<HostStage, 'project' | 'env'>,
  program: string,
  args: readonly string[],
): Promise<Ran> {
  return await new Promise((resolve) => {
    const options = { cwd: project.root, env, timeout: limitMs, maxBuffer: 1 << 28 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** With Stepfast's plugin, whose workflows are trusted. */
export async function createCopilotLab(files: Record<string, string> = {}): Promise<CopilotLab> {
  const lab = await createStage(files);
  const { project, home, model, config, env } = lab;
  for (const file of Object.keys(files)) {
    const [, name] = /^\.stepfast\/workflows\/(.+)\.yaml$/.exec(file) ?? [];
    if (name !== undefined) project.trust(name);
  }
  const run = async (
    program: string,
    args: readonly string[],
    more: Record<string, string> = {},
  ): Promise<Ran> => await runIn({ project, env: { ...env, ...more } }, program, args);
  return {
    ...lab,
    prompt: (text, { resume = false, permissions = ['--allow-all-tools'] } = {}) =>
      run('copilot', [
        ...['-p', text, '--plugin-dir', plugin, '--output-format', 'json', ...permissions],
        ...(resume ? ['--continue'] : []),
      ]),
    host: (...args) => run('copilot', args),
    stepfast: (...args) => run(process.execPath, [cliProgram, ...args]),
    within: async (...args) => {
      const bin = join(home, 'plain');
      mkdirSync(bin, { recursive: true });
      if (!existsSync(join(bin, 'copilot'))) symlinkSync(await hostBinary('copilot'), join(bin, 'copilot'));
      const { program, args: rest } = await isolate(model, process.execPath, [cliProgram, ...args]);
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

/** The handle that a request shows last. */
const lastHandle = (request: Pick<LoggedRequest, 'body'>): string =>
  contextOf(request)
    .match(/\b\w{8}:[^\s#"]+#\d+/g)
    ?.at(-1) ?? '';

const bash = (command: string, options: ReplyOptions = {}): MessageReply =>
  reply.tool('bash', { command, description: 'Runs it' }, options);
const view = (path: string): MessageReply => reply.tool('view', { path });
const create = (path: string, text: string): MessageReply => reply.tool('create', { path, file_text: text });
const own = (tool: string, input: Record<string, unknown>): MessageReply =>
  reply.tool(`stepfast-${tool}`, input);

/** Calls of the model, as the host names the tools. */
export const call = {
  bash,
  view,
  create,
  status: (at?: string): Reply => own('workflow_status', at === undefined ? {} : { at }),
  start: (workflow: string): Reply => own('workflow_start', { workflow, summary: 'do it', inputs: {} }),
  advance:
    (output: string) =>
    (request: Pick<LoggedRequest, 'body'>): Reply =>
      own('workflow_advance', { at: lastHandle(request), output }),
};

/** One process a prompt. */
async function openSession(stage: HostStage, resume?: string): Promise<HostSession> {
  const id = resume ?? randomUUID();
  let exists = resume !== undefined;
  const send = async (prompt: string): Promise<void> => {
    const which = exists ? [`--resume=${id}`] : ['--session-id', id];
    exists = true;
    const { code, stderr } = await runIn(stage, 'copilot', [`--prompt=${prompt}`, ...which]);
    // A prompt that a hook blocks is an error, too.
    if (code < 0) throw new Error(`copilot ended with ${code}: ${stderr}`);
  };
  return { id, send, compact: async () => await send('/compact'), end: async () => {} };
}

export const copilotHost: SessionHost = {
  name: 'copilot',
  program: 'copilot',
  settings: {},
  asks: { env: { COPILOT_ALLOW_ALL: '' }, cannot: 'glob' },
  unlimited: 'allow-all',
  keepsPrompts: true,
  shell: bash,
  own,
  async prepare(files) {
    const stage = await createStage(files);
    // Settings can allow only commands by name.
    return { ...stage, env: { ...stage.env, COPILOT_ALLOW_ALL: '1' } };
  },
  open: openSession,
  personFiles: ({ env }) => [join(env.COPILOT_HOME ?? '', 'settings.json')],
  command: (words) => `/stepfast ${words}`,
  read: (file, project) => view(join(project, file)),
  write: (file, text, project) => {
    // The tool makes no folders.
    mkdirSync(dirname(join(project, file)), { recursive: true });
    return create(join(project, file), `${text}\n`);
  },
  nearlyFull: { input_tokens: 126_000 },
  afterCompaction: 'next turn',
};
