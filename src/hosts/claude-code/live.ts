import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { type Check, type Environment, type FoundHost, openRuntime } from '../../runtime/index.ts';
import { type IsMain, startModel, type ToolCall } from '../live-model.ts';
import { runHookCommand } from '../run-hook-command.ts';
import { capabilities } from './capabilities.ts';
import { type Fired, firedIn, type LiveHook, probed } from './live-probe.ts';
import { environmentFor, runSession } from './live-session.ts';

/** Part of the temporary run's briefing: a request that contains it got the briefing. */
const canary = 'STEPFAST-CANARY-7f3d';

const workflow = `name: canary
description: Proves that hooks arrive
required_reading: ["@note.md"]
agents:
  looker: { description: Looks, cannot: [NotebookEdit] }
steps:
  - { id: one, type: action, instructions: "${canary} stands in every briefing." }
`;

/** Usually all of it takes less than a minute; a busy machine needs more. */
const aloneMs = 60_000;
const sessionMs = 120_000;

/** Checks every registered hook: started directly, then by the host. */
export async function tryLive(
  found: FoundHost | undefined,
  plugin: string,
  env: Environment,
): Promise<Check[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-doctor-')));
  try {
    const home = join(folder, 'home');
    const root = join(folder, 'project');
    const copy = join(folder, 'plugin');
    for (const each of [join(home, 'tmp'), join(root, '.stepfast', 'workflows'), copy])
      mkdirSync(each, { recursive: true });
    writeFileSync(join(root, '.stepfast', 'workflows', 'canary.yaml'), workflow);
    writeFileSync(join(root, 'note.md'), 'A note.\n');
    const hooks = probed(plugin, copy);
    const path = [dirname(process.execPath), env.PATH ?? ''].join(':');
    const around = environmentFor({ home, path });
    const runtime = openRuntime({
      cwd: root,
      home,
      env: around,
      runner: { program: process.execPath, args: [] },
    });
    const { reply } = await runtime.start({ workflow: 'canary' }, { session: 'doctor' });
    const deadline = Date.now() + aloneMs;
    const alone = hooks.flatMap((hook) => runAlone(hook, { plugin, cwd: root, env: around, deadline }) ?? []);
    const checks: Check[] = [
      alone.length > 0
        ? { what: 'hook commands', state: 'wrong', says: alone.join('; '), next: `${commandName()} init` }
        : { what: 'hook commands', state: 'ok', says: `all ${hooks.length} run by themselves` },
    ];
    if (!found) return checks;
    const at = 'at' in reply ? reply.at : undefined;
    const model = await startModel(callsFor(root, at), isMain);
    try {
      const prompts = ['Begin.', '/compact', 'Go on.'];
      const session = { program: found.program, home, cwd: root, plugin: copy, url: model.url, path };
      const why = await runSession({ ...session, prompts, limitMs: sessionMs });
      if (why !== undefined)
        checks.push({
          what: 'session',
          state: 'wrong',
          says: why,
          next: 'claude --version, then: claude doctor',
        });
      const fired = firedIn(copy);
      return [...checks, ...hooks.map((hook) => judged(hook, fired, model.requests()))];
    } finally {
      model.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const isMain: IsMain = ({ headers }, body) =>
  headers['x-claude-code-agent-id'] === undefined &&
  /"tools":\[\{/.test(body) &&
  !body.includes('CRITICAL: Respond with TEXT ONLY');

/** One call for each tool that a hook is registered for. */
const callsFor = (root: string, at: string | undefined): ToolCall[] => [
  { name: 'Read', input: { file_path: join(root, 'note.md') } },
  { name: 'Write', input: { file_path: join(root, 'made.md'), content: 'Made.\n' } },
  { name: 'Bash', input: { command: 'true', description: 'Does nothing' } },
  // Denied by the hook, so nothing is scheduled.
  { name: 'CronCreate', input: { cron: '0 0 1 1 *', prompt: '/stepfast:status', recurring: false } },
  { name: 'mcp__plugin_stepfast_stepfast__workflow_status', input: at === undefined ? {} : { at } },
  {
    name: 'Agent',
    input: {
      description: 'Say OK',
      prompt: 'Say OK.',
      subagent_type: 'general-purpose',
      run_in_background: false,
    },
  },
];

/** Why it does not run; undefined if it does. */
function runAlone(
  { event, mark, command }: LiveHook,
  { plugin, cwd, env, deadline }: { plugin: string; cwd: string; env: Environment; deadline: number },
): string | undefined {
  const payload = {
    session_id: `doctor-${mark}`,
    transcript_path: join(cwd, 'none.jsonl'),
    cwd,
    hook_event_name: event,
    source: 'startup',
    trigger: 'manual',
    reason: 'other',
    prompt: 'Begin.',
    tool_name: 'Read',
    tool_input: { file_path: join(cwd, 'note.md') },
    tool_response: {},
    tool_use_id: 'toolu_doctor',
    agent_id: 'doctor',
    agent_type: 'general-purpose',
  };
  const { status, stderr, problem } = runHookCommand(command, {
    ...{ cwd, payload },
    env: { ...env, CLAUDE_PLUGIN_ROOT: plugin, CLAUDE_PROJECT_DIR: cwd },
    timeoutMs: Math.max(1, deadline - Date.now()),
  });
  if (problem !== undefined) return `${event}: ${problem}`;
  return status === 0 && stderr === '' ? undefined : `${event} (${mark}): ${stderr || `exit ${status}`}`;
}

/** Proven, silent or cut, by the text in the model's requests if the hook adds any. */
function judged({ event, mark }: LiveHook, fired: readonly Fired[], requests: readonly string[]): Check {
  const what = mark === '' ? event : `${event} ${mark.includes('-') ? `(${mark.split('-')[1]})` : ''}`.trim();
  const mine = fired.filter((each) => each.mark === mark);
  const bad = mine.find(({ code }) => code !== 0);
  if (mine.length === 0)
    return {
      what,
      state: 'wrong',
      says: 'silent: the host never started it',
      next: `claude update, then: ${commandName()} init`,
    };
  if (bad)
    return {
      what,
      state: 'wrong',
      says: bad.code === -1 ? 'cut: the host killed it before it finished' : `failed with exit ${bad.code}`,
      next: `${commandName()} init`,
    };
  const told = mine.map(({ stdout }) => textIn(stdout)).filter((text) => text !== '');
  const missing = told.filter((text) => !requests.some((body) => body.includes(inJson(text))));
  if (told.length === 0) return { what, state: 'ok', says: 'proven: the host started it' };
  if (missing.length === 0)
    return { what, state: 'ok', says: 'proven: its text was in the request to the model' };
  const opening = missing.some((text) => requests.some((body) => body.includes(inJson(text.slice(0, 500)))));
  const tells = capabilities.find((each) => each.event === event)?.tells;
  if (tells === 'nothing' || tells === 'block')
    return { what, state: 'ok', says: 'proven: the host started it' };
  return {
    what,
    state: 'wrong',
    says: opening ? 'cut: the model got only the beginning' : 'silent: its text did not reach the model',
    next: 'the next prompt or tool call repeats it; report this with the version of Claude Code',
  };
}

/** The text that a hook sends to the model, plain or as JSON. */
function textIn(stdout: string): string {
  try {
    const { hookSpecificOutput } = JSON.parse(stdout);
    return String(hookSpecificOutput?.additionalContext ?? '');
  } catch {
    return stdout.trim();
  }
}

/** As it appears in the body of a request. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
