/** The pinned Gemini CLI in a project and a home of its own, with a scripted model. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/cli/index.ts';
import { hostNamed } from '../../src/hosts/index.ts';
import { startHost } from '../../src/hosts/process.ts';
import type { DrivenOptions, DrivenSession, HostDriver, HostEvent } from '../../src/runtime/index.ts';
import { type Call, contextOf, type ModelRequest, reply } from '../../src/testing/index.ts';
import type { DrivenHost, SessionHost } from './host-stage.ts';
import { createLab, type Lab } from './lab.ts';

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface GeminiStage extends Lab {
  /** One prompt without a person, in a folder that counts as trusted. */
  prompt(text: string, ...args: string[]): Promise<Ran>;
  gemini(...args: string[]): Promise<Ran>;
  stepfast(...args: string[]): Promise<Ran>;
  driver: HostDriver;
  events: HostEvent[];
  open(options?: Partial<DrivenOptions>): Promise<DrivenSession>;
}

const settings = {
  model: { name: 'gemini-2.5-pro', compressionThreshold: 0.05 },
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, maxAttempts: 1 },
  privacy: { usageStatisticsEnabled: false },
};

const cli = join(packageRoot(), 'dist', 'cli.js');

export async function createGeminiStage(files: Record<string, string> = {}): Promise<GeminiStage> {
  const lab = await createLab('gemini', files);
  const { project, home, url } = lab;
  const env = {
    ...lab.env,
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_TELEMETRY_ENABLED: 'false',
  };
  mkdirSync(join(home, '.gemini'), { recursive: true });
  writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
  const driver = await hostNamed('gemini')?.driver?.();
  if (!driver) throw new Error('There is no driver.');
  const run = (program: string, args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const child = spawn(program, args, { cwd: project.root, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const ran: Ran = { code: null, stdout: '', stderr: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        ran.stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        ran.stderr += text;
      });
      child.once('close', (code) => resolve({ ...ran, code }));
    });
  const gemini = (...args: string[]): Promise<Ran> => run(join(lab.bin, 'gemini'), args);
  const events: HostEvent[] = [];
  const sessions: DrivenSession[] = [];
  return {
    ...lab,
    env,
    gemini,
    prompt: (text, ...args) =>
      gemini('--skip-trust', '--approval-mode', 'yolo', '-o', 'json', ...args, '-p', text),
    stepfast: (...args) => run(process.execPath, [cli, ...args]),
    driver,
    events,
    async open(options) {
      const session = await driver.open({
        cwd: project.root,
        env,
        command: [process.execPath, cli],
        plugin: packageRoot(),
        onEvent: (event) => events.push(event),
        ...options,
      });
      sessions.push(session);
      return session;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) await session.end(0);
      await lab[Symbol.asyncDispose]();
    },
  };
}

type Input = Call['input'];

/** A call of one of Stepfast's tools; without a handle, with the last one that the model was given. */
export const own =
  (tool: string, input: Input | ((request: ModelRequest) => Input)) => (request: ModelRequest) =>
    reply.tool(`mcp_stepfast_${tool}`, typeof input === 'function' ? input(request) : input);

export const advance = (output: string) =>
  own('workflow_advance', (request) => ({ output, at: lastHandle(request) }));

export const shell = (command: string) => reply.tool('run_shell_command', { command });

const lastHandle = (request: ModelRequest): string =>
  [...contextOf(request).matchAll(/(?<![\w-])[0-9a-z]{6,16}:[\w./-]+#\d+/g)].at(-1)?.[0] ?? '';

/** Each prompt is a process of its own. */
export const geminiHost: DrivenHost & Pick<SessionHost, 'open' | 'read' | 'write'> = {
  name: 'gemini',
  program: 'gemini',
  settings: {},
  unlimited: 'yolo',
  prepare: createGeminiStage,
  async open({ project, env }) {
    let isFirst = true;
    const send = async (text: string): Promise<void> => {
      const resume = isFirst ? [] : ['--resume', 'latest'];
      isFirst = false;
      const args = ['--skip-trust', '--approval-mode', 'yolo', ...resume, '-p', text];
      const host = await startHost({ program: 'gemini', title: 'Gemini CLI', args, env, cwd: project.root });
      host.closeInput();
      await host.finished;
    };
    return { id: '', send, compact: async () => await send('/compress'), end: async () => {} };
  },
  own: (tool, input) => reply.tool(`mcp_stepfast_${tool}`, input),
  read: (file) => reply.tool('read_file', { file_path: file }),
  write: (file, content) => reply.tool('write_file', { file_path: file, content }),
  shell,
};
