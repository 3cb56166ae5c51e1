import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RuntimeOptions } from '../runtime/index.ts';
import { openingAnswer } from './initialize-answer.ts';
import { once } from './once.ts';
import type { McpServerOptions } from './server.ts';

export interface ServeOptions
  extends Pick<RuntimeOptions, 'cwd' | 'runner' | 'notifier' | 'worktree' | 'repoRoot' | 'workflowPath'> {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  version: string;
  /** Serves no prompts and no resources. */
  toolsOnly?: boolean | undefined;
  /** How long a call may wait for gates. */
  waitMs?: number | undefined;
}

/** Loaded with the first call, because it imports YAML and CEL. */
const loadRuntime = once(() => import('../runtime/index.ts'));
const loadHosts = once(() => import('../hosts/index.ts'));

/**
 * Serves MCP over stdin and stdout, in either protocol era, until the client closes stdin. Calls that wait for gates
 * may still be pending then, so the caller ends the process. Every acknowledged call is saved.
 */
export async function serveMcp({
  version,
  waitMs,
  toolsOnly = false,
  ...place
}: ServeOptions): Promise<void> {
  const { stdin, stdout } = process;
  const closed = new Promise<void>((resolve) => {
    stdin.once('end', resolve);
    stdin.once('close', resolve);
  });
  const early = openingAnswer(await firstLine(stdin), version, { toolsOnly });
  if (early) stdout.write(`${JSON.stringify(early)}\n`);
  const { createMcpServer, serveStdio, createTransport } = await import('./sdk.ts');
  const session = `mcp-${randomBytes(6).toString('base64url')}`;
  const caller = createCallerOf(place);
  const handle = serveStdio(
    () =>
      createMcpServer({
        runtime: async () => {
          const [{ openRuntime }, { checkTool }] = await Promise.all([loadRuntime(), loadHosts()]);
          return openRuntime({ ...place, checkTool });
        },
        version,
        session,
        caller,
        toolsOnly,
        ...(waitMs === undefined ? {} : { waitMs }),
        onError: report,
      }),
    { transport: createTransport(early?.id), onerror: report },
  );
  await closed;
  await handle.close();
}

type CallerOf = NonNullable<McpServerOptions['caller']>;

/**
 * The caller: the session or subagent in which a hook saw this call start. Without a hook it is the last session that
 * a hook saw, because this process serves one conversation and its successors.
 */
function createCallerOf({ env, home }: Pick<ServeOptions, 'env' | 'home'>): CallerOf {
  let last: Awaited<ReturnType<CallerOf>>;
  return async (call) => {
    const [
      { createPendingCalls: createCallers, sessionFileVariable, sessionName },
      { stateDirectory },
      { sessionCallIdIn },
    ] = await Promise.all([loadRuntime(), import('../workspace/index.ts'), loadHosts()]);
    const id = call ?? sessionCallIdIn(env);
    const key = id === undefined ? undefined : createCallers(stateDirectory({ env, home })).take(id);
    if (!key) {
      last ??= drivenSession(env[sessionFileVariable]);
      return last;
    }
    last = { session: key.session, host: key.host, witness: 'hooks' };
    return { ...last, session: sessionName(key) };
  };
}

/** The session that a driver has opened; undefined where there is none. */
function drivenSession(
  file: string | undefined,
): { session: string; host: string; witness: 'driver' } | undefined {
  try {
    const { host, session } = JSON.parse(readFileSync(file ?? '', 'utf8'));
    if (typeof host === 'string' && typeof session === 'string') return { host, session, witness: 'driver' };
  } catch {
    // Without a driver there is no file.
  }
  return undefined;
}

/** The first line of a client, put back after reading; empty if it is incomplete. */
async function firstLine(stdin: NodeJS.ReadStream): Promise<string> {
  await new Promise<void>((resolve) => stdin.once('readable', resolve));
  const chunk: Buffer | null = stdin.read();
  if (chunk === null) return '';
  stdin.unshift(chunk);
  const [line = '', ...more] = chunk.toString('utf8').split('\n');
  return more.length === 0 ? '' : line;
}

/** stdout carries only the protocol. */
function report(error: unknown): void {
  process.stderr.write(`stepfast mcp: ${error instanceof Error ? error.message : String(error)}\n`);
}
