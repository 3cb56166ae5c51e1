import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Usage } from './reply.ts';
import type { Block } from './request.ts';

/** A whole answer in the form of the Messages API. */
export interface AssistantMessage {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: Block[];
  stop_reason: 'end_turn' | 'tool_use';
  stop_sequence: null;
  usage: Usage;
}

export async function stream(response: ServerResponse, message: AssistantMessage, wordMs = 0): Promise<void> {
  const { content, usage, stop_reason, stop_sequence } = message;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (type: string, data: Record<string, unknown>): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  send('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  });
  for (const [index, block] of content.entries()) {
    send('content_block_start', { index, content_block: emptied(block) });
    for (const delta of deltasOf(block, wordMs > 0)) {
      if (wordMs > 0) await setTimeout(wordMs);
      if (response.destroyed) return;
      send('content_block_delta', { index, delta });
    }
    send('content_block_stop', { index });
  }
  send('message_delta', { delta: { stop_reason, stop_sequence }, usage });
  send('message_stop', {});
  response.end();
}

function emptied(block: Block): Block {
  return block.type === 'tool_use' ? { ...block, input: {} } : { ...block, text: '' };
}

function deltasOf(block: Block, byWord: boolean): Record<string, string>[] {
  if (block.type === 'tool_use')
    return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }];
  const text = block.text ?? '';
  return (byWord ? text.split(/(?<= )/) : [text]).map((part) => ({ type: 'text_delta', text: part }));
}
