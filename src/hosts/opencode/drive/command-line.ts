import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { StepfastError } from '../../../errors.ts';
import { currentToolName, type DrivenOptions, parseToolRule } from '../../../runtime/index.ts';
import { pluginFile } from '../settings-file.ts';
import { openCodeTools } from '../tool-names.ts';
import { variables } from '../variables.ts';

export const serveArguments = ['serve', '--hostname', '127.0.0.1', '--port', '0'];

/** In OpenCode an agent has the permissions; these two it brings itself. */
const agents = ['build', 'plan'];

export function agentFor({ permissions }: Pick<DrivenOptions, 'permissions'>): string | undefined {
  if (permissions === undefined || agents.includes(permissions)) return permissions;
  throw new StepfastError(
    'bad_permissions',
    `OpenCode has no permission mode '${permissions}'. Use one of its agents (${agents.join(', ')}), or name the allowed tools in the workflow, under \`tools\` of its agent.`,
  );
}

export interface ServerEnvironment {
  env: Record<string, string | undefined>;
  /** Other users of the machine can reach the port. */
  password: string;
}

/** On top of the person's own settings, and without what a surrounding session has set. */
export function environmentFor(options: DrivenOptions): ServerEnvironment {
  const { env, command, plugin, tools = [], cannot = [] } = options;
  const own = new Set([...variables.agent, ...variables.internal]);
  const kept = Object.entries(env).filter(([name]) => !own.has(name));
  const password = randomBytes(24).toString('base64url');
  const config = {
    ...(plugin === undefined ? {} : { plugin: [pathToFileURL(pluginFile(plugin)).href] }),
    mcp: { stepfast: { type: 'local', command: [...command, 'mcp'], enabled: true } },
    permission: {
      // Nobody is here to answer.
      question: 'deny',
      'stepfast_*': 'allow',
      ...rules(tools, 'allow'),
      ...rules(cannot, 'deny'),
    },
  };
  return {
    env: {
      ...Object.fromEntries(kept),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_SERVER_PASSWORD: password,
    },
    password,
  };
}

type Action = 'allow' | 'deny';

/** All tools that write have the permission `edit`. */
const permissionOf = (name: string): string =>
  ['write', 'apply_patch', 'multiedit'].includes(name) ? 'edit' : name;

/** `*` alone limits nothing and allows nothing. */
function rules(entries: readonly string[], action: Action): Record<string, Action | Record<string, Action>> {
  const found: Record<string, Action | Record<string, Action>> = {};
  for (const { name, pattern } of entries.map(parseToolRule)) {
    const own = name.startsWith('mcp__') ? name.slice('mcp__'.length).replace('__', '_') : undefined;
    const current = own ?? currentToolName(openCodeTools, name);
    if (name === '*' || current === undefined) continue;
    const key = permissionOf(current);
    const before = found[key];
    if (pattern === undefined) found[key] = action;
    else if (before === undefined || typeof before === 'object')
      found[key] = { ...before, [pattern]: action };
  }
  return found;
}
