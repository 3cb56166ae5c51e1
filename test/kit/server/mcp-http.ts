import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { hashDefinition, parseWorkflow } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import type { Definition } from '../../../src/machine/index.ts';
import { createMcpHttp, type McpHttpOptions } from '../../../src/mcp/http.ts';
import type { McpCaller } from '../../../src/mcp/http-session.ts';
import type { Called, Connection, Era } from '../../mcp/kit.ts';
import { createMemoryStore } from '../memory-store.ts';
import { runtimeWithoutFiles } from '../runtime-without-files.ts';

export type { Era } from '../../mcp/kit.ts';

/** Several servers over the same runs, each project with its own. */
export interface Team {
  engine(project: number): Engine;
  /** Starts a run as a person's laptop would, which makes the workflow known to the project; returns its id. */
  pin(project: number, workflow: string): Promise<string>;
  serve(options?: Partial<McpHttpOptions>): Promise<string>;
  /** Errors that the servers reported. */
  errors: unknown[];
  close(): Promise<void>;
}

/** Tokens, as the server's auth would know them: `<name>@<project>`; a person's begins with `!`. */
export function callerOf(token: string): McpCaller {
  const [, mark, name = '', project = ''] = /^(!?)([^@]*)@(\d+)$/.exec(token) ?? [];
  return {
    id: `${name}-${project}`,
    project: { id: Number(project), name: `project-${project}` },
    kind: mark === '!' ? 'person' : 'agent',
    name,
    scopes: mark === '!' ? ['read', 'write', 'gates', 'decide', 'admin'] : ['read', 'write'],
  };
}

export function createTeam({
  clock = Date.now,
  engine: given,
}: {
  clock?(): number;
  /** Of every project, in place of one in memory. */
  engine?(): Engine;
} = {}): Team {
  const engines = new Map<number, Engine>();
  const closers: (() => Promise<void>)[] = [];
  const errors: unknown[] = [];
  const engine = (project: number): Engine => {
    const known = engines.get(project);
    if (known) return known;
    const made = given?.() ?? createEngine({ store: createMemoryStore(), newRun, hashOf: hashDefinition });
    engines.set(project, made);
    return made;
  };
  return {
    engine,
    errors,
    async pin(project, workflow) {
      const { definition, diagnostics } = parseWorkflow(workflow, { file: 'test.yaml' });
      if (!definition) throw new Error(JSON.stringify(diagnostics));
      const facts = { worktree: '{project_root}' };
      const start = { type: 'start' as const, now: clock(), session: 'laptop', summary: 'of a laptop' };
      return (await engine(project).begin(definition, start, { facts })).run;
    },
    async serve(options = {}) {
      const mcp = createMcpHttp({
        version: '0.0.0-test',
        onError: (error) => errors.push(error),
        runtimeFor: (caller, session) => {
          const mine = engine(caller.project.id);
          return runtimeWithoutFiles({ engine: mine, session, used: usedIn(mine), clock });
        },
        ...options,
      });
      const server = createAdaptorServer({
        fetch: async (request: Request) => {
          const token = (request.headers.get('authorization') ?? '').replace(/^Bearer /, '');
          return await mcp(request, callerOf(token));
        },
      });
      // A client would otherwise reuse a connection while a busy server closes it.
      if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
      closers.push(async () => {
        if ('closeAllConnections' in server) server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
      // A server on a port has an address with one.
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    },
    async close() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** As a database would tell it from its runs, the newest first. */
function usedIn(engine: Engine) {
  const all = async (): Promise<Definition[]> => {
    const views = await Promise.all((await engine.runs()).map(({ run }) => engine.view(run)));
    const newest = views.flatMap((view) => view?.definition ?? []);
    return [...new Map(newest.reverse().map((each) => [each.name, each])).values()];
  };
  const named = async (name: string) => (await all()).find((each) => each.name === name);
  return { named, all };
}

export interface HttpConnection extends Connection {
  /** Which of the servers answered, in their order. */
  asked: number[];
}

/** The official client; with several addresses each request goes to the next one. */
export async function connect(
  urls: string | readonly string[],
  token: string,
  { era = '2025', headers = {} }: { era?: Era; headers?: Record<string, string> } = {},
): Promise<HttpConnection> {
  const [first = '', ...more] = typeof urls === 'string' ? [urls] : urls;
  const all = [first, ...more];
  const asked: number[] = [];
  const client = new Client(
    { name: 'Test Host', version: '1' },
    era === '2026' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(first), {
      requestInit: { headers: { Authorization: `Bearer ${token}`, ...headers } },
      fetch: async (_, init) => {
        const turn = asked.length % all.length;
        asked.push(turn);
        return await fetch(all[turn] ?? first, init);
      },
    }),
  );
  return {
    client,
    asked,
    close: () => client.close(),
    async call(tool, given = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name: tool, arguments: given });
      const [one] = content;
      // Tests read whatever keys they expect.
      const S = (structuredContent ?? {}) as Called['S'];
      return { isError: isError === true, text: one?.type === 'text' ? one.text : '', S };
    },
  };
}
