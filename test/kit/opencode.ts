/** The pinned OpenCode with Stepfast's plugin and server, and a scripted model. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hostBinary, versionOfHost } from '../../scripts/install-hosts.ts';
import { packageRoot } from '../../src/cli/index.ts';
import { canIsolate, isolate } from '../../src/testing/claude/network.ts';
import { type MessageReply, type ReplyOptions, reply } from '../../src/testing/index.ts';
import type { SessionHost } from './host-stage.ts';
import { createLab, type Lab } from './lab.ts';

export interface OpenCodeOptions {
  /** Of the model, in tokens. */
  contextLimit?: number;
  /** Without: as a person has it before `stepfast init`. */
  installed?: boolean;
  config?: object;
}

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface OpenCodeServer {
  url: string;
  request(method: string, path: string, body?: object): Promise<unknown>;
  newSession(): Promise<string>;
  /** Returns at the end of the turn. */
  prompt(session: string, text: string): Promise<unknown>;
  command(session: string, words: string): Promise<unknown>;
  compact(session: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface OpenCodeLab extends Lab {
  run(...args: string[]): Promise<Ran>;
  serve(): Promise<OpenCodeServer>;
}

export const modelId = { providerID: 'fake', modelID: 'm1' };

/** What a person has in their own settings. */
export const personConfig = (url: string, contextLimit = 200_000): object => ({
  $schema: 'https://opencode.ai/config.json',
  model: 'fake/m1',
  small_model: 'fake/m1',
  autoupdate: false,
  share: 'disabled',
  provider: {
    fake: {
      npm: '@ai-sdk/anthropic',
      options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
      models: {
        m1: {
          name: 'm1',
          tool_call: true,
          limit: { context: contextLimit, output: 8_000 },
          cost: { input: 3, output: 15 },
        },
      },
    },
  },
});

const installedConfig = (): object => ({
  plugin: [`file://${join(packageRoot(), 'dist', 'opencode-plugin.js')}`],
  mcp: {
    stepfast: {
      type: 'local',
      command: [process.execPath, join(packageRoot(), 'dist', 'cli.js'), 'mcp'],
      enabled: true,
    },
  },
});

export async function createOpenCodeLab(
  files: Record<string, string> = {},
  { contextLimit, installed = true, config = {} }: OpenCodeOptions = {},
): Promise<OpenCodeLab> {
  const lab = await createLab('opencode', files);
  const { project, home, url } = lab;
  const env: Record<string, string> = {
    ...lab.env,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_CACHE_HOME: join(home, '.cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
  seedPackages(join(home, '.config', 'opencode'));
  writeFileSync(
    join(home, '.config', 'opencode', 'opencode.json'),
    JSON.stringify({ ...personConfig(url, contextLimit), ...config }),
  );
  if (installed)
    writeFileSync(join(project.root, 'opencode.json'), `${JSON.stringify(installedConfig(), null, 2)}\n`);
  await openDoor(lab);
  const servers: OpenCodeServer[] = [];
  return {
    ...lab,
    env,
    run: async (...args) =>
      await new Promise((resolve) => {
        const options = { cwd: project.root, env, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 };
        const child = execFile('opencode', args, options, (error, stdout, stderr) =>
          resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
        );
        child.stdin?.end();
      }),
    async serve() {
      const server = await startServer(project.root, env);
      servers.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
      await lab[Symbol.asyncDispose]();
    },
  };
}

/** Otherwise OpenCode waits more than a minute for a registry. */
function seedPackages(folder: string): void {
  const dependencies = { '@opencode-ai/plugin': versionOfHost('opencode') };
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies } } }),
  );
}

/** `opencode serve` listens in its namespace. */
async function openDoor({ bin, model }: Lab): Promise<void> {
  if (!(await canIsolate())) return;
  const file = join(bin, 'opencode');
  const door = join(import.meta.dirname, 'serve-door.ts');
  // Paths of sockets are short.
  const socket = join(mkdtempSync(join(tmpdir(), 'oc-')), 's');
  const node = process.execPath;
  const inside = [door, socket, 'inside', await hostBinary('opencode')];
  const { program, args } = await isolate(model, node, inside);
  const words = [node, door, socket, program, ...args].map((word) => `'${word}'`).join(' ');
  const plain = join(bin, 'opencode-plain');
  renameSync(file, plain);
  const port = 'export STEPFAST_BRIDGE_PORT=4010';
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1" = serve ] || exec '${plain}' "$@"\n${port}\nexec ${words} serve --hostname 127.0.0.1 --port 4096\n`,
  );
  chmodSync(file, 0o755);
}

async function startServer(cwd: string, env: Record<string, string>): Promise<OpenCodeServer> {
  const child = spawn('opencode', ['serve'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const url = await listening(child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const request: OpenCodeServer['request'] = async (method, path, body) => {
    const options = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}${path}`, { method, ...options });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? undefined : await answer.json();
  };
  return {
    url,
    request,
    newSession: async () => {
      const created = await request('POST', '/session', {});
      if (typeof created !== 'object' || created === null || !('id' in created))
        throw new Error('no session');
      return String(created.id);
    },
    prompt: (session, text) =>
      request('POST', `/session/${session}/message`, { parts: [{ type: 'text', text }] }),
    command: (session, words) =>
      request('POST', `/session/${session}/command`, { command: 'stepfast', arguments: words }),
    compact: (session) => request('POST', `/session/${session}/summarize`, modelId),
    async close() {
      const isOver = child.exitCode !== null || child.signalCode !== null;
      if (child.pid !== undefined && !isOver) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}

const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`opencode serve ended with ${code}`)));
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
  });

/** A turn that the plugin continues goes on. */
async function settled(env: Record<string, string>, session: string): Promise<void> {
  const file = join(env.XDG_STATE_HOME ?? '', 'stepfast', 'opencode', `${session}.jsonl`);
  for (let left = 600; left > 0; left -= 1) {
    const records: { type: string; then?: string }[] = (existsSync(file) ? readFileSync(file, 'utf8') : '')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const last = records.findLast(({ type }) => type === 'idle' || type === 'turn');
    if (!last || last.then === 'nothing') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${session} is not idle`);
}

const shell = (command: string, options?: ReplyOptions): MessageReply =>
  reply.tool('bash', { command, description: 'Run it' }, options);

const contextLimit = 1_000_000;
const typed = '/stepfast ';

export const openCodeHost: SessionHost = {
  name: 'opencode',
  program: 'opencode',
  settings: {},
  hidesStatus: true,
  shell,
  own: (tool, input) => reply.tool(`stepfast_${tool}`, input),
  prepare: async (files) => await createOpenCodeLab(files, { installed: false, contextLimit }),
  async open({ project, env }, resume) {
    const server = await startServer(project.root, env);
    const id = resume ?? (await server.newSession());
    return {
      id,
      async send(text) {
        if (text.startsWith(typed)) await server.command(id, text.slice(typed.length));
        else await server.prompt(id, text);
        await settled(env, id);
      },
      compact: async () => void (await server.compact(id)),
      end: async () => await server.close(),
    };
  },
  personFiles: ({ project }) => [join(project.root, 'opencode.json')],
  command: (words) => `${typed}${words}`,
  read: (file, project) => reply.tool('read', { filePath: join(project, file) }),
  write: (file, text, project) =>
    reply.tool('write', { filePath: join(project, file), content: `${text}\n` }),
  nearlyFull: { input_tokens: contextLimit - 5_000 },
  afterCompaction: 'next request',
};
