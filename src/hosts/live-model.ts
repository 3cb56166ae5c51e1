import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** A minimal model for the host: calls these tools one after the other, then replies OK. */
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
    if (path !== '/v1/messages') return void response.writeHead(404).end('{}');
    requests.push(body);
    const call = isMain(request, body) ? left.shift() : undefined;
    answer(response, requests.length, call);
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

function answer(response: ServerResponse, n: number, call: ToolCall | undefined): void {
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: 'doctor', content: [], usage };
  const block = call
    ? { type: 'tool_use', id: `toolu_${n}`, name: call.name, input: {} }
    : { type: 'text', text: '' };
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: 'OK' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
  send('content_block_start', { index: 0, content_block: block });
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', {
    delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage,
  });
  send('message_stop', {});
  response.end();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
