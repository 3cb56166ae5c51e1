/** The OpenAI Responses API, as Codex speaks it, in terms of the Messages API. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Block, lastUserText, type Message, type MessagesBody, type ModelRequest } from './request.ts';
import type { AssistantMessage } from './sse.ts';

interface Item {
  type: string;
  role?: string;
  content?: { text?: string }[];
  name?: string;
  namespace?: string;
  arguments?: string;
  /** Of a tool that takes plain text. */
  input?: string;
  call_id?: string;
  output?: string | { text?: string }[];
}

interface ResponsesTool {
  type: string;
  name?: string;
  description?: string;
  /** Of a namespace. */
  tools?: { name: string; description?: string }[];
}

interface ResponsesBody {
  model: string;
  instructions?: string;
  input: Item[];
  tools?: ResponsesTool[];
}

export function readResponsesRequest(n: number, raw: string, headers: IncomingHttpHeaders): ModelRequest {
  const given: ResponsesBody = JSON.parse(raw);
  const { request_kind: kind = 'turn', agent_name: agent = '/root' } = turnOf(headers);
  const isAgent = agent !== '/root';
  const body: MessagesBody = {
    model: given.model,
    stream: true,
    messages: given.input.flatMap(messageOf),
    tools: (given.tools ?? []).flatMap(({ name = '', description, tools }) =>
      tools
        ? tools.map((tool) => ({ ...tool, name: joined(name, tool.name) }))
        : [{ name, ...(description === undefined ? {} : { description }) }],
    ),
    ...(given.instructions === undefined ? {} : { system: given.instructions }),
  };
  return {
    n,
    at: Date.now(),
    kind: kind !== 'turn' ? 'summariser' : isAgent ? 'subagent' : given.tools?.length ? 'main' : 'small',
    session: String(headers['session-id'] ?? ''),
    ...(isAgent ? { agent } : {}),
    lastUser: lastUserText(body),
    body,
  };
}

function turnOf(headers: IncomingHttpHeaders): { request_kind?: string; agent_name?: string } {
  try {
    return JSON.parse(String(headers['x-codex-turn-metadata']));
  } catch {
    return {};
  }
}

function messageOf(item: Item): Message[] {
  if (item.type === 'message') {
    const role = item.role === 'assistant' || item.role === 'user' ? item.role : 'system';
    return [{ role, content: (item.content ?? []).map(({ text = '' }) => ({ type: 'text', text })) }];
  }
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    const name = joined(item.namespace, item.name ?? '');
    const call: Block = { type: 'tool_use', name, input: inputOf(item) };
    return [{ role: 'assistant', content: [{ ...call, id: item.call_id ?? '' }] }];
  }
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return [];
  const { output = '' } = item;
  const text = typeof output === 'string' ? output : output.map((part) => part.text ?? '').join('\n');
  return [
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: item.call_id ?? '', content: [{ type: 'text', text }] }],
    },
  ];
}

const inputOf = ({ input, arguments: given = '{}' }: Item): unknown =>
  input === undefined ? JSON.parse(given) : { input };

/** Tools of servers are in a namespace, and named as in Claude Code. */
const joined = (namespace: string | undefined, name: string): string =>
  namespace?.startsWith('mcp__') ? `${namespace}__${name}` : name;

export async function streamResponses(
  response: ServerResponse,
  raw: string,
  message: AssistantMessage,
  wordMs = 0,
): Promise<void> {
  const { tools = [] }: ResponsesBody = JSON.parse(raw);
  const { id, content, usage } = message;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (type: string, data: Record<string, unknown>): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  send('response.created', { response: { id } });
  for (const [index, block] of content.entries()) {
    const item = itemOf(block, `${id}_${index}`, tools);
    const place = { output_index: index, item_id: item.id };
    send('response.output_item.added', {
      ...place,
      item: block.type === 'text' ? { ...item, content: [] } : item,
    });
    for (const delta of block.type === 'text' ? wordsOf(block.text ?? '', wordMs) : []) {
      if (wordMs > 0) await setTimeout(wordMs);
      if (response.destroyed) return;
      send('response.output_text.delta', { ...place, content_index: 0, delta });
    }
    send('response.output_item.done', { ...place, item });
  }
  const { input_tokens, output_tokens, cache_read_input_tokens: cached_tokens } = usage;
  const total = {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  send('response.completed', { response: { id, usage: total } });
  response.end();
}

const wordsOf = (text: string, wordMs: number): string[] => (wordMs > 0 ? text.split(/(?<= )/) : [text]);

function itemOf(block: Block, id: string, tools: readonly ResponsesTool[]): Record<string, unknown> {
  if (block.type !== 'tool_use')
    return {
      type: 'message',
      role: 'assistant',
      id: `msg_${id}`,
      content: [{ type: 'output_text', text: block.text }],
    };
  const { id: call_id, name = '', input = {} } = block;
  if (tools.some((tool) => tool.type === 'custom' && tool.name === name)) {
    const { input: text } = input as { input?: string };
    return { type: 'custom_tool_call', id: `ctc_${id}`, call_id, name, input: text ?? '' };
  }
  const call = { type: 'function_call', id: `fc_${id}`, call_id, arguments: JSON.stringify(input) };
  // Not always in the list of tools: Codex may leave them to a search.
  const [, server, own] = /^(mcp__.+?)__(.+)$/.exec(name) ?? [];
  if (own !== undefined) return { ...call, namespace: server, name: own };
  const within = tools.find((tool) => tool.tools?.some((each) => each.name === name));
  return { ...call, name, ...(within ? { namespace: within.name } : {}) };
}
