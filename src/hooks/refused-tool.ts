import type { Definition } from '../machine/index.ts';
import {
  appliesIn,
  currentToolName,
  type HostTools,
  parseToolRule,
  type ToolRule,
  type ToolUse,
} from '../runtime/index.ts';
import { isAllowedCommand, isForbiddenCommand } from './shell-patterns.ts';

type RefusedTool = { because: 'cannot' } | { because: 'not_listed'; allowed: readonly string[] };

/** Why an agent of the workflow may not use a tool of the host; undefined where it may. */
export function refusedTool(
  { agents = {} }: Definition,
  agent: string,
  tool: ToolUse,
  host: HostTools | undefined,
): RefusedTool | undefined {
  if (tool.kind === 'stepfast') return undefined;
  const { tools, cannot = [] } = (Object.hasOwn(agents, agent) ? agents[agent] : undefined) ?? {};
  const names = (rule: ToolRule): boolean => isNamed(rule.name, tool.name, host);
  const forbids = (rule: ToolRule): boolean =>
    names(rule) && (rule.pattern === undefined || isForbiddenCommand(tool.command, rule.pattern));
  if (cannot.map(parseToolRule).some(forbids)) return { because: 'cannot' };
  const listed = (tools ?? []).map(parseToolRule).filter((rule) => !host || appliesIn(host, rule));
  // A list that has only names of other hosts is not about this one.
  const limits = tools && (listed.length > 0 || tools.length === 0);
  if (!limits || host?.always.includes(tool.name)) return undefined;
  const mine = listed.filter(names);
  const patterns = mine.flatMap(({ pattern }) => pattern ?? []);
  const allowed = mine.length > patterns.length || isAllowedCommand(tool.command, patterns);
  return allowed ? undefined : { because: 'not_listed', allowed: tools };
}

/** A name, the beginning of names (`mcp__browser__*`), or a whole MCP server (`mcp__browser`). */
function isNamed(name: string, tool: string, host: HostTools | undefined): boolean {
  if (name.endsWith('*')) return tool.startsWith(name.slice(0, -1));
  if (name.startsWith('mcp__')) return tool === name || tool.startsWith(`${name}__`);
  const current = (each: string): string => (host && currentToolName(host, each)) ?? each;
  return current(name) === current(tool);
}
