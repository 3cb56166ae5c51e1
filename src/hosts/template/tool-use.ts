import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { type Payload, partIn, textIn } from '../payload.ts';

const kinds: Readonly<Record<string, ToolKind>> = {
  edit_file: 'write',
  read_file: 'read',
  shell: 'shell',
  start_agent: 'agent',
  write_file: 'write',
};

export const stepfastTool = /^stepfast\.(workflow_[a-z_]+|update_todo_list)$/;

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'tool');
  if (name === undefined) return undefined;
  const [input, call] = [partIn(payload, 'input'), stepfastTool.exec(name)?.[1]];
  if (call !== undefined) return ownCall(name, call, { tool_input: input, tool_response: payload.output });
  const kind = Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';
  const [path, command, shown] = [textIn(input, 'path'), textIn(input, 'command'), textIn(payload, 'output')];
  const [agent, prompt] = [textIn(input, 'role'), textIn(input, 'task')];
  return {
    name,
    kind,
    ...(path === undefined ? {} : { path }),
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    ...(kind === 'shell' && shown !== undefined ? { shown } : {}),
    ...(kind === 'read' ? { whole: input?.lines === undefined } : {}),
    ...(kind === 'agent' && agent !== undefined ? { agent } : {}),
    ...(kind === 'agent' && prompt !== undefined ? { prompt } : {}),
  };
}
