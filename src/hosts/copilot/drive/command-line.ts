import { join } from 'node:path';
import { StepfastError } from '../../../errors.ts';
import {
  currentToolName,
  type DrivenOptions,
  type Environment,
  parseToolRule,
} from '../../../runtime/index.ts';
import { pluginFolder } from '../plugin-files.ts';
import { copilotTools } from '../tool-names.ts';
import { variables } from '../variables.ts';

const modes = ['interactive', 'plan', 'autopilot'];

/** Without the prompt and the session. Throws `bad_permissions`. What is not allowed here, the host denies by itself. */
export function argumentsFor(options: DrivenOptions): string[] {
  const { command, plugin, model, permissions, tools = [], cannot = [] } = options;
  if (permissions !== undefined && !modes.includes(permissions))
    throw new StepfastError(
      'bad_permissions',
      `'${permissions}' is not a mode that a session of Copilot CLI without a person may have (${modes.join(', ')}). Name the allowed tools in the workflow, under \`tools\` of its agent.`,
    );
  const [program = '', ...args] = command;
  const server = { type: 'local', command: program, args: [...args, 'mcp', '--tools-only'], tools: ['*'] };
  const allowed = ['stepfast', ...tools.flatMap(allowRule)];
  return [
    ...['--output-format', 'json', '--no-color', '--no-ask-user'],
    ...(plugin === undefined
      ? ['--additional-mcp-config', JSON.stringify({ mcpServers: { stepfast: server } })]
      : ['--plugin-dir', join(plugin, pluginFolder)]),
    ...allowed.map((rule) => `--allow-tool=${rule}`),
    ...cannot.flatMap(refusal),
    ...(permissions === undefined ? [] : ['--mode', permissions]),
    ...(model === undefined ? [] : ['--model', model]),
  ];
}

/** Reading needs no permission. `*` alone limits nothing and allows nothing. */
function allowRule(entry: string): string[] {
  const { name, pattern } = parseToolRule(entry);
  const mcp = mcpRule(name);
  if (mcp !== undefined) return [mcp];
  const tool = currentToolName(copilotTools, name);
  if (tool === 'bash' || tool === 'powershell') {
    const rule = shellRule(pattern);
    // Any command can write files; the host asks for a redirection all the same.
    return rule === 'shell' ? [rule, 'write'] : [rule];
  }
  if (tool === 'create' || tool === 'edit' || tool === 'apply_patch') return ['write'];
  return tool === 'web_fetch' ? ['url'] : [];
}

function refusal(entry: string): string[] {
  const { name, pattern } = parseToolRule(entry);
  const mcp = mcpRule(name);
  if (mcp !== undefined) return [`--deny-tool=${mcp}`];
  const tool = currentToolName(copilotTools, name);
  if (tool === undefined) return [];
  return pattern === undefined ? [`--excluded-tools=${tool}`] : [`--deny-tool=${shellRule(pattern)}`];
}

/** `git *` and `git:*` are all commands that begin so. */
const shellRule = (pattern: string | undefined): string =>
  pattern === undefined || pattern === '*' ? 'shell' : `shell(${pattern.replace(/[\s:]*\*$/, ':*')})`;

function mcpRule(name: string): string | undefined {
  const [, server, tool = ''] = /^mcp__(.+?)(?:__(.*))?$/.exec(name) ?? [];
  if (server === undefined) return undefined;
  return tool === '' || tool === '*' ? server : `${server}(${tool})`;
}

/** Without what a surrounding session of the host has set. */
export function environmentFor(env: Environment): Record<string, string | undefined> {
  const own = new Set([...variables.agent, ...variables.internal]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
