import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { type Payload, partIn, textIn } from '../payload.ts';

/** In hooks every shell tool is `Bash`, whatever the model calls it. */
const kinds: Readonly<Record<string, ToolKind>> = {
  Bash: 'shell',
  apply_patch: 'write',
  spawn_agent: 'agent',
};

export const stepfastTool = /^mcp__stepfast__(workflow_[a-z_]+|update_todo_list)$/;

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return undefined;
  const call = stepfastTool.exec(name)?.[1];
  if (call !== undefined) return ownCall(name, call, payload);
  const input = partIn(payload, 'tool_input');
  const kind = Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';
  const command = textIn(input, 'command');
  // The output has no exit code, and nothing else around it.
  const shown = textIn(payload, 'tool_response');
  const [agent, prompt] = [textIn(input, 'agent_type'), textIn(input, 'message')];
  return {
    name,
    kind,
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    ...(kind === 'shell' && shown !== undefined ? { shown } : {}),
    ...(kind === 'write' && command !== undefined ? { paths: pathsIn(command) } : {}),
    ...(kind === 'agent' && agent !== undefined ? { agent } : {}),
    ...(kind === 'agent' && prompt !== undefined ? { prompt } : {}),
  };
}

/** The files that a patch writes, as they are called afterwards. */
const pathsIn = (patch: string): string[] =>
  [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  );
