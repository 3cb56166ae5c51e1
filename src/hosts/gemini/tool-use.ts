import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';

const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  replace: 'write',
  run_shell_command: 'shell',
  write_file: 'write',
};

export const stepfastTool = /^mcp_stepfast_(workflow_[a-z_]+|update_todo_list)$/;

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return undefined;
  const response = partIn(payload, 'tool_response');
  const call = stepfastTool.exec(name)?.[1];
  // What the model gets is wrapped; what a person sees is the answer as it was.
  if (call !== undefined) return ownCall(name, call, { ...payload, tool_response: response?.returnDisplay });
  const input = partIn(payload, 'tool_input');
  const kind = Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';
  const [path, command] = [textIn(input, 'file_path'), textIn(input, 'command')];
  const shown = textIn(response, 'returnDisplay');
  return {
    name,
    kind,
    ...(path === undefined ? {} : { path }),
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    ...(kind === 'shell' && shown !== undefined ? { shown } : {}),
    ...(kind === 'read' ? { whole: isWhole(input, response) } : {}),
  };
}

/** A part of a file is announced in what the person sees. */
const isWhole = (input: Payload | undefined, response: Payload | undefined): boolean =>
  numberIn(input, 'start_line') === undefined &&
  numberIn(input, 'end_line') === undefined &&
  textIn(response, 'returnDisplay') === undefined &&
  textIn(response, 'error') === undefined;
