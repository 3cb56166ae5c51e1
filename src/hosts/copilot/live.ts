import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { type Check, type Environment, type FoundHost, openRuntime } from '../../runtime/index.ts';
import { type IsMain, startModel, type ToolCall } from '../live-model.ts';
import { isPayload, partIn, textIn } from '../payload.ts';
import { runHookCommand } from '../run-hook-command.ts';
import { parseRecord } from '../transcript-record.ts';
import { registrations } from './capabilities.ts';
import { kindOf } from './parse-payload.ts';
import { pluginFolder } from './plugin-files.ts';

/** Part of the temporary run's briefing: a request that contains it got the briefing. */
const canary = 'STEPFAST-CANARY-7f3d';

const workflow = `name: canary
description: Proves that hooks arrive
required_reading: ["@note.md"]
agents:
  looker: { description: Looks, cannot: [web_fetch] }
steps:
  - { id: one, type: action, instructions: "${canary} stands in every briefing." }
`;

/** Usually all of it takes less than a minute; a busy machine needs more. */
const aloneMs = 120_000;
const sessionMs = 180_000;
/** The first takes the run up. */
const prompts = ['continue', '/compact', 'Go on.'];

/** Checks every registered hook: started directly, then by the host. */
export async function tryLive(
  found: FoundHost | undefined,
  plugin: string,
  env: Environment,
): Promise<Check[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-doctor-')));
  try {
    const [home, root] = [join(folder, 'home'), join(folder, 'project')];
    for (const each of [join(home, 'tmp'), join(root, '.stepfast', 'workflows')])
      mkdirSync(each, { recursive: true });
    writeFileSync(join(root, '.stepfast', 'workflows', 'canary.yaml'), workflow);
    writeFileSync(join(root, 'note.md'), 'A note.\n');
    const around: Record<string, string> = {
      PATH: [dirname(process.execPath), env.PATH ?? ''].join(':'),
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      LANG: 'C.UTF-8',
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CACHE_HOME: join(home, 'cache'),
    };
    const runner = { program: process.execPath, args: [] };
    const runtime = openRuntime({ cwd: root, home, env: around, runner });
    const { reply } = await runtime.start({ workflow: 'canary' }, { session: 'doctor' });
    const mine = join(plugin, pluginFolder);
    const checks = [checkCommands(mine, root, around)];
    if (!found) return checks;
    const model = await startModel(callsFor(root, 'at' in reply ? reply.at : undefined), isMain);
    try {
      const session = { ...around, ...modelEnvironment(model.url), COPILOT_HOME: join(home, '.copilot') };
      for (const [index, prompt] of prompts.entries()) {
        const args = ['-p', prompt, '--plugin-dir', mine, '--allow-all-tools', '--no-color'];
        if (index > 0) args.push('--continue');
        const why = await runPrompt(found.program, args, root, session);
        if (why === undefined) continue;
        checks.push({ what: 'session', state: 'wrong', says: why, next: 'copilot --version' });
        break;
      }
      const fired = hooksIn(join(home, '.copilot', 'session-state'));
      return [...checks, ...judged(fired), checkBriefing(model.requests())];
    } finally {
      model.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The model of this check, and no other address. */
export const modelEnvironment = (url: string): Record<string, string> => ({
  COPILOT_OFFLINE: 'true',
  COPILOT_PROVIDER_TYPE: 'anthropic',
  COPILOT_PROVIDER_BASE_URL: url,
  COPILOT_PROVIDER_API_KEY: 'dummy-key',
  COPILOT_MODEL: 'claude-sonnet-4',
  COPILOT_AUTO_UPDATE: 'false',
});

const summarizer = 'Please create a detailed summary of the conversation so far';
const subagentPrompt = 'Say OK to the doctor.';

const isMain: IsMain = (_, body) =>
  !body.includes(summarizer) && (body.includes('"agent_type":"task"') || !body.includes(subagentPrompt));

/** One call for each tool that a hook is registered for. */
const callsFor = (root: string, at: string | undefined): ToolCall[] => [
  { name: 'view', input: { path: join(root, 'note.md') } },
  { name: 'create', input: { path: join(root, 'made.md'), file_text: 'Made.\n' } },
  { name: 'bash', input: { command: 'true', description: 'Does nothing' } },
  { name: 'stepfast-workflow_status', input: at === undefined ? {} : { at } },
  {
    name: 'task',
    input: { description: 'Say OK', prompt: subagentPrompt, agent_type: 'task', name: 'ok', mode: 'sync' },
  },
];

function checkCommands(plugin: string, cwd: string, env: Record<string, string>): Check {
  const registered: unknown = JSON.parse(readFileSync(join(plugin, 'hooks.json'), 'utf8'));
  const hooks = isPayload(registered) ? partIn(registered, 'hooks') : undefined;
  const deadline = Date.now() + aloneMs;
  let count = 0;
  const failed = Object.entries(hooks ?? {}).flatMap(([event, entries]) =>
    (Array.isArray(entries) ? entries : []).flatMap((entry) => {
      const command = isPayload(entry) ? textIn(entry, 'bash') : undefined;
      if (command === undefined) return `${event} has no command`;
      count += 1;
      const payload = {
        sessionId: `doctor-${count}`,
        timestamp: Date.now(),
        cwd,
        prompt: 'x',
        source: 'new',
      };
      const { status, stderr, problem } = runHookCommand(command, {
        ...{ cwd: plugin, payload },
        env: { ...env, PLUGIN_ROOT: plugin, CLAUDE_PROJECT_DIR: cwd, COPILOT_PROJECT_DIR: cwd },
        timeoutMs: Math.max(1, deadline - Date.now()),
      });
      if (problem !== undefined) return `${event}: ${problem}`;
      // Exit 2 shows a text to the person.
      return status === 0 || (status === 2 && kindOf[event] !== 'before_tool')
        ? []
        : `${event}: ${stderr || `exit ${status}`}`;
    }),
  );
  const what = 'hook commands';
  if (failed.length > 0)
    return { what, state: 'wrong', says: failed.join('; '), next: `${commandName()} init` };
  return { what, state: 'ok', says: `all ${count} run by themselves` };
}

/** Runs the real host with one prompt. Returns the reason of a failure. */
async function runPrompt(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
): Promise<string | undefined> {
  const host = spawn(program, [...args], {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let stderr = '';
  host.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const why = await new Promise<string | undefined>((resolve) => {
    const late = setTimeout(resolve, sessionMs, `it had not ended after ${sessionMs / 1000} s`);
    const over = (reason: string | undefined): void => {
      clearTimeout(late);
      resolve(reason);
    };
    host.once('error', (error) => over(error.message));
    host.once('exit', (code) =>
      over(code === 0 ? undefined : `it ended with ${code}: ${stderr.trim().slice(-300)}`),
    );
  });
  try {
    // Ends its child processes too.
    if (host.pid !== undefined) process.kill(-host.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
  return why;
}

/** The host records each start of its hooks. */
function hooksIn(sessions: string): Map<string, boolean> {
  const fired = new Map<string, boolean>();
  for (const name of readdirSync(sessions).filter((each) => !each.startsWith('.')))
    for (const line of readFileSync(join(sessions, name, 'events.jsonl'), 'utf8').split('\n')) {
      const record = parseRecord(line);
      const data = record?.type === 'hook.end' ? partIn(record, 'data') : undefined;
      const event = textIn(data, 'hookType');
      if (event !== undefined) fired.set(event, (fired.get(event) ?? true) && data?.success === true);
    }
  return fired;
}

function judged(fired: ReadonlyMap<string, boolean>): Check[] {
  return [...new Set(registrations.map(({ event }) => event))].map((what): Check => {
    const success = fired.get(what);
    const next = `copilot update, then: ${commandName()} init --host copilot`;
    if (success === undefined)
      return { what, state: 'wrong', says: 'silent: the host never started it', next };
    if (!success) return { what, state: 'wrong', says: 'failed, or the host killed it', next };
    return { what, state: 'ok', says: 'proven: the host started it' };
  });
}

/** Of the first and the last request: at the start, and after the compaction. */
function checkBriefing(requests: readonly string[]): Check {
  const what = 'briefing';
  const missing = [requests[0], requests.at(-1)].filter((body) => !body?.includes(canary)).length;
  if (missing === 0)
    return { what, state: 'ok', says: 'proven: in the requests at the start and after a compaction' };
  const says = `silent: not in ${missing === 2 ? 'any request' : 'one of two requests'}`;
  return { what, state: 'wrong', says, next: 'report this with the version of Copilot CLI' };
}
