/** What a host calls its tools. */
export interface HostTools {
  /** The host's name for people. */
  title: string;
  names: readonly string[];
  /** Names that it had earlier, with the current ones. */
  renamed: Readonly<Record<string, string>>;
  /** Tools of other hosts, with the one that does the same here: a workflow's rules hold in every host. */
  same?: Readonly<Record<string, string>>;
  /** The tool whose rules may have a pattern for its commands. */
  shell: string;
  /** Names of Stepfast's own tools in this host begin like this. */
  own: RegExp;
  /** An allow-list never refuses these: an agent finds Stepfast's tools with them, or returns its result. */
  always: readonly string[];
}

/** An entry of `tools` or `cannot`: `Edit`, `mcp__browser__*`, `Bash(git *)`. */
export interface ToolRule {
  name: string;
  /** What is in parentheses: limits the rule to some commands of a shell. */
  pattern?: string;
}

export function parseToolRule(entry: string): ToolRule {
  const [, name = entry, pattern] = /^([^()]+)\((.*)\)$/s.exec(entry.trim()) ?? [];
  return { name: name.trim(), ...(pattern === undefined ? {} : { pattern: pattern.trim() }) };
}

/** The current name of a tool, written in any case and possibly with its earlier name; undefined: there is none. */
export function currentToolName({ names, renamed, same }: HostTools, name: string): string | undefined {
  const isIt = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  return names.find(isIt) ?? Object.entries({ ...same, ...renamed }).find(([other]) => isIt(other))?.[1];
}

/** Whether a rule can apply in the host. Tools of MCP servers are not known beforehand. */
export function appliesIn(tools: HostTools, { name }: ToolRule): boolean {
  if (name.startsWith('mcp__')) return true;
  if (!name.endsWith('*')) return currentToolName(tools, name) !== undefined;
  const start = name.slice(0, -1);
  return 'mcp__'.startsWith(start) || tools.names.some((each) => each.startsWith(start));
}
