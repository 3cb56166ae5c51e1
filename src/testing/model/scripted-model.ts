import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { geminiFormat } from './gemini.ts';
import type { MessageReply } from './reply.ts';
import { type MessagesBody, type ModelRequest, readRequest } from './request.ts';
import { createRequestLog, type LoggedRequest, type RequestLog } from './request-log.ts';
import { readResponsesRequest, streamResponses } from './responses.ts';
import { createScript, type Script } from './script.ts';
import { type AssistantMessage, stream } from './sse.ts';

/** A model on loopback that answers by a script and keeps every request. */
export interface ScriptedModel extends RequestLog, Pick<Script, 'on' | 'always' | 'left'> {
  /** On 127.0.0.1, for a host in the same network. */
  url: string;
  /** The same server as a Unix socket, for a host in a network namespace. */
  socket: string;
  /** Requests for any other address. */
  strays(): readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server that speaks the Anthropic Messages API, for the real `claude`, and the APIs of
 * OpenAI (Responses) and Gemini.
 *
 * @example
 * ```ts
 * import { createScriptedModel, createTestProject, lastUser, reply, runClaude } from 'stepfast/testing';
 *
 * using project = createTestProject();
 * await using model = await createScriptedModel();
 * model.on(
 *   lastUser(/hello/),
 *   reply.tool('Bash', { command: 'echo hello > hello.txt', description: 'Say hello' }),
 *   reply.text('Done.'),
 * );
 * using run = await runClaude({ cwd: project.root, model, prompts: ['hello'] });
 * console.log(run.turns[0]?.result, model.unmatched().length);
 * ```
 */
export async function createScriptedModel(): Promise<ScriptedModel> {
  const script = createScript();
  const requests: LoggedRequest[] = [];
  const strays: string[] = [];
  const prefix = `toolu_${randomBytes(4).toString('hex')}`;
  let calls = 0;

  const respond = async (
    { read, send }: WireFormat,
    raw: string,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const request = read(requests.length + 1, raw, incoming.headers);
    // Logged before the reply, so that a client that has the reply finds the request.
    const logged: LoggedRequest = { ...request, reply: pending, matched: false };
    requests.push(logged);
    const { reply, matched } = await script.choose(request);
    Object.assign(logged, { reply, matched });
    if (reply.type === 'error') {
      const error = { type: reply.error, message: reply.message };
      return json(response, reply.status, { type: 'error', error }, reply.headers);
    }
    if (reply.delayMs !== undefined) await setTimeout(reply.delayMs);
    const { model } = request.body;
    const message = assistantMessage(request.n, model, reply, raw.length, () => `${prefix}${++calls}`);
    await send(response, raw, message, reply.wordMs);
  };

  const listener: RequestListener = async (incoming, response) => {
    const raw = await readAll(incoming);
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    try {
      const format = formats[path] ?? geminiFormat(path);
      if (format) return await respond(format, raw, incoming, response);
      if (path === '/v1/messages/count_tokens')
        return json(response, 200, { input_tokens: tokensIn(raw.length) });
      strays.push(`${incoming.method} ${path}`);
      json(response, 404, { type: 'error', error: { type: 'not_found_error', message: path } });
    } catch (cause) {
      strays.push(`${incoming.method} ${path}: ${cause}`);
      json(response, 500, { type: 'error', error: { type: 'api_error', message: String(cause) } });
    }
  };

  const directory = mkdtempSync(join(tmpdir(), 'stepfast-model-'));
  const socket = join(directory, 'model.sock');
  const overTcp = createServer(listener);
  const overSocket = createServer(listener);
  await Promise.all([
    new Promise<void>((resolve) => overTcp.listen(0, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => overSocket.listen(socket, resolve)),
  ]);
  const address = overTcp.address();
  const port = typeof address === 'object' ? address?.port : undefined;

  return {
    ...createRequestLog(() => requests),
    on: script.on,
    always: script.always,
    left: script.left,
    url: `http://127.0.0.1:${port}`,
    socket,
    strays: () => strays,
    [Symbol.asyncDispose]: async () => {
      for (const server of [overTcp, overSocket]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** How a host phrases its requests and wants its answers. */
interface WireFormat {
  read(n: number, raw: string, headers: IncomingHttpHeaders): ModelRequest;
  send(response: ServerResponse, raw: string, message: AssistantMessage, wordMs?: number): Promise<void>;
}

const messages: WireFormat = {
  read: (n, raw, headers) => readRequest(n, JSON.parse(raw), headers),
  async send(response, raw, message, wordMs) {
    const { stream: streams }: MessagesBody = JSON.parse(raw);
    if (streams) await stream(response, message, wordMs);
    else json(response, 200, message);
  },
};

/** By the path of the request. */
const formats: Readonly<Record<string, WireFormat>> = {
  '/v1/messages': messages,
  '/v1/responses': { read: readResponsesRequest, send: streamResponses },
};

const pending: MessageReply = { type: 'message', content: [] };

function assistantMessage(
  n: number,
  model: string,
  { content, usage }: MessageReply,
  length: number,
  callId: () => string,
): AssistantMessage {
  const calls = content.some(({ type }) => type === 'tool_use');
  return {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model,
    content: content.map((block) => (block.type === 'tool_use' ? { id: callId(), ...block } : block)),
    stop_reason: calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: tokensIn(length),
      output_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      ...usage,
    },
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / 4);
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
