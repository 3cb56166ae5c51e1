import type { ToolKind, ToolUse } from '../../runtime/index.ts';
import { ownCall } from '../claude-format/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../payload.ts';

const kinds: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  Write: 'write',
  Edit: 'write',
  NotebookEdit: 'write',
  Bash: 'shell',
  Agent: 'agent',
  Task: 'agent',
  CronCreate: 'schedule',
  ScheduleWakeup: 'schedule',
};

/** `mcp__stepfast__workflow_status`, and as a plugin's `mcp__plugin_stepfast_stepfast__workflow_status`. */
const ownServer = 'plugin:stepfast:stepfast';
export const stepfastTool = /^mcp__(?:plugin_stepfast_)?stepfast__(workflow_[a-z_]+|update_todo_list)$/;

export function toolUse(payload: Payload): ToolUse | undefined {
  const name = textIn(payload, 'tool_name');
  if (name === undefined) return undefined;
  const input = partIn(payload, 'tool_input');
  const call = stepfastTool.exec(name)?.[1];
  if (call !== undefined) {
    const isPlugin = textIn(partIn(payload, 'mcp_server'), 'name') === ownServer;
    return { ...ownCall(name, call, payload), ...(isPlugin ? { own: true as const } : {}) };
  }
  const kind = Object.hasOwn(kinds, name) ? (kinds[name] ?? 'other') : 'other';
  const path = textIn(input, 'file_path') ?? textIn(input, 'notebook_path');
  const command = textIn(input, 'command');
  const [agent, prompt] = [textIn(input, 'subagent_type'), textIn(input, 'prompt')];
  return {
    name,
    kind,
    ...(path === undefined ? {} : { path }),
    ...(kind === 'shell' && command !== undefined ? { command } : {}),
    ...(kind === 'read' ? { whole: isWhole(payload) } : {}),
    ...(kind === 'agent' && agent !== undefined ? { agent } : {}),
    ...((kind === 'agent' || kind === 'schedule') && prompt !== undefined ? { prompt } : {}),
  };
}

/** Short files are returned in full; for long ones the response says which lines it has. */
function isWhole(payload: Payload): boolean {
  const file = partIn(partIn(payload, 'tool_response'), 'file');
  const [start, lines, total] = ['startLine', 'numLines', 'totalLines'].map((key) => numberIn(file, key));
  if (lines !== undefined && total !== undefined) return (start ?? 1) <= 1 && lines >= total;
  const input = partIn(payload, 'tool_input');
  return input?.offset === undefined && input?.limit === undefined;
}
