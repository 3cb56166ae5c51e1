/** The Gemini API of a scripted model: requests and replies in the shapes of the Messages API, and back. */
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Block, type Message, type MessagesBody, type ModelRequest, readRequest } from './request.ts';
import type { AssistantMessage } from './sse.ts';

interface Part {
  text?: string;
  functionCall?: { id?: string; name: string; args?: unknown };
  functionResponse?: { id?: string; name?: string; response?: { output?: unknown; error?: unknown } };
}

interface Content {
  role?: string;
  parts?: Part[];
}

interface GeminiBody {
  contents?: Content[];
  systemInstruction?: Content;
  tools?: {
    functionDeclarations?: { name: string; description?: string; parametersJsonSchema?: unknown }[];
  }[];
}

/** Of a path of this API. */
export function geminiFormat(path: string): GeminiFormat | undefined {
  const [, model = '', streams] =
    /^\/v1beta\/models\/([^/:]+):(?:g|(streamG))enerateContent$/.exec(path) ?? [];
  if (model === '') return undefined;
  return {
    read: (n, raw) => readGeminiRequest(n, model, raw),
    send: async (response, _raw, message, wordMs) =>
      await sendReply(response, message, { wordMs, streams: streams !== undefined }),
  };
}

interface GeminiFormat {
  read(n: number, raw: string): ModelRequest;
  send(response: ServerResponse, raw: string, message: AssistantMessage, wordMs?: number): Promise<void>;
}

const summarizes = /<state_snapshot>/;

/** The host names no session: its requests are of one conversation. */
function readGeminiRequest(n: number, model: string, raw: string): ModelRequest {
  const { contents = [], systemInstruction, tools = [] }: GeminiBody = JSON.parse(raw);
  const system = blocksOf(systemInstruction);
  const body: MessagesBody = {
    model,
    system,
    messages: contents.map(messageOf),
    tools: tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name, description = '', parametersJsonSchema }) => ({
        name,
        description,
        input_schema: parametersJsonSchema,
      })),
  };
  const request = readRequest(n, body, {});
  const isSummary = body.tools?.length === 0 && system.some(({ text = '' }) => summarizes.test(text));
  return isSummary ? { ...request, kind: 'summariser' } : request;
}

const messageOf = (content: Content): Message => ({
  role: content.role === 'model' ? 'assistant' : 'user',
  content: blocksOf(content),
});

const blocksOf = ({ parts = [] }: Content = {}): Block[] => parts.flatMap(blocksIn);

/** What a hook injects at a session's start is put before the prompt, in one part with it. */
function blocksIn(part: Part): Block[] {
  const [, injected, prompt] =
    /^(<hook_context>[\s\S]*<\/hook_context>)\s+(\S[\s\S]*)$/.exec(part.text ?? '') ?? [];
  if (injected === undefined) return [blockOf(part)];
  return [injected, prompt].map((text) => blockOf({ text: text ?? '' }));
}

function blockOf({ text, functionCall, functionResponse }: Part): Block {
  if (functionCall) {
    const { id = '', name, args } = functionCall;
    return { type: 'tool_use', id, name, input: args };
  }
  if (!functionResponse) return { type: 'text', text: text ?? '' };
  const { id = '', response = {} } = functionResponse;
  const output = response.output ?? response.error ?? response;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof output === 'string' ? output : JSON.stringify(output),
  };
}

async function sendReply(
  response: ServerResponse,
  { id, model, content, usage }: AssistantMessage,
  { wordMs, streams }: { wordMs: number | undefined; streams: boolean },
): Promise<void> {
  const [input, output] = [usage.input_tokens, usage.output_tokens];
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  };
  const chunk = (parts: Part[], last: boolean): string =>
    JSON.stringify({
      candidates: [
        { index: 0, content: { role: 'model', parts }, ...(last ? { finishReason: 'STOP' } : {}) },
      ],
      ...(last ? { usageMetadata } : {}),
      modelVersion: model,
      responseId: id,
    });
  const parts = content.map(partOf);
  if (!streams) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(chunk(parts, true));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const pieces = wordMs === undefined ? [parts] : parts.flatMap(wordsOf).map((part) => [part]);
  for (const [index, piece] of pieces.entries()) {
    if (wordMs !== undefined) await setTimeout(wordMs);
    if (response.destroyed) return;
    response.write(`data: ${chunk(piece, index === pieces.length - 1)}\n\n`);
  }
  response.end();
}

const partOf = ({ type, text = '', name = '', input }: Block): Part =>
  type === 'tool_use' ? { functionCall: { name, args: input } } : { text };

const wordsOf = (part: Part): Part[] =>
  part.text === undefined ? [part] : part.text.split(/(?<= )/).map((text) => ({ text }));
