import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, Environment } from '../../../runtime/index.ts';
import { textIn } from '../../payload.ts';
import { type AppServer, listHooks } from '../app-server.ts';
import { serverFor } from '../plugin-folder.ts';
import { pluginHooks } from '../plugin-hooks.ts';
import { settingArgs } from '../setting-args.ts';
import { variables } from '../variables.ts';

/**
 * Hooks and tools for this process alone, so that it does not matter what is installed. Otherwise the person's own
 * settings apply.
 */
export function overrides({ command, plugin }: Pick<DrivenOptions, 'command' | 'plugin'>): string[] {
  const hooks = plugin === undefined ? {} : pluginHooks(plugin);
  return settingArgs({
    'mcp_servers.stepfast': serverFor(command),
    'plugins."stepfast@stepfast".enabled': false,
    ...Object.fromEntries(Object.entries(hooks).map(([event, entries]) => [`hooks.${event}`, entries])),
  });
}

/** Starts a thread, or continues one. Its id is the id of the session. */
export async function openThread(server: AppServer, options: DrivenOptions): Promise<string> {
  const { resume, cwd, model, permissions } = options;
  const hooks = await listHooks(server, cwd);
  // Only of this process: what the person has not trusted stays so.
  const ours = hooks.filter(({ key }) => key.startsWith('/<session-flags>/'));
  const state = Object.fromEntries(ours.map(({ key, hash }) => [key, { trusted_hash: hash }]));
  const params = {
    cwd,
    // Nobody can be asked.
    approvalPolicy: 'never',
    sandbox: permissions === undefined ? await sandboxOf(server, cwd) : checked(permissions),
    config: { 'hooks.state': state },
    ...(model === undefined ? {} : { model }),
  };
  const { thread } =
    resume === undefined
      ? await server.request('thread/start', params)
      : await server.request('thread/resume', { ...params, threadId: resume, excludeTurns: true });
  const id = typeof thread === 'object' && thread !== null && 'id' in thread ? String(thread.id) : undefined;
  if (id === undefined) throw new StepfastError('host_failed', 'Codex gave no id to its thread.');
  return id;
}

/** Where the person has chosen none, the agent may write in its worktree. */
async function sandboxOf({ request }: AppServer, cwd: string): Promise<string> {
  const { config } = await request('config/read', { cwd });
  const chosen = textIn(config as Record<string, unknown>, 'sandbox_mode');
  return chosen === 'danger-full-access' ? chosen : 'workspace-write';
}

function checked(permissions: string): string {
  if (permissions === 'read-only' || permissions === 'workspace-write') return permissions;
  throw new StepfastError(
    'bad_permissions',
    `The permission mode '${permissions}' is refused for a session of Codex without a person. Use read-only or workspace-write.`,
  );
}

/** Without what a surrounding session of a host has set. */
export function environmentFor(env: Environment): Record<string, string | undefined> {
  const own = new Set([...variables.agent, ...variables.internal]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
