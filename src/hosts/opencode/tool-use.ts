import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';

const kinds: Readonly<Record<string, ToolKind>> = {
  apply_patch: 'write',
  bash: 'shell',
  edit: 'write',
  multiedit: 'write',
  patch: 'write',
  read: 'read',
  task: 'agent',
  write: 'write',
};

const stepfastTool = /^stepfast_(workflow_[a-z_]+|update_todo_list)$/;

/** undefined for a name that is not known: it may be any tool of a server. */
export const kindOfTool = (name: string): ToolKind =>
  stepfastTool.test(name) ? 'stepfast' : Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return undefined;
  const call = stepfastTool.exec(name)?.[1];
  if (call !== undefined) return ownCall(name, call, payload);
  const kind = kindOfTool(name);
  const input = partIn(payload, 'tool_input');
  const path = textIn(input, 'filePath');
  const patch = textIn(input, 'patchText');
  const command = textIn(input, 'command');
  const shown = textIn(payload, 'tool_response');
  const [agent, prompt] = [textIn(input, 'subagent_type'), textIn(input, 'prompt')];
  return {
    name,
    kind,
    ...(path === undefined ? {} : { path }),
    ...(kind === 'write' && patch !== undefined ? { paths: pathsIn(patch) } : {}),
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    ...(kind === 'shell' && shown !== undefined ? { shown } : {}),
    ...(kind === 'read' ? { whole: isWhole(payload) } : {}),
    ...(kind === 'agent' && agent !== undefined ? { agent } : {}),
    ...(kind === 'agent' && prompt !== undefined ? { prompt } : {}),
  };
}

/** The result says which lines it has, and whether any was cut. */
function isWhole(payload: Payload): boolean {
  const metadata = partIn(payload, 'tool_metadata');
  const display = partIn(metadata, 'display');
  const [start, end, total] = ['lineStart', 'lineEnd', 'totalLines'].map((key) => numberIn(display, key));
  if (metadata?.truncated === true || display?.truncated === true) return false;
  if (end !== undefined && total !== undefined) return (start ?? 1) <= 1 && end >= total;
  const input = partIn(payload, 'tool_input');
  return input?.offset === undefined && input?.limit === undefined;
}

const pathsIn = (patch: string): string[] =>
  [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  );
