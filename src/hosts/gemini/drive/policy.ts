import {
  appliesIn,
  currentToolName,
  type DrivenOptions,
  parseToolRule,
  type ToolRule,
} from '../../../runtime/index.ts';
import { geminiTools, ownTools } from '../tool-names.ts';

type Condition = Readonly<Record<string, string | boolean>>;

/** Read by the model. */
const denials = {
  cannot:
    'The workflow denies this tool to its agent. Do it in another way, or report what you could not do.',
  unlisted:
    'The workflow does not list this tool for its agent. Use the listed ones, or report what you could not do.',
};

/** Whether an agent has rules that the host must enforce. */
export const hasRules = ({ tools, cannot = [] }: Pick<DrivenOptions, 'tools' | 'cannot'>): boolean =>
  cannot.length > 0 || limits(tools);

/**
 * The agent's rules as a policy of the host, in which the highest priority decides. Hooks of tools do not run in a
 * session over ACP, and a tool that is denied for all arguments is not even listed for the model.
 */
export function policyFor({ tools, cannot = [] }: Pick<DrivenOptions, 'tools' | 'cannot'>): string {
  const isLimited = limits(tools);
  const list = (entries: readonly string[]): Condition[] =>
    entries.flatMap((each) => conditions(parseToolRule(each)));
  const always = geminiTools.always.map((toolName) => ({ toolName }));
  return [
    ...ownTools.map((toolName) => rule({ toolName: `mcp_stepfast_${toolName}` }, 'allow', 999)),
    ...list(cannot).map((each) => rule(each, 'deny', 998, denials.cannot)),
    ...(isLimited ? [...list(tools ?? []), ...always].map((each) => rule(each, 'allow', 997)) : []),
    ...(isLimited ? [rule({ toolName: '*' }, 'deny', 996, denials.unlisted)] : []),
  ].join('\n');
}

/** A list that has only names of other hosts is not about this one. */
function limits(tools: readonly string[] | undefined): boolean {
  if (tools === undefined) return false;
  return tools.length === 0 || tools.some((each) => appliesIn(geminiTools, parseToolRule(each)));
}

function rule(
  condition: Condition,
  decision: 'allow' | 'deny',
  priority: number,
  denyMessage?: string,
): string {
  const isShell = condition.toolName === geminiTools.shell && condition.commandRegex === undefined;
  const all = {
    ...condition,
    decision,
    priority,
    ...(denyMessage === undefined ? {} : { denyMessage }),
    // Otherwise the host asks about every `>`.
    ...(decision === 'allow' && isShell ? { allowRedirection: true } : {}),
  };
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `[[rule]]\n${lines.join('\n')}\n`;
}

function conditions({ name, pattern }: ToolRule): Condition[] {
  const [, server, tool = '*'] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
  // For a call the host compares other names of servers than for its list of tools: only a tool's whole name is sure.
  if (server !== undefined)
    return [tool === '*' ? { mcpName: server, toolName: tool } : { toolName: `mcp_${server}_${tool}` }];
  if (name === '*') return [{ toolName: '*' }];
  const found = name.endsWith('*')
    ? geminiTools.names.filter((each) => each.startsWith(name.slice(0, -1)))
    : [currentToolName(geminiTools, name) ?? name];
  return found.map((toolName) =>
    pattern === undefined || toolName !== geminiTools.shell
      ? { toolName }
      : { toolName, commandRegex: commandRegex(pattern) },
  );
}

/** The host looks for it in the JSON of the arguments, right after the quote that opens the command. */
function commandRegex(given: string): string {
  const pattern = given.replace(/:\*$/, ' *');
  const escaped = (text: string): string =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  if (pattern.endsWith(' *') && !pattern.slice(0, -1).includes('*'))
    return `${escaped(pattern.slice(0, -2))}(?: |")`;
  const regex = pattern.split('*').map(escaped).join('.*');
  return pattern.endsWith('*') ? regex : `${regex}"`;
}
