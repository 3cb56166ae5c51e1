/** What hooks cost against Node's own start: `npm run bench -- hook`, after `npm run build`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRuntime, isRefused } from '../../src/runtime/index.ts';
import { renewMarks } from '../../src/runtime/marks/marked-engine.ts';

const shim = join(import.meta.dirname, '..', '..', 'hooks', 'stepfast-hook.sh');

const workflow = `name: feature
description: Plans and builds
required_reading: ["@docs/auth.md", "@docs/style.md"]
key_reminders: [Run the tests after each component, Tokens never reach the log]
loops:
  build: [{ id: code, instructions: "Build {task.title}." }, { id: check, instructions: Look at it once more. }]
steps:
  - { id: plan, type: action, instructions: Write the plan. }
  - { id: build, type: loop }
  - { id: end, type: action, instructions: Write the notes for the release. }
`;

/** Counted against `node -e 0`; `first` is what `bench` promises. */
interface Case {
  name: string;
  cwd: string;
  mark: string;
  event: string;
  payload(round: number): object;
  /** Whether it answered as it should. */
  answers(stdout: string): boolean;
}

export async function bench({ rounds = roundsAsked() } = {}): Promise<object> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-hook-')));
  try {
    if (!existsSync(join(shim, '..', '..', 'dist', 'hook.cjs')))
      throw new Error('build first: npm run build');
    const idle = createIdle(directory);
    const { root, home, run, at } = await createProject(join(directory, 'bound'));
    // Nobody works on this one's run, so whoever starts is told all of it.
    const free = await createProject(join(directory, 'free'));
    const compacted = await createProject(join(directory, 'compacted'));
    const common = (session: string) => ({
      session_id: session,
      cwd: root,
      transcript_path: join(home, 'none.jsonl'),
    });
    const told = (stdout: string): boolean => stdout.includes('additionalContext') && stdout.includes('RUN');
    const silent = (stdout: string): boolean => stdout === '';
    const tool = (name: string, round: number, input: object, response: object) => ({
      ...common('bound'),
      hook_event_name: 'PostToolUse',
      tool_name: name,
      tool_use_id: `t${name}${round}`,
      tool_input: input,
      tool_response: response,
    });
    const of = (mark: string, event: string, answers: Case['answers']) => ({
      name: `${event} before`,
      mark,
      event,
      answers,
    });
    const here = { cwd: root };
    const cases: Case[] = [
      {
        name: 'idle',
        cwd: idle,
        mark: 'after_tool-write',
        event: 'PostToolUse',
        payload: () => ({}),
        answers: silent,
      },
      {
        name: 'sessionStart',
        cwd: free.root,
        mark: 'session_start',
        event: 'SessionStart',
        payload: (round) => ({
          ...common(`new-${round}`),
          cwd: free.root,
          hook_event_name: 'SessionStart',
          source: 'startup',
        }),
        answers: told,
      },
      {
        name: 'sessionStartCompact',
        cwd: compacted.root,
        mark: 'session_start',
        event: 'SessionStart',
        payload: (round) => ({
          ...common('bound'),
          cwd: compacted.root,
          hook_event_name: 'SessionStart',
          source: 'compact',
          prompt_id: `p${round}`,
        }),
        answers: told,
      },
      {
        name: 'postToolUse',
        ...here,
        mark: 'after_tool-read',
        event: 'PostToolUse',
        payload: (round) => tool('Read', round, { file_path: join(root, 'docs', 'other.md') }, {}),
        answers: silent,
      },
      {
        name: 'postToolUseWrite',
        ...here,
        mark: 'after_tool-write',
        event: 'PostToolUse',
        payload: (round) => {
          const file = join(root, 'src', `part-${round}.ts`);
          writeFileSync(file, `export const part = ${round};\n`);
          return tool('Write', round, { file_path: file }, {});
        },
        answers: silent,
      },
      {
        name: 'postToolUseStepfast',
        ...here,
        mark: 'after_tool-stepfast',
        event: 'PostToolUse',
        payload: (round) =>
          tool(
            'mcp__plugin_stepfast_stepfast__workflow_status',
            round,
            { at },
            { structuredContent: { run, at } },
          ),
        answers: silent,
      },
    ];
    const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, HOME: home };
    const fire = (each: Case, round: number): number => {
      const input = JSON.stringify(each.payload(round));
      const started = performance.now();
      const { stdout, stderr, status } = spawnSync('/bin/sh', [shim, each.mark, 'claude-code', each.event], {
        cwd: each.cwd,
        env,
        input,
        encoding: 'utf8',
      });
      const ms = performance.now() - started;
      if (status !== 0 || stderr !== '' || !each.answers(stdout))
        throw new Error(`${each.name}: ${status} ${stderr} ${stdout.slice(0, 300)}`);
      return ms;
    };
    // Sessions are bound by a call, and one has ended, as it would be.
    const status = 'mcp__plugin_stepfast_stepfast__workflow_status';
    for (const each of [{ root, run, at }, compacted])
      fire(
        {
          ...of('after_tool-stepfast', 'PostToolUse', silent),
          cwd: each.root,
          payload: () => ({
            ...tool(status, -1, { at: each.at }, { structuredContent: { run: each.run, at: each.at } }),
            cwd: each.root,
          }),
        },
        0,
      );
    fire(
      {
        ...of('session_end', 'SessionEnd', silent),
        cwd: free.root,
        payload: () => ({
          ...common('gone'),
          cwd: free.root,
          hook_event_name: 'SessionEnd',
          reason: 'other',
        }),
      },
      0,
    );
    const times = new Map<string, number[]>(
      ['node', ...cases.map(({ name }) => name)].map((name) => [name, []]),
    );
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      spawnSync(process.execPath, ['-e', '0'], { env, input: '' });
      if (round > 0) times.get('node')?.push(performance.now() - started);
      for (const each of cases) {
        const ms = fire(each, round);
        if (round > 0) times.get(each.name)?.push(ms);
      }
    }
    return figures(times, rounds);
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Nothing ever began here. */
function createIdle(directory: string): string {
  const idle = join(directory, 'idle', 'packages', 'web');
  mkdirSync(idle, { recursive: true });
  spawnSync('git', ['init', '-q', join(directory, 'idle')]);
  return idle;
}

