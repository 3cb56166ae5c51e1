/** The part of OpenCode's plugin interface that is used here. */

export interface Part {
  id: string;
  sessionID: string;
  messageID: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  /** Of a compaction. */
  auto?: boolean;
  /** Of a tool. */
  state?: { output?: unknown };
}

export interface MessageInfo {
  id: string;
  sessionID: string;
  role: 'user' | 'assistant';
  /** Of the assistant: a compaction's. */
  summary?: unknown;
  finish?: string;
  cost?: number;
  tokens?: { input: number; output: number; reasoning: number; cache: { read: number; write: number } };
  model?: { providerID: string; modelID: string };
}

export interface Message {
  info: MessageInfo;
  parts: Part[];
}

export interface SessionInfo {
  id: string;
  parentID?: string;
}

interface Answer<T> {
  data?: T;
}

export interface Client {
  session: {
    get(options: { path: { id: string } }): Promise<Answer<SessionInfo>>;
    messages(options: { path: { id: string }; query: { limit: number } }): Promise<Answer<Message[]>>;
    create(options: { body: object }): Promise<Answer<SessionInfo>>;
    promptAsync(options: { path: { id: string }; body: object }): Promise<unknown>;
    summarize(options: {
      path: { id: string };
      body: { providerID: string; modelID: string };
    }): Promise<Answer<boolean>>;
  };
  tui: {
    showToast(options: { body: { message: string; variant: 'info'; duration?: number } }): Promise<unknown>;
    publish(options: { body: { type: string; properties: object } }): Promise<unknown>;
  };
}

export interface PluginInput {
  client: Client;
  directory: string;
}

export interface Event {
  type: string;
  properties: {
    sessionID?: string;
    info?: MessageInfo & SessionInfo;
    part?: Part;
    error?: { name?: string };
    status?: { type: string };
  };
}

export interface ToolInput {
  tool: string;
  sessionID: string;
  callID: string;
  args?: unknown;
}

export interface Hooks {
  config(config: { command?: object; permission?: unknown }): Promise<void>;
  event(input: { event: Event }): Promise<void>;
  'command.execute.before'(input: { command: string; sessionID: string; arguments: string }): Promise<void>;
  'chat.message'(
    input: { sessionID: string; agent?: string },
    output: { message: MessageInfo; parts: Part[] },
  ): Promise<void>;
  'shell.env'(input: { sessionID?: string }, output: { env: Record<string, string> }): Promise<void>;
  'tool.execute.before'(input: ToolInput, output: { args: object }): Promise<void>;
  'tool.execute.after'(
    input: ToolInput,
    output: { output?: unknown; content?: unknown; metadata?: unknown },
  ): Promise<void>;
  'experimental.chat.messages.transform'(input: object, output: { messages: Message[] }): Promise<void>;
  'experimental.session.compacting'(
    input: { sessionID: string },
    output: { context: string[] },
  ): Promise<void>;
  dispose(): Promise<void>;
}
