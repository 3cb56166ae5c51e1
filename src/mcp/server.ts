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
  /** Asked anew for every call: the server itself keeps nothing. */
  runtime(): Runtime | Promise<Runtime>;
  version: string;
  /** Stands for whoever is at the other end. */
  session: string;
  /** The agent program, where the client does not name itself. */
  host?: string;
  /** The session that a hook saw begin this call, by the id that the host gave the call. */
  caller?(call: string | undefined): Promise<Caller['who'] | undefined>;
  /** No prompts and no resources. */
  toolsOnly?: boolean;
  /** How long a call may wait for gates; the runtime's own patience by default. */
  waitMs?: number;
  /** For what nobody who calls can mend. */
  onError?(error: unknown): void;
  /** The words of such an error are for `onError` alone. */
  discreet?: boolean;
}

const progressMs = 5000;

/** Loaded with the first call, and asked for once: an import costs as much as a read even when it is there. */
const loadCalls = once(() => import('./calls.ts'));
const loadHosts = once(() => import('../hosts/index.ts'));

/** Nothing here asks a client for input, the only thing that the SDK would validate by a schema. */
const noValidator = {
  getValidator: () => () => ({
    valid: false as const,
    data: undefined,
    errorMessage: 'no schema is checked',
  }),
};

/** One connection's server, for either protocol era. */
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
    const checked = checkArguments(tool, params.arguments);
    if ('refused' in checked) return resultOf({ refused: refusalText(checked.refused, toolVoice()) });
    const answer = await guarded(async () => {
      const { callTool } = await loadCalls();
      return await callTool(tool.name, checked.given, await options.runtime(), await callerIn(context));
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
    const found = await mendable(async () =>
      getPrompt(params.name, params.arguments ?? {}, await options.runtime(), options.session),
    );
    if (!found) throw invalid(`There is no prompt '${params.name.slice(0, 80)}'.`);
    return found;
  });
  server.setRequestHandler('resources/list', async () => {
    const { listResources } = await import('./resources.ts');
    return { resources: await mendable(async () => listResources(await options.runtime())) };
  });
  server.setRequestHandler('resources/templates/list', async () => {
    const { resourceTemplates } = await import('./resources.ts');
    return { resourceTemplates: [...resourceTemplates] };
  });
  server.setRequestHandler('resources/read', async ({ params }) => {
    const { readResource } = await import('./resources.ts');
    const found = await mendable(async () => readResource(params.uri, await options.runtime()));
    if (!found) throw new ResourceNotFoundError(params.uri);
    return found;
  });
  return server;

  async function callerIn({ mcpReq }: ServerContext): Promise<Caller> {
    const host = nameIn(mcpReq.envelope) ?? server.getClientVersion()?.name ?? options.host;
    const { callIdIn } = await loadHosts();
    const seen = await options.caller?.(callIdIn(mcpReq._meta));
    return {
      who: seen ?? { session: options.session, ...(host === undefined ? {} : { host }) },
      options: {
        ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
        ...progressFor(mcpReq),
      },
    };
  }

  /** Nothing that goes wrong in a call ends the connection. */
  async function guarded(call: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
    try {
      return await call();
    } catch (error) {
      const { refusedBy } = await import('../runtime/index.ts');
      const refused = refusedBy(error);
      if (refused) return { refused: refusalText(refused, toolVoice()) };
      options.onError?.(error);
      const message = wordsOf(error);
      return {
        refused: {
          code: 'internal',
          message,
          next: 'Send the same call again. If it fails again, tell the user.',
        },
      };
    }
  }

  /** What goes wrong outside a tool is an error of the protocol. */
  async function mendable<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const { refusedBy } = await import('../runtime/index.ts');
      const refused = refusedBy(error);
      if (!refused) options.onError?.(error);
      const text = refused && refusalText(refused, toolVoice());
      const message = text ? `${text.message} ${text.next}` : wordsOf(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
  }

  function wordsOf(error: unknown): string {
    if (options.discreet) return 'Internal server error';
    return error instanceof Error ? error.message : String(error);
  }
}

/** What the newer era sends with every request instead of once. */
function nameIn(envelope: object | undefined): string | undefined {
  const info = Object.entries(envelope ?? {}).find(([key]) => key === CLIENT_INFO_META_KEY)?.[1];
  return typeof info?.name === 'string' ? info.name : undefined;
}

/** A client that asked for progress hears that the gates still run. */
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
    // A client that has left hears nothing; the gates go on.
    notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  return { onProgress };
}

/** The same in both forms: some hosts show a model only the text, some only the structure. */
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
