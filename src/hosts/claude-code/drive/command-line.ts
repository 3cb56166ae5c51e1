import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, Environment } from '../../../runtime/index.ts';
import { claudeTools } from '../tool-names.ts';
import { variables } from '../variables.ts';

/** Both names that Stepfast's tools can have: of the plugin, and of a server in `--mcp-config`. */
const ownServers = ['mcp__plugin_stepfast_stepfast', 'mcp__stepfast'];

/**
 * `--setting-sources` is left out: the person's settings apply. A plugin of `--plugin-dir` replaces an installed one
 * of the same name, so its hooks and tools are there once, with or without `stepfast init`.
 */
export function argumentsFor(options: DrivenOptions, session: string): string[] {
  const { resume, command, plugin, model, permissions, tools = [], cannot = [] } = options;
  if (permissions === 'bypassPermissions')
    throw new StepfastError(
      'bad_permissions',
      "The permission mode 'bypassPermissions' is refused for a session without a person. Name the allowed tools in the workflow, under `tools` of its agent.",
    );
  const [program = '', ...args] = command;
  const servers = { stepfast: { command: program, args: [...args, 'mcp'] } };
  const allowed = [...ownServers, ...tools.flatMap(rulesFor)];
  const refused = cannot.flatMap(rulesFor);
  return [
    ...['-p', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
    // Asks over the stream where it would ask a person.
    ...['--permission-prompt-tool', 'stdio'],
    ...(resume !== undefined ? ['--resume', session] : ['--session-id', session]),
    ...(plugin === undefined
      ? ['--mcp-config', JSON.stringify({ mcpServers: servers })]
      : ['--plugin-dir', plugin]),
    ...['--allowedTools', allowed.join(',')],
    ...(refused.length === 0 ? [] : ['--disallowedTools', refused.join(',')]),
    ...(permissions === undefined ? [] : ['--permission-mode', permissions]),
    ...(model === undefined ? [] : ['--model', model]),
  ];
}

/** The host's rules know no `*` in the name of a tool and no other case; `*` alone limits nothing and allows nothing. */
function rulesFor(entry: string): string[] {
  const [, name = '', rest = ''] = /^([^(]*)(\(.*\))?$/s.exec(entry.trim()) ?? [];
  if (name === '' || name === '*') return [];
  if (name.startsWith('mcp__'))
    return [name.replace(/(?:__)?\*$/, '') + rest].filter((rule) => rule !== 'mcp');
  const wanted = name.toLowerCase();
  const found = claudeTools.names.filter((each) =>
    wanted.endsWith('*') ? each.toLowerCase().startsWith(wanted.slice(0, -1)) : each.toLowerCase() === wanted,
  );
  return found.map((each) => each + rest);
}

/**
 * Without what a surrounding session of the host has set. The session waits for its MCP servers: without that, the
 * first request on a busy machine has no tools of Stepfast.
 */
export function environmentFor(env: Environment): Record<string, string | undefined> {
  const own = new Set([...variables.agent, ...variables.internal, 'CLAUDE_CODE_CHILD_SESSION']);
  const kept = Object.entries(env).filter(([name]) => !own.has(name));
  return { MCP_CONNECTION_NONBLOCKING: '0', ...Object.fromEntries(kept) };
}
