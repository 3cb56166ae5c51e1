import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { registrations } from '../../../src/hosts/claude-code/index.ts';
import { isRefused, type LocalRuntime, type Who } from '../../../src/runtime/index.ts';
import {
  type ClaudeRun,
  type ClaudeSession,
  contextOf,
  createScriptedModel,
  type ModelRequest,
  type RunOptions,
  reply,
  runClaude,
  type ScriptedModel,
  type SessionOptions,
  startClaude,
} from '../../kit/claude/index.ts';
import { createTestProject, type TestProject } from '../../kit/project.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const cli = join(top, 'dist', 'cli.js');
const shim = join(top, 'hooks', 'stepfast-hook.sh');

type View = NonNullable<Awaited<ReturnType<LocalRuntime['engine']['view']>>>;
type RunState = View['state'];
type RunEvent = Awaited<ReturnType<LocalRuntime['engine']['entries']>>[number]['events'][number];
type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

export interface Stage {
  project: TestProject;
  home: string;
  model: ScriptedModel;
  run(options: Omit<RunOptions, 'cwd' | 'home' | 'model'> & { cwd?: string }): Promise<ClaudeRun>;
  /** For what happens between prompts. */
  open(options?: Omit<SessionOptions, 'cwd' | 'home' | 'model'> & { cwd?: string }): Promise<ClaudeSession>;
  /** Starts a workflow elsewhere, under a session that is gone. */
  begin(options?: { workflow?: string; summary?: string; who?: Who }): Promise<Begun>;
  /** What is known of the only run. */
  only(): Promise<Begun>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Begun {
  run: string;
  at: string;
  state(): Promise<RunState>;
  events<T extends RunEvent['type']>(type: T): Promise<EventOf<T>[]>;
}

export async function createStage(files: Record<string, string>): Promise<Stage> {
  const project = createTestProject(files);
  const home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  const model = await createScriptedModel();
  const common = { cwd: project.root, home, model, settings: settings(), mcp };
  const runtime = project.runtime();
  const known = (run: string, at: string): Begun => ({
    run,
    at,
    async state() {
      const view = await runtime.engine.view(run);
      if (!view) throw new Error(`${run} is gone`);
      return view.state;
    },
    async events(type) {
      const all = (await runtime.engine.entries(run)).flatMap(({ events }) => events);
      // What the filter leaves is of that type.
      return all.filter((event) => event.type === type) as EventOf<typeof type>[];
    },
  });
  return {
    project,
    home,
    model,
    run: (options) => runClaude({ ...common, ...options }),
    open: (options = {}) => startClaude({ ...common, ...options }),
    async begin({ workflow = 'w', summary, who = { session: 'before' } } = {}) {
      const request = { workflow, ...(summary === undefined ? {} : { summary }) };
      const { run = '', reply: told } = await runtime.start(request, who);
      if (isRefused(told)) throw new Error(told.message);
      return known(run, told.at ?? '');
    },
    async only() {
      const [info, more] = await runtime.engine.runs();
      if (!info || more) throw new Error('there is no run, or there are several');
      return known(info.run, '');
    },
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}

const mcp = { stepfast: { command: process.execPath, args: [cli, 'mcp'], alwaysLoad: true } };

/** As the plugin registers them. What is printed for `lost` goes nowhere; `through` is put behind a hook's output. */
export function settings({ lost = '', without = '', through = '' } = {}): Record<string, unknown> {
  const hooks: Record<string, unknown[]> = {};
  for (const { event, matcher, mark, timeout } of registrations) {
    if (event === without) continue;
    hooks[event] ??= [];
    const end = event === lost ? ' >/dev/null' : event === 'SessionStart' ? through : '';
    const command = `'${shim}' ${mark} claude-code ${event}${end}`;
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', command, timeout }],
    });
  }
  return { hooks };
}

/** What the model asks of Stepfast; where no handle is given, the last one that stood in its context. */
export const ask = {
  start: (workflow = 'w', more: object = {}) => call('workflow_start', { workflow, ...more }),
  status: (at?: string) => call('workflow_status', at === undefined ? {} : { at }),
  advance: (output: string, at?: string) => (request: ModelRequest) =>
    call('workflow_advance', { output, at: at ?? lastHandle(request) }),
  context: (section: string) => (request: ModelRequest) =>
    call('workflow_context', { section, at: lastHandle(request) }),
  note: (text: string) => call('workflow_note', { kind: 'decision', text }),
  claim: (run: string) => call('workflow_claim', { run_id: run }),
  bash: (command: string, options: Parameters<typeof reply.tool>[2] = {}) =>
    reply.tool('Bash', { command, description: 'Do it' }, options),
  /** A subagent with these words, and the handle where they say AT. */
  agent:
    (prompt: string, { background = false, at }: { background?: boolean; at?: string } = {}) =>
    (request: ModelRequest) =>
      reply.tool('Agent', {
        description: 'Help',
        prompt: prompt.replace('AT', at ?? lastHandle(request)),
        subagent_type: 'general-purpose',
        run_in_background: background,
      }),
};

const call = (name: string, input: object) => reply.tool(`mcp__stepfast__${name}`, { ...input });

const lastHandle = (request: ModelRequest): string =>
  [...contextOf(request).matchAll(/(?<![\w-])[0-9a-z]{6,16}:[\w./-]+#\d+/g)].at(-1)?.[0] ?? '';

/** The text of the last request of the main conversation. */
export function lastContext({ requests }: Pick<ClaudeRun, 'requests'>): string {
  const last = requests.requestsOf('main').at(-1);
  return last ? contextOf(last) : '';
}

/** What each call of Stepfast's tools was answered in the main conversation of this session, in order. */
export function answersIn({ requests }: Pick<ClaudeRun, 'requests'>, session?: string): string[] {
  const last = requests
    .requestsOf('main')
    .findLast((each) => session === undefined || each.session === session);
  return (last?.body.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content
          .filter(({ type }) => type === 'tool_result')
          .map((block) => contextOf({ body: { model: '', messages: [{ role: 'user', content: [block] }] } })),
  );
}
