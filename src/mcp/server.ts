import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { refusalText, toolVoice } from '../messages/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { checkArguments } from './arguments.ts';
import type { Caller } from './caller.ts';
import type { ToolAnswer } from './calls.ts';
import { capabilitiesFor, instructions, serverInfo } from './identity.ts';
import { once } from './once.ts';
import { listedTools, tools } from './tools.ts';

export interface McpServerOptions {
  /** Called for every request: the server keeps no state. */
  runtime(): Runtime | Promise<Runtime>;
  version: string;
  /** The session of the client. */
  session: string;
  /** The agent program, where the client does not name itself. */
  host?: string;
  /** The session in which a hook saw this call start, by the host's id of the call. */
  caller?(call: string | undefined): Promise<Caller['who'] | undefined>;
  /** No prompts and no resources. */
  toolsOnly?: boolean;
  /** How long a call may wait for gates; the runtime's own patience by default. */
  waitMs?: number;
  /** Receives errors that are not refusals. */
  onError?(error: unknown): void;
  /** Hides the text of such errors from clients. */
  discreet?: boolean;
}

const progressMs = 5000;

/** Loaded with the first call and cached: even a repeated import has a cost. */
const loadCalls = once(() => import('./calls.ts'));
const loadHosts = once(() => import('../hosts/index.ts'));

/** The SDK validates only the input that a server asks clients for, and this server never asks. */
const noValidator = {
  getValidator: () => () => ({
    valid: false as const,
    data: undefined,
    errorMessage: 'validation is disabled',
  }),
};

/** The server of one connection, for either protocol era. */
export function createMcpServer(options: McpServerOptions): Server {
  const { toolsOnly = false } = options;
  const server = new Server(serverInfo(options.version), {
    capabilities: capabilitiesFor({ toolsOnly }),
    instructions,
    jsonSchemaValidator: noValidator,
  });
  server.setRequestHandler('tools/list', () => ({ tools: listedTools() }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw invalid(`There is no tool '${params.name.slice(0, 80)}'.`);
    const { callIdIn, withoutCallId } = await loadHosts();
    const call = callIdIn(params._meta) ?? callIdIn(params.arguments);
    const checked = checkArguments(tool, withoutCallId(params.arguments));
    if ('refused' in checked) return resultOf({ refused: refusalText(checked.refused, toolVoice()) });
    const answer = await guarded(async () => {
      const { callTool } = await loadCalls();
      return await callTool(tool.name, checked.given, await options.runtime(), await callerIn(context, call));
    });
    return resultOf(answer);
  });
  if (toolsOnly) return server;
  server.setRequestHandler('prompts/list', async () => {
    const { listedPrompts } = await import('./prompts.ts');
    return { prompts: [...listedPrompts] };
  });
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const { getPrompt } = await import('./prompts.ts');
    const found = await withProtocolErrors(async () =>
      getPrompt(params.name, params.arguments ?? {}, await options.runtime(), options.session),
    );
    if (!found) throw invalid(`There is no prompt '${params.name.slice(0, 80)}'.`);
    return found;
  });
  server.setRequestHandler('resources/list', async () => {
    const { listResources } = await import('./resources.ts');
    return { resources: await withProtocolErrors(async () => listResources(await options.runtime())) };
  });
  server.setRequestHandler('resources/templates/list', async () => {
    const { resourceTemplates } = await import('./resources.ts');
    return { resourceTemplates: [...resourceTemplates] };
  });
  server.setRequestHandler('resources/read', async ({ params }) => {
    const { readResource } = await import('./resources.ts');
    const found = await withProtocolErrors(async () => readResource(params.uri, await options.runtime()));
    if (!found) throw new ResourceNotFoundError(params.uri);
    return found;
  });
  return server;

  async function callerIn({ mcpReq }: ServerContext, call: string | undefined): Promise<Caller> {
    const host = nameIn(mcpReq.envelope) ?? server.getClientVersion()?.name ?? options.host;
    const seen = await options.caller?.(call);
    return {
      who: seen ?? { session: options.session, ...(host === undefined ? {} : { host }) },
      options: { waitMs: options.waitMs, ...progressFor(mcpReq) },
    };
  }

  /** An error in a call never ends the connection. */
  async function guarded(call: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
    try {
      return await call();
    } catch (error) {
      const { refusedBy } = await import('../runtime/index.ts');
      const refused = refusedBy(error);
      if (refused) return { refused: refusalText(refused, toolVoice()) };
      options.onError?.(error);
      const message = errorText(error);
      return {
        refused: {
          code: 'internal',
          message,
          next: 'Send the same call again. If it fails again, tell the user.',
        },
      };
    }
  }

  /** An error outside a tool becomes a protocol error. */
  async function withProtocolErrors<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const { refusedBy } = await import('../runtime/index.ts');
      const refused = refusedBy(error);
      if (!refused) options.onError?.(error);
      const text = refused && refusalText(refused, toolVoice());
      const message = text ? `${text.message} ${text.next}` : errorText(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
  }

  function errorText(error: unknown): string {
    if (options.discreet) return 'Internal server error';
    return error instanceof Error ? error.message : String(error);
  }
}

/** The client's name, which the newer era sends with every request. */
function nameIn(envelope: object | undefined): string | undefined {
  const info = Object.entries(envelope ?? {}).find(([key]) => key === CLIENT_INFO_META_KEY)?.[1];
  return typeof info?.name === 'string' ? info.name : undefined;
}

/** Progress notifications while gates run, for clients that ask for them. */
function progressFor({ _meta, notify }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return {};
  let progress = 0;
  let last = Date.now();
  const onProgress = (): void => {
    if (Date.now() - last < progressMs) return;
    last = Date.now();
    progress += 1;
    const params = { progressToken, progress, message: 'the gates are running' };
    // If the client has disconnected, the gates keep running.
    notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  return { onProgress };
}

/** The same content in both forms: some hosts show a model only the text, some only the structure. */
function resultOf(answer: ToolAnswer): CallToolResult {
  if ('text' in answer) return { content: [{ type: 'text', text: answer.text }] };
  const structure = 'refused' in answer ? answer.refused : answer.structured;
  return {
    content: [{ type: 'text', text: JSON.stringify(structure) }],
    structuredContent: { ...structure },
    ...('refused' in answer ? { isError: true } : {}),
  };
}

const invalid = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);