/** A run is under way. */
async function createProject(directory: string) {
  const [root, home] = [join(directory, 'project'), join(directory, 'home')];
  for (const folder of [home, join(root, 'docs'), join(root, 'src'), join(root, '.stepfast', 'workflows')])
    mkdirSync(folder, { recursive: true });
  spawnSync('git', ['init', '-q', root]);
  writeFileSync(join(root, '.stepfast', 'workflows', 'feature.yaml'), workflow);
  for (const name of ['auth', 'style', 'other'])
    writeFileSync(join(root, 'docs', `${name}.md`), `# ${name}\n`);
  const runner = { program: process.execPath, args: [] };
  const runtime = createRuntime({ cwd: root, env: {}, home, runner });
  const who = { session: 'tools' };
  const { run = '' } = await runtime.start({ workflow: 'feature', summary: 'Log in with a passkey' }, who);
  const call = async (request: Parameters<typeof runtime.call>[0]): Promise<string> => {
    const { reply } = await runtime.call(request, who, { run });
    if (isRefused(reply)) throw new Error(reply.message);
    return reply.at ?? '';
  };
  await call({ type: 'advance', output: 'Three tasks: the server side, the form, the fallback.' });
  const tasks = ['server', 'form', 'fallback'].map((id) => ({ id, title: `The ${id} with passkeys` }));
  let at = await call({ type: 'setTasks', loop: 'build', tasks });
  for (const output of ['It works; 11 tests.', 'Looked at it: sound.'])
    at = await call({ type: 'advance', output });
  for (let index = 0; index < 10; index += 1)
    await call({
      type: 'note',
      kind: 'decision',
      text: `Decision ${index}: ${'a reason for it. '.repeat(8)}`,
    });
  await renewMarks(runtime.engine, runtime.project.directory);
  return { root, home, run, at };
}

function figures(times: ReadonlyMap<string, number[]>, rounds: number): object {
  const base = median(times.get('node') ?? []);
  const ratios: Record<string, number> = {};
  console.log(`${'hook'.padEnd(24)}${'p50'.padStart(9)}${'ratio'.padStart(9)}`);
  for (const [name, each] of times) {
    const ms = median(each);
    ratios[name] = Number((ms / base).toFixed(3));
    console.log(`${name.padEnd(24)}${`${ms.toFixed(1)} ms`.padStart(9)}${`${ratios[name]} ×`.padStart(9)}`);
  }
  const { idle, sessionStart = 0, postToolUse = 0 } = ratios;
  return {
    rounds,
    nodeMs: Number(base.toFixed(1)),
    idleRatio: idle,
    activeRatio: Math.max(sessionStart, postToolUse),
    ratios,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

function roundsAsked(): number {
  const { values } = parseArgs({
    options: { rounds: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  return typeof values.rounds === 'string' ? Number(values.rounds) : 41;
}

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(await bench()));
