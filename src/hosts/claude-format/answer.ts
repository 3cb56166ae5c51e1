import type { ToolUse } from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';

/** A call of one of Stepfast's own tools. `call` is its name without the host's prefix. */
export function ownCall(name: string, call: string, payload: Payload): ToolUse {
  const at = textIn(partIn(payload, 'tool_input'), 'at');
  const answer = answerIn(payload.tool_response);
  return {
    name,
    kind: 'stepfast',
    call,
    ...(at === undefined ? {} : { at }),
    ...(answer === undefined ? {} : { answer }),
  };
}

/** The structured content of a tool's response, in any of the wrappings in which a host passes it on. */
function answerIn(response: unknown): ToolUse['answer'] {
  const structure = structureIn(response, 4);
  if (!structure) return undefined;
  const [run, at] = [textIn(structure, 'run'), textIn(structure, 'at')];
  return {
    ...(run === undefined ? {} : { run }),
    ...(at === undefined ? {} : { at }),
    refused: structure.code !== undefined,
  };
}

function structureIn(value: unknown, depth: number): Payload | undefined {
  if (depth === 0) return undefined;
  if (typeof value === 'string') return structureIn(parsed(value), depth - 1);
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = structureIn(isPayload(item) && 'text' in item ? item.text : item, depth - 1);
      if (found) return found;
    }
    return undefined;
  }
  if (!isPayload(value)) return undefined;
  const inner = value.structuredContent ?? value.content;
  return inner === undefined ? value : structureIn(inner, depth - 1);
}

function parsed(text: string): unknown {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
