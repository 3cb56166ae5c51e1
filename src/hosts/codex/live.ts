import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { type Check, type Environment, type FoundHost, openRuntime } from '../../runtime/index.ts';
import { type IsMain, startModel, type ToolCall } from '../live-model.ts';
import { isPayload, numberIn, type Payload, partIn, textIn } from '../payload.ts';
import { type AppServer, type ListedHook, listHooks, startAppServer } from './app-server.ts';
import { trustOf } from './check.ts';
import { marketplace, pluginId } from './installed.ts';
import { settingArgs } from './setting-args.ts';

/** Part of the temporary run's briefing: a request that contains it got the briefing. */
const canary = 'STEPFAST-CANARY-7f3d';

const workflow = `name: canary
description: Proves that hooks arrive
required_reading: ["@note.md"]
agents:
  looker: { description: Looks, cannot: [WebFetch] }
steps:
  - { id: one, type: action, agent: looker, instructions: "${canary} stands in every briefing." }
`;

const sessionMs = 120_000;

/** These need a subagent or an end of the session, or run beside it. */
const untried = ['subagent_start', 'subagent_stop', 'before_tool-agent', 'session_end', 'stop_wake'];

/** A session of the real program with the plugin, the trust and the settings that the person has, as copies. */
export async function tryLive(
  found: FoundHost | undefined,
  _plugin: string,
  env: Environment,
): Promise<Check[]> {
  if (!found) return [];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-doctor-')));
  const [home, root] = [join(folder, 'home'), join(folder, 'project')];
  const around = {
    PATH: [dirname(found.program), dirname(process.execPath), env.PATH ?? ''].join(':'),
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    CODEX_HOME: join(home, '.codex'),
    STEPFAST_DOCTOR_KEY: 'dummy',
  };
  for (const each of [around.TMPDIR, around.CODEX_HOME, join(root, '.stepfast', 'workflows')])
    mkdirSync(each, { recursive: true });
  copySettings(env.CODEX_HOME || join(env.HOME ?? homedir(), '.codex'), around.CODEX_HOME);
  writeFileSync(join(root, '.stepfast', 'workflows', 'canary.yaml'), workflow);
  writeFileSync(join(root, 'note.md'), 'A note.\n');
  try {
    const runner = { program: process.execPath, args: [] };
    const runtime = openRuntime({ cwd: root, home, env: around, runner });
    const { reply } = await runtime.start({ workflow: 'canary' }, { session: 'doctor' });
    const model = await startModel(callsFor('at' in reply ? reply.at : undefined), isMain);
    try {
      return await trySession({ env: around, root, url: model.url }, () => model.requests());
    } finally {
      model.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the person has allowed and installed, and not who they are. */
function copySettings(from: string, to: string): void {
  for (const name of ['config.toml', join('plugins', 'cache', marketplace)])
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true });
}

interface Session {
  env: Environment;
  root: string;
  url: string;
}

interface Fired {
  order: number | undefined;
  status: string | undefined;
  told: string;
}

async function trySession({ env, root, url }: Session, requests: () => readonly string[]): Promise<Check[]> {
  const fired: Fired[] = [];
  let over = (): void => {};
  let server: AppServer;
  try {
    server = await startAppServer({ args: settingsFor(url), env, cwd: root, onNotification });
  } catch (error) {
    return [failedSession(error)];
  }
  const late = setTimeout(() => void server.host.end(0), sessionMs);
  try {
    const ours = (await listHooks(server, root)).filter(({ plugin }) => plugin === pluginId);
    const trust = trustOf(ours);
    if (ours.length === 0) return [{ ...trust, next: `${commandName()} init --host codex` }];
    await allow(server, root, ours);
    await talk();
    return [
      ...(trust.state === 'ok' ? [] : [trust]),
      ...ours.flatMap((hook) => judged(hook, fired) ?? []),
      checkBriefing(requests()),
    ];
  } catch (error) {
    return [failedSession(error)];
  } finally {
    clearTimeout(late);
    await server.host.end(0);
  }

  function onNotification(method: string, params: Payload): void {
    const run = partIn(params, 'run');
    if (method === 'turn/completed') over();
    if (method !== 'hook/completed' || !run) return;
    const entries = Array.isArray(run.entries) ? run.entries.filter(isPayload) : [];
    const told = entries.map((entry) => textIn(entry, 'text') ?? '').join('; ');
    fired.push({ order: numberIn(run, 'displayOrder'), status: textIn(run, 'status'), told });
  }

  async function talk(): Promise<void> {
    const params = { cwd: root, approvalPolicy: 'never', sandbox: 'workspace-write' };
    const { thread } = await server.request('thread/start', params);
    const threadId = isPayload(thread) ? thread.id : undefined;
    const turn = async (method: string, more: object): Promise<void> => {
      const ended = new Promise<void>((resolve) => {
        over = resolve;
      });
      await server.request(method, { threadId, ...more });
      const how = await Promise.race([ended, server.host.finished.then(({ code }) => ({ code }))]);
      if (how) throw new Error(`it ended with ${how.code}: ${server.host.stderr().trim().slice(-300)}`);
    };
    const prompt = (text: string): object => ({ input: [{ type: 'text', text, text_elements: [] }] });
    // The first takes the run up.
    await turn('turn/start', prompt('continue'));
    await turn('thread/compact/start', {});
    await turn('turn/start', prompt('Go on.'));
  }
}

/** The model of this check, and no other address. */
const settingsFor = (url: string): string[] => [
  ...settingArgs({
    model: 'gpt-5.5',
    model_provider: 'stepfast_doctor',
    'model_providers.stepfast_doctor': {
      name: 'Stepfast',
      base_url: `${url}/v1`,
      env_key: 'STEPFAST_DOCTOR_KEY',
      wire_api: 'responses',
      request_max_retries: 0,
      stream_max_retries: 0,
      supports_websockets: false,
    },
    notify: [],
    check_for_update_on_startup: false,
    'analytics.enabled': false,
  }),
  ...['remote_plugin', 'plugin_discovery_prefetch', 'skill_search'].flatMap((name) => ['--disable', name]),
];

/**
 * In the copy of the settings: our hooks are trusted, so that they can be tried, and servers and plugins of others are
 * off. Hooks of the person are not trusted there, because trust is for a path.
 */
async function allow({ request }: AppServer, root: string, ours: readonly ListedHook[]): Promise<void> {
  const { config } = await request('config/read', { cwd: root });
  const others = (key: string): string[] =>
    Object.keys((isPayload(config) && partIn(config, key)) || {})
      .filter((name) => name !== pluginId)
      .map((name) => `${key}.${JSON.stringify(name)}`);
  const edits = [
    ...ours.map(({ key, hash }) => [`hooks.state."${key}".trusted_hash`, hash]),
    ...[...others('mcp_servers'), ...others('plugins')].map((key) => [`${key}.enabled`, false]),
  ].map(([keyPath, value]) => ({ keyPath, value, mergeStrategy: 'upsert' }));
  await request('config/batchWrite', { edits });
}

/** Not of a subagent or the summarizer. */
const isMain: IsMain = ({ headers }) =>
  /"request_kind":\s*"turn"/.test(String(headers['x-codex-turn-metadata']));

/** One call for each kind of tool that a hook is registered for. */
const callsFor = (at: string | undefined): ToolCall[] => [
  { name: 'exec_command', input: { cmd: 'cat note.md', yield_time_ms: 10_000 } },
  { name: 'apply_patch', input: '*** Begin Patch\n*** Add File: made.md\n+Made.\n*** End Patch\n' },
  { name: 'mcp__stepfast__workflow_status', input: at === undefined ? {} : { at } },
];

/** undefined: it was not tried. */
function judged({ command, order }: ListedHook, fired: readonly Fired[]): Check | undefined {
  const [, mark = '', event = ''] = /stepfast-hook\.sh'? (\S+) \S+ (\S+)/.exec(command) ?? [];
  if (untried.includes(mark)) return undefined;
  const what = mark.includes('-') ? `${event} (${mark.split('-')[1]})` : event;
  const next = `codex update, then: ${commandName()} init`;
  const mine = fired.filter((each) => each.order === order);
  const bad = mine.find(({ status }) => status !== 'completed' && status !== 'blocked');
  if (mine.length === 0) return { what, state: 'wrong', says: 'silent: the host never started it', next };
  if (bad) return { what, state: 'wrong', says: `${bad.status}: ${bad.told}`, next };
  return { what, state: 'ok', says: 'proven: the host started it' };
}

/** Of the first and the last request: at the start, and after the compaction. */
function checkBriefing(requests: readonly string[]): Check {
  const what = 'briefing';
  const missing = [requests[0], requests.at(-1)].filter((body) => !body?.includes(canary)).length;
  if (missing === 0)
    return { what, state: 'ok', says: 'proven: in the requests at the start and after a compaction' };
  const says = `silent: not in ${missing === 2 ? 'any request' : 'one of two requests'}`;
  return { what, state: 'wrong', says, next: `${commandName()} init --host codex` };
}

const failedSession = (error: unknown): Check => ({
  what: 'session',
  state: 'wrong',
  says: error instanceof Error ? error.message : String(error),
  next: 'codex doctor',
});
