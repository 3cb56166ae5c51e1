/** Stepfast's hooks inside the real Claude Code: what stood in the model's requests, and what the run knows of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { registrations } from '../../../src/hosts/claude-code/index.ts';
import { renewMarks } from '../../../src/runtime/marks/marked-engine.ts';
import {
  contextOf,
  createScriptedModel,
  forgetsAll,
  lastUser,
  nearlyFull,
  type RunOptions,
  reply,
  runClaude,
  type ScriptedModel,
  subagent,
  summariser,
} from '../../kit/claude/index.ts';
import { createTestProject, type TestProject } from '../../kit/project.ts';

const top = join(import.meta.dirname, '..', '..', '..');
const cli = join(top, 'src', 'cli', 'main.ts');
const shim = join(top, 'hooks', 'stepfast-hook.sh');

const workflow = `name: w
description: Plans and builds
required_reading: ["@docs/auth.md"]
agents:
  reviewer: { description: Looks at it, cannot: [Edit] }
steps:
  - { id: plan, type: action, agent: reviewer, instructions: INSTRUCTIONS-PLAN write the plan. }
  - { id: build, type: action, context: clear, instructions: INSTRUCTIONS-BUILD build it. }
`;

let project: TestProject;
let home: string;
let model: ScriptedModel;

beforeAll(() => {
  if (!existsSync(join(top, 'dist', 'hook.cjs')))
    execFileSync(process.execPath, [join(top, 'scripts', 'build.ts')], { stdio: 'pipe' });
}, 120_000);

beforeEach(async () => {
  project = createTestProject({ '.stepfast/workflows/w.yaml': workflow, 'docs/auth.md': '# Auth\n' });
  home = join(project.root, '..', 'claude-home');
  mkdirSync(home);
  model = await createScriptedModel();
});

afterEach(async () => {
  await model[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

/** As the plugin registers them; what is printed for `lost` goes nowhere. */
function settings({ lost = '' } = {}): Record<string, unknown> {
  const hooks: Record<string, unknown[]> = {};
  for (const { event, matcher, mark, timeout } of registrations) {
    hooks[event] ??= [];
    const command = `'${shim}' ${mark} claude-code ${event}${event === lost ? ' >/dev/null' : ''}`;
    hooks[event].push({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: 'command', command, timeout }],
    });
  }
  return { hooks };
}

const mcp = { stepfast: { command: process.execPath, args: [cli, 'mcp'], alwaysLoad: true } };

const run = (options: Omit<RunOptions, 'cwd' | 'home' | 'model'>) =>
  runClaude({ cwd: project.root, home, model, settings: settings(), mcp, ...options });

async function begun(): Promise<{ run: string; at: string; state(): Promise<State> }> {
  const runtime = project.runtime();
  const { run: id = '', reply: told } = await runtime.start({ workflow: 'w' }, { session: 'mcp-before' });
  await renewMarks(runtime.engine, runtime.project.directory);
  const at = 'at' in told ? (told.at ?? '') : '';
  const state = async () => {
    const view = await runtime.engine.view(id);
    if (!view) throw new Error('no run');
    return view.state;
  };
  return { run: id, at, state };
}
type State = NonNullable<Awaited<ReturnType<ReturnType<TestProject['runtime']>['engine']['view']>>>['state'];

const status = 'mcp__stepfast__workflow_status';

it('[P4/1] a new session is briefed, and its first call binds it and proves the delivery', async () => {
  const { at, state } = await begun();
  model.on(lastUser(/go on/), reply.tool(status, { at }), reply.text('✅ Workflow restored'));
  const { sessions, requests } = await run({ prompts: ['go on'] });
  const [first] = requests.requestsOf('main');
  expect(first && contextOf(first)).toContain('INSTRUCTIONS-PLAN');
  const [session = ''] = sessions;
  expect((await state()).sessions[session]).toMatchObject({ host: 'claude-code', witness: 'hooks' });
  expect((await state()).briefings[session]?.proven).toMatch(/handle|transcript/);
});

it('[P4/4] [002/6] after a compaction that forgets everything the briefing stands in the next request', async () => {
  const { at, state, run: id } = await begun();
  model.on(lastUser(/go on/), reply.tool(status, { at }), reply.text('Noted.'));
  model.always(summariser(), forgetsAll());
  model.on(lastUser(/and now/), reply.text('Going on.'));
  const { sessions, requests } = await run({ prompts: ['go on', '/compact', 'and now'] });
  const [summary] = requests.requestsOf('summariser');
  expect(summary && contextOf(summary)).toContain(`run ${id}`);
  const last = requests.requestsOf('main').at(-1);
  expect(last && contextOf(last)).toContain('INSTRUCTIONS-PLAN');
  const after = await state();
  expect(after.sessions[sessions[0] ?? '']?.resets).toBe(1);
  expect(after.briefings[sessions[0] ?? '']?.proven).toBe('transcript');
});

it('[pain 5] an automatic compaction in the middle of a tool loop goes on with the briefing', async () => {
  const { at } = await begun();
  const list = (options: Parameters<typeof reply.tool>[2] = {}) =>
    reply.tool('Bash', { command: 'ls', description: 'List' }, options);
  model.on(
    lastUser(/loop/),
    reply.tool(status, { at }),
    list({ usage: nearlyFull }),
    list(),
    reply.text('Done.'),
  );
  model.always(summariser(), forgetsAll());
  const { requests } = await run({ prompts: ['loop'] });
  expect(requests.requestsOf('summariser').length).toBeGreaterThan(0);
  const last = requests.requestsOf('main').at(-1);
  expect(last && contextOf(last)).toContain('INSTRUCTIONS-PLAN');
});

