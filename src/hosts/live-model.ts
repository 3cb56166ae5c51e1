import { createServer, type IncomingMessage } from 'node:http';

export interface ToolCall {
  name: string;
  /** Plain text for a tool of the Responses API that takes it. */
  input: Record<string, unknown> | string;
}

/** A minimal model for the host: calls these tools one after the other, then replies OK. It speaks the Messages API and the Responses API. */
export interface LiveModel {
  url: string;
  /** The raw bodies of the requests. */
  requests(): readonly string[];
  close(): void;
}

/** Whether a request is of the session itself, and not of a subagent, the summarizer or a side question of the host. */
export type IsMain = (request: IncomingMessage, body: string) => boolean;

export async function startModel(calls: readonly ToolCall[], isMain: IsMain): Promise<LiveModel> {
  const left = [...calls];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const path = request.url?.split('?')[0];
    const answer = path === '/v1/messages' ? answerMessages : answerResponses;
    if (path !== '/v1/messages' && path !== '/v1/responses') return void response.writeHead(404).end('{}');
    requests.push(body);
    const call = isMain(request, body) ? left.shift() : undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { type, ...data } of answer(requests.length, call))
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Event {
  type: string;
  [key: string]: unknown;
}

function answerMessages(n: number, call: ToolCall | undefined): Event[] {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: 'doctor', content: [], usage };
  const block = call
    ? { type: 'tool_use', id: `toolu_${n}`, name: call.name, input: {} }
    : { type: 'text', text: '' };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: 'OK' };
  const reason = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: reason, usage },
    { type: 'message_stop' },
  ];
}

function answerResponses(n: number, call: ToolCall | undefined): Event[] {
  const item = call
    ? { ...itemOf(call), id: `item_${n}`, call_id: `call_${n}` }
    : { type: 'message', role: 'assistant', id: `msg_${n}`, content: [{ type: 'output_text', text: 'OK' }] };
  const id = `resp_${n}`;
  const usage = { input_tokens: 10, output_tokens: 1, total_tokens: 11 };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage } },
  ];
}

/** Tools of servers are in a namespace. */
function itemOf({ name, input }: ToolCall): object {
  if (typeof input === 'string') return { type: 'custom_tool_call', name, input };
  const [, namespace, own] = /^(mcp__.+?)__(.+)$/.exec(name) ?? [];
  const place = own === undefined ? { name } : { namespace, name: own };
  return { type: 'function_call', ...place, arguments: JSON.stringify(input) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
