import { child, entries, items, type MapNode, type Report, textOf } from './yaml-tree.ts';

/** What is wrong with a name in `tools` or `cannot`. `title`: the hosts whose names count. */
export type ToolProblem =
  | { is: 'unknown'; title: string; meant: string | undefined }
  | { is: 'renamed'; title: string; name: string }
  | { is: 'elsewhere'; title: string; programs: string[] }
  | { is: 'no_pattern'; shells: string[] }
  | { is: 'own' };

/** undefined where nothing is wrong. */
export type CheckTool = (name: string, list: 'tools' | 'cannot') => ToolProblem | undefined;

/** A name that no host has would allow or refuse nothing, and no one would notice. */
export function checkAgents(root: MapNode, checkTool: CheckTool, report: Report): void {
  for (const [agent, { value }] of entries(child(root, 'agents')))
    for (const list of ['tools', 'cannot'] as const)
      for (const node of items(child(value, list))) {
        const name = textOf(node);
        const problem = name === undefined ? undefined : checkTool(name, list);
        if (name === undefined || !problem) continue;
        const { severity, code, message, suggestion } = worded(problem, name);
        report(severity, code, node, `Agent '${agent}': ${message}`, suggestion);
      }
}

function worded(problem: ToolProblem, name: string) {
  switch (problem.is) {
    case 'unknown':
      return {
        severity: 'error',
        code: 'unknown_tool',
        message: `${problem.title} has no tool '${name}'`,
        suggestion:
          problem.meant === undefined
            ? 'Write a name like Read, Edit or Bash, or one of an MCP server: mcp__SERVER__TOOL.'
            : `Did you mean '${problem.meant}'?`,
      } as const;
    case 'renamed':
      return {
        severity: 'error',
        code: 'unknown_tool',
        message: `${problem.title} no longer has a tool '${name}'`,
        suggestion: `Write '${problem.name}' instead.`,
      } as const;
    case 'elsewhere':
      return {
        severity: 'warning',
        code: 'foreign_tool',
        message: `'${name}' is a tool of ${problem.programs.join(', ')}; ${problem.title} has none of that name`,
        suggestion: `It has no effect in ${problem.title}: add the name that the tool has there.`,
      } as const;
    case 'no_pattern':
      return {
        severity: 'error',
        code: 'unknown_tool',
        message: `'${name}' has a pattern, which only ${problem.shells.join(', ')} may have`,
        suggestion: `Write the name alone, or a pattern for a command: Bash(git *).`,
      } as const;
    case 'own':
      return {
        severity: 'warning',
        code: 'own_tool',
        message: `'${name}' has no effect: Stepfast's own tools are never refused`,
        suggestion: 'Remove it.',
      } as const;
  }
}
