import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { type Payload, partIn, textIn } from '../payload.ts';

const kinds: Readonly<Record<string, ToolKind>> = {
  apply_patch: 'write',
  bash: 'shell',
  create: 'write',
  edit: 'write',
  powershell: 'shell',
  task: 'agent',
  view: 'read',
};

/** `stepfast-workflow_status`; where the host asks for a permission it is `stepfast/workflow_status`. */
export const stepfastTool = /^stepfast[-/](workflow_[a-z_]+|update_todo_list)$/;

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'toolName');
  if (name === undefined) return undefined;
  const input = partIn(payload, 'toolArgs') ?? partIn(payload, 'toolInput');
  const text = textIn(partIn(payload, 'toolResult'), 'textResultForLlm');
  const call = stepfastTool.exec(name)?.[1];
  if (call !== undefined)
    return { ...ownCall(name, call, { tool_input: input, tool_response: text }), own: true };
  const kind = Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';
  const [path, command, prompt] = ['path', 'command', 'prompt'].map((key) => textIn(input, key));
  const agent = textIn(input, 'agent_type');
  const patch = name === 'apply_patch' ? (textIn(payload, 'toolArgs') ?? textIn(input, 'input')) : undefined;
  const reads = kind === 'shell' || kind === 'read';
  return {
    name,
    kind,
    ...(path === undefined ? {} : { path }),
    ...(patch === undefined ? {} : { paths: pathsIn(patch) }),
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    // A part of a file, and a notice that it is too long, look like a whole file: only its text proves it.
    ...(reads && text !== undefined ? { shown: text } : {}),
    ...(kind === 'agent' && agent !== undefined ? { agent } : {}),
    ...(kind === 'agent' && prompt !== undefined ? { prompt } : {}),
  };
}

/** The files that a patch writes, as they are called afterwards. */
const pathsIn = (patch: string): string[] =>
  [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  );
