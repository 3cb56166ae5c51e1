/** The pinned Codex with a scripted model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AppServer, listHooks, startAppServer } from '../../src/hosts/codex/app-server.ts';
import { type MessageReply, type ReplyOptions, reply } from '../../src/testing/index.ts';
import type { HostSession, HostStage, SessionHost } from './host-stage.ts';
import { createLab, type Lab } from './lab.ts';

export interface CodexLab extends Lab {
  /** The folder of its configuration and sessions. */
  config: string;
}

/** A context window that tests can fill. */
const contextWindow = 200_000;

export async function createCodexLab(files: Record<string, string> = {}): Promise<CodexLab> {
  const lab = await createLab('codex', files);
  const config = join(lab.home, '.codex');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.toml'), settings(lab));
  return { ...lab, config, env: { ...lab.env, CODEX_HOME: config, SCRIPTED_KEY: 'dummy' } };
}

const settings = ({ url, project }: Lab): string => `# The person's own settings.
model = "gpt-5.5"
model_provider = "scripted"
model_context_window = ${contextWindow}
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[features]
remote_plugin = false
plugin_discovery_prefetch = false
skill_search = false

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."${project.root}"]
trust_level = "trusted"
`;

/** As an editor opens it, after the person has trusted the hooks. */
async function openSession({ project, env }: HostStage, resume?: string): Promise<HostSession> {
  const waiting: (() => void)[] = [];
  const server = await startAppServer({
    env,
    cwd: project.root,
    onNotification(method) {
      if (method === 'turn/completed') for (const over of waiting.splice(0)) over();
    },
  });
  await trustHooks(server, project.root);
  const params = { cwd: project.root, approvalPolicy: 'never' };
  const { thread } =
    resume === undefined
      ? await server.request('thread/start', params)
      : await server.request('thread/resume', { ...params, threadId: resume, excludeTurns: true });
  const { id } = thread as { id: string };
  const turn = async (method: string, more: object): Promise<void> => {
    const over = new Promise<void>((resolve) => waiting.push(resolve));
    await server.request(method, { threadId: id, ...more });
    await Promise.race([over, server.host.finished]);
  };
  return {
    id,
    send: async (text) => await turn('turn/start', { input: [{ type: 'text', text, text_elements: [] }] }),
    compact: async () => await turn('thread/compact/start', {}),
    end: async () => await server.host.end(5_000),
  };
}

/** As the person does in the dialog of the terminal. */
export async function trustHooks(server: AppServer, cwd: string): Promise<void> {
  const untrusted = (await listHooks(server, cwd)).filter(({ trusted }) => !trusted);
  const edits = untrusted.map(({ key, hash }) => ({
    keyPath: `hooks.state."${key}".trusted_hash`,
    value: hash,
    mergeStrategy: 'upsert',
  }));
  if (edits.length > 0) await server.request('config/batchWrite', { edits });
}

const shell = (command: string, options?: ReplyOptions): MessageReply =>
  reply.tool('exec_command', { cmd: command, yield_time_ms: 30_000 }, options);

export const codexHost: SessionHost = {
  name: 'codex',
  program: 'codex',
  settings: {},
  unlimited: 'danger-full-access',
  keepsPrompts: true,
  shell,
  own: (tool, input) => reply.tool(`mcp__stepfast__${tool}`, input),
  prepare: createCodexLab,
  open: openSession,
  personFiles: ({ env }) => [join(env.CODEX_HOME ?? '', 'config.toml')],
  command: (words) => `$stepfast ${words}`,
  read: (file) => shell(`cat ${file}`),
  write: (file, text) =>
    reply.tool('apply_patch', {
      input: `*** Begin Patch\n*** Add File: ${file}\n+${text}\n*** End Patch\n`,
    }),
  nearlyFull: { input_tokens: contextWindow - 5_000 },
  afterCompaction: 'next request',
  hidesTrigger: true,
};