it('[P4/5] [P1/7] a clear hands the run on to the next session, and opens the position', async () => {
  const { at, state } = await begun();
  model.on(
    lastUser(/go on/),
    reply.tool('mcp__stepfast__workflow_advance', { at, output: 'The plan is there.' }),
    reply.text('Please type /clear.'),
  );
  model.on(lastUser(/and now/), reply.text('Building.'));
  const { sessions, requests } = await run({ prompts: ['go on', '/clear', 'and now'] });
  const last = requests.requestsOf('main').at(-1);
  expect(last && contextOf(last)).toContain('INSTRUCTIONS-BUILD');
  expect((await state()).cursors.build?.boundary).toMatchObject({ how: 'reset', by: 'hook' });
  expect(sessions).toHaveLength(2);
});

it('[pain 6] a briefing that was lost after a compaction is injected again with the next prompt', async () => {
  const { at, state } = await begun();
  model.on(lastUser(/go on/), reply.tool(status, { at }), reply.text('Noted.'));
  model.always(summariser(), forgetsAll());
  model.on(lastUser(/and now/), reply.text('Going on.'));
  model.on(lastUser(/once more/), reply.text('Going on.'));
  const { sessions, requests } = await run({
    prompts: ['go on', '/compact', 'and now', 'once more'],
    settings: settings({ lost: 'SessionStart' }),
  });
  expect(contextOf(requests.firstRequestAfterCompaction())).toContain('INSTRUCTIONS-PLAN');
  expect((await state()).briefings[sessions[0] ?? '']?.proven).toBe('transcript');
});

it('[pain 13] a stop is held once where the workflow asks, and the turn goes on with the reason', async () => {
  project.write({ '.stepfast/workflows/w.yaml': `${workflow}stop: hold\n` });
  const { at, state } = await begun();
  model.on(lastUser(/go on/), reply.tool(status, { at }), reply.text('Finished, I think.'));
  model.always(lastUser(/./), reply.text('It is not.'));
  const { requests } = await run({ prompts: ['go on'] });
  expect(requests.containing(`${at} is not finished`).length).toBeGreaterThan(0);
  expect((await state()).cursors.plan?.stops).toBe(1);
});

it('a run that the session starts itself is bound at once, survives a compaction, and leaves no marks', async () => {
  const advance = 'mcp__stepfast__workflow_advance';
  const start = reply.tool('mcp__stepfast__workflow_start', { workflow: 'w' });
  model.on(lastUser(/start it/), start, reply.text('Started.'));
  model.always(summariser(), forgetsAll());
  model.on(
    lastUser(/and now/),
    reply.tool(advance, { output: 'Planned.' }),
    reply.tool(status, {}),
    reply.tool(advance, { output: 'Built.' }),
    reply.text('Done.'),
  );
  const { requests, sessions } = await run({ prompts: ['start it', '/compact', 'and now'] });
  expect(contextOf(requests.firstRequestAfterCompaction())).toContain('INSTRUCTIONS-PLAN');
  const [info] = await project.runtime().engine.runs();
  expect(info?.state?.sessions[sessions[0] ?? '']?.resets).toBe(1);
  expect(info?.state?.status).toBe('complete');
  expect(readdirSync(join(project.root, '.stepfast', 'sessions', 'marks'))).toEqual(['because']);
});

it("[P1/8] a subagent that is handed the position is briefed, and the parent's stop is its own", async () => {
  const { at, state } = await begun();
  model.on(
    lastUser(/go on/),
    reply.tool(status, { at }),
    reply.tool('Agent', {
      description: 'Plan it',
      prompt: `SUB-TASK: work on ${at} and report.`,
      subagent_type: 'general-purpose',
      run_in_background: false,
    }),
    reply.text('It is done.'),
  );
  model.on(subagent(/SUB-TASK/), reply.text('Planned.'));
  const { requests, sessions } = await run({ prompts: ['go on'] });
  const [sub] = requests.requestsOf('subagent');
  expect(sub && contextOf(sub)).toContain('INSTRUCTIONS-PLAN');
  const names = Object.keys((await state()).sessions).filter((name) => name.startsWith(`${sessions[0]}/`));
  expect(names).toHaveLength(1);
});

it("what the position's agent cannot use is denied", async () => {
  const { at } = await begun();
  const edit = { file_path: join(project.root, 'README.md'), old_string: 'A project', new_string: 'B' };
  model.on(
    lastUser(/go on/),
    reply.tool(status, { at }),
    reply.tool('Read', { file_path: join(project.root, 'README.md') }),
    reply.tool('Edit', edit),
    reply.text('I may not.'),
  );
  const { requests } = await run({ prompts: ['go on'] });
  const last = requests.requestsOf('main').at(-1);
  expect(last && contextOf(last)).toContain("the agent 'reviewer', which may not use Edit");
});

it('[002/9] without a run the requests are those of a session without hooks', async () => {
  model.always(lastUser(/hello/), reply.text('Hello.'));
  const asked = async (hooks: Record<string, unknown>): Promise<string[]> => {
    const { requests } = await run({ prompts: ['hello'], settings: hooks });
    return requests.requestsOf('main').map((request) => contextOf(request));
  };
  const [withHooks] = await asked(settings());
  const [without] = await asked({});
  expect(withHooks?.length).toBe(without?.length);
  expect(existsSync(join(project.root, '.stepfast', 'sessions'))).toBe(false);
});
