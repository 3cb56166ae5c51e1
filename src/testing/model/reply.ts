import type { Block, ModelRequest } from './request.ts';

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
}

export interface ReplyOptions {
  /** The reported context usage; by default from the request's size. */
  usage?: Partial<Usage>;
  delayMs?: number;
  /** Streams the text word by word with this pause. */
  wordMs?: number;
}

export interface MessageReply extends ReplyOptions {
  type: 'message';
  content: Block[];
}

export interface ErrorReply {
  type: 'error';
  status: number;
  error: string;
  message: string;
  headers?: Readonly<Record<string, string>>;
}

export type Reply = MessageReply | ErrorReply;
/** A reply, or a function that creates it from the request. */
export type Answer = Reply | ((request: ModelRequest) => Reply | Promise<Reply>);

/** A tool that the scripted model calls. */
export interface Call {
  name: string;
  input: Record<string, unknown>;
}

export const reply = {
  text: (text: string, options: ReplyOptions = {}): MessageReply => ({
    type: 'message',
    content: [{ type: 'text', text }],
    ...options,
  }),
  tool: (name: string, input: Record<string, unknown>, options: ReplyOptions = {}): MessageReply =>
    reply.tools([{ name, input }], options),
  /** Several calls in one turn. */
  tools: (calls: readonly Call[], options: ReplyOptions = {}): MessageReply => ({
    type: 'message',
    content: calls.map((call) => ({ type: 'tool_use', ...call })),
    ...options,
  }),
  error: (
    status: number,
    error: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): ErrorReply => ({ type: 'error', status, error, message, headers }),
};

/** Reports a full context, so that the host compacts before its next request. */
export const nearlyFull: Partial<Usage> = { input_tokens: 985_000 };

export function callsTool(given: Reply): boolean {
  return given.type === 'message' && given.content.some(({ type }) => type === 'tool_use');
}
