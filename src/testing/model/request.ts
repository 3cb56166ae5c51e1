/** A request of the host as data: its kind and its text. */

export interface Block {
  type: string;
  text?: string;
  thinking?: string;
  name?: string;
  id?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | Block[];
}

export interface Message {
  role: 'user' | 'assistant' | 'system';
  content: string | Block[];
}

export interface Tool {
  name: string;
  description?: string;
  input_schema?: unknown;
}

export interface MessagesBody {
  model: string;
  messages: Message[];
  system?: string | Block[];
  tools?: Tool[];
  stream?: boolean;
}

/** `small`: the host's own side questions, which have no tools (titles, prompt hooks). */
export type RequestKind = 'main' | 'summariser' | 'subagent' | 'small';

export interface ModelRequest {
  /** Counts from 1, over all sessions of a model. */
  n: number;
  at: number;
  kind: RequestKind;
  session: string;
  /** The subagent that asks; also set for the summarizer of a subagent's context. */
  agent?: string;
  /** The last text of the user, or of the agent that started the subagent, without tool results, reminders and summaries. */
  lastUser: string;
  body: MessagesBody;
}

/** Of Claude Code and of Copilot CLI. */
const summariserOpenings = [
  'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.',
  'Please create a detailed summary of the conversation so far.',
];
const summariserSystem = /tasked with summarizing conversations|You are a context summarization agent/;

export function readRequest(
  n: number,
  body: MessagesBody,
  headers: Record<string, string | string[] | undefined>,
): ModelRequest {
  const agent = headers['x-claude-code-agent-id'];
  const summarises =
    blocksOf(lastUserMessage(body)).some(({ text }) =>
      summariserOpenings.some((opening) => text?.startsWith(opening)),
    ) || summariserSystem.test(textOf(body.system));
  const kind = summarises
    ? 'summariser'
    : agent !== undefined
      ? 'subagent'
      : (body.tools ?? []).length === 0
        ? 'small'
        : 'main';
  return {
    n,
    at: Date.now(),
    kind,
    session: String(headers['x-claude-code-session-id'] ?? headers['x-session-id'] ?? ''),
    ...(agent === undefined ? {} : { agent: String(agent) }),
    lastUser: lastUserText(body),
    body,
  };
}

/** All text of a request: system, messages, reminders, calls and results; without the list of tools. */
export function contextOf(
  { body }: Pick<ModelRequest, 'body'>,
  options: { toolResults?: boolean } = {},
): string {
  const parts = [textOf(body.system)];
  for (const { content } of body.messages) {
    for (const block of blocksOf(content)) {
      if (block.type === 'tool_result' && options.toolResults === false) continue;
      parts.push(blockText(block));
    }
  }
  return parts.join('\n');
}

export function toolsOf({ body }: Pick<ModelRequest, 'body'>): string[] {
  return (body.tools ?? []).map(({ name }) => name);
}

function blockText(block: Block): string {
  if (block.type === 'tool_use') return `${block.name} ${JSON.stringify(block.input)}`;
  if (block.type === 'tool_result') return textOf(block.content);
  return block.text ?? block.thinking ?? '';
}

function textOf(content: string | Block[] | undefined): string {
  return blocksOf(content).map(blockText).join('\n');
}

function blocksOf(content: string | Block[] | undefined): Block[] {
  if (content === undefined) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function lastUserMessage({ messages }: MessagesBody): string | Block[] | undefined {
  return messages.findLast(({ role }) => role === 'user')?.content;
}

const hostWritten =
  /^\s*(<(environment_context|hook_context|session_context|skill|system-reminder|local-command-\w+|command-\w+|task-notification)>|This session is being continued from a previous conversation)/;

export function lastUserText({ messages }: MessagesBody): string {
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'user') continue;
    const written = blocksOf(content).filter(
      ({ type, text }) => type === 'text' && text !== undefined && !hostWritten.test(text),
    );
    if (written.length > 0) return written.map(({ text }) => text).join('\n');
  }
  return '';
}
