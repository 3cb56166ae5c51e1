import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logged } from '../../src/hooks/hook-log.ts';
import { type HookAnswer, runHook } from '../../src/hooks/run-hook.ts';
import { short } from '../../src/hooks/session-files.ts';
import { hooksFolder } from '../../src/hooks/session-record.ts';
import { claudeCode } from '../../src/hosts/claude-code/index.ts';
import { withoutAgentVariables } from '../../src/hosts/index.ts';
import { type Host, isRefused, type LocalRuntime, type Request } from '../../src/runtime/index.ts';
import { createTestProject, type TestProject } from '../../src/testing/index.ts';
import { cliProgram } from '../../src/testing/programs.ts';

/** A project in which a host's hooks fire; payloads have the shapes of the real program. */
export interface HookKit {
  project: TestProject;
  runtime: LocalRuntime;
  /** Starts the workflow 'w' as the tools would, under a session of their own. */
  start(): Promise<{ run: string; at: string }>;
  call(run: string, request: Request): Promise<string>;
  fire(event: string, payload?: object): Promise<Fired>;
  /** The hook of Claude Code that may wake the session. */
  wake(event: string, payload?: object): Promise<HookAnswer>;
  /** An event of any host. */
  send(host: Host, event: string, payload: unknown): Promise<HookAnswer>;
  /** A Stepfast tool was called by the session and answered. */
  called(session: string, answer: { run: string; at: string }, more?: object): Promise<Fired>;
  transcript: string;
  /** What the host writes down of an accepted injection. */
  accept(text: string): void;
  writeDown(record: object): void;
  log(): Logged[];
  /** What hooks keep about a session, by file name. */
  filesOf(session: string): string[];
  wait(ms: number): void;
  [Symbol.dispose](): void;
}

export interface Fired {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** The injected text. */
  context: string;
  /** Why a stop is held. */
  held: string | undefined;
  json: Record<string, unknown>;
}

export const status = 'mcp__plugin_stepfast_stepfast__workflow_status';

/** For `STEPFAST_HOOK_WAIT_MS`: a server that is up is waited for, however busy the machine is. */
export const patientMs = '600000';

export function createHookKit(files: Record<string, string>, limits: Partial<Host['limits']> = {}): HookKit {
  const project = createTestProject(files);
  const runtime = project.runtime();
  const transcript = join(project.root, '..', 'transcripts', 'a.jsonl');
  let later = 0;
  let count = 0;
  project.env.STEPFAST_HOOK_WAIT_MS = patientMs;
  const run = (host: Host, event: string, payload: unknown, wakes = false): Promise<HookAnswer> => {
    const unhurried = { ...host, limits: { ...host.limits, toolHookMs: 3_600_000, ...limits } };
    const environment = {
      env: project.env,
      commandEnv: withoutAgentVariables(project.env),
      home: project.env.HOME ?? '',
      now: () => Date.now() + later,
      pid: process.pid,
      program: cliProgram,
    };
    return runHook(unhurried, event, JSON.stringify(payload), environment, { wakes });
  };
  const send: HookKit['send'] = (host, event, payload) => run(host, event, payload);
  const whole = (event: string, payload: object): object => {
    count += 1;
    return {
      session_id: 'a',
      transcript_path: transcript,
      cwd: project.root,
      hook_event_name: event,
      prompt_id: `p${count}`,
      ...payload,
    };
  };
  const fire = async (event: string, payload: object = {}): Promise<Fired> => {
    const answered = await send(claudeCode, event, whole(event, payload));
    const json = answered.stdout.startsWith('{') ? JSON.parse(answered.stdout) : {};
    const added = json.hookSpecificOutput?.additionalContext;
    const held = event === 'Stop' ? added : json.reason;
    return { ...answered, json, context: added ?? '', held };
  };
  const writeDown = (record: object): void => {
    mkdirSync(dirname(transcript), { recursive: true });
    appendFileSync(transcript, `${JSON.stringify(record)}\n`);
  };
  return {
    project,
    runtime,
    async start() {
      const { run = '', reply } = await runtime.start({ workflow: 'w' }, { session: 'mcp-1' });
      if (isRefused(reply)) throw new Error(JSON.stringify(reply));
      return { run, at: reply.at ?? '' };
    },
    async call(run, request) {
      const { reply } = await runtime.call(request, { session: 'mcp-1' }, { run, waitMs: 120_000 });
      if (isRefused(reply)) throw new Error(JSON.stringify(reply));
      return reply.at ?? '';
    },
    fire,
    wake: (event, payload = {}) => run(claudeCode, event, whole(event, payload), true),
    send,
    called: (session, answer, more = {}) =>
      fire('PostToolUse', {
        session_id: session,
        tool_name: status,
        tool_use_id: `call-${count}`,
        tool_input: {},
        tool_response: [{ type: 'text', text: JSON.stringify(answer) }],
        ...more,
      }),
    transcript,
    accept: (text) =>
      writeDown({ type: 'attachment', attachment: { type: 'hook_additional_context', content: [text] } }),
    writeDown,
    log() {
      const file = join(runtime.project.directory, 'sessions', 'hooks', 'log.jsonl');
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line));
    },
    filesOf: (session) => filesIn(join(hooksFolder(runtime.project), short(['claude-code', session, null]))),
    wait: (ms) => {
      later += ms;
    },
    [Symbol.dispose]: () => project[Symbol.dispose](),
  };
}

export const filesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};
