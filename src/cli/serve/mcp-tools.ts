import { listWorkflows, places } from '../../definition/index.ts';
// Its own entry: the tools over stdio start without it.
import { createMcpHttp } from '../../mcp/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import type { Backend, McpHandler } from '../../server/index.ts';
import { none } from '../../workspace/index.ts';

/** How many runs of one session can be told apart. */
const mostRuns = 50;
const mostJoined = 100_000;

interface McpOptions {
  backend: Backend;
  version: string;
  clock(): number;
  onError(error: unknown): void;
}

/** The same tools as over stdio, for callers whose tree is elsewhere. */
export function createMcpTools({ backend, version, clock, onError }: McpOptions): McpHandler {
  // What this server has written; another writes it again, which changes nothing.
  const known = new Set<string>();
  let names: ReadonlySet<string> | undefined;
  /** Whoever asks for one of these gets what comes with Stepfast, not what somebody has begun under its name. */
  const isBundled = (name: string): boolean => {
    names ??= bundledNames();
    return names.has(name);
  };
  return createMcpHttp({
    version,
    onError,
    runtimeFor({ project: { id } }, session) {
      const sessions = backend.sessions(id);
      return createRuntime({
        engine: backend.engine(id),
        clock,
        workspace: none({
          named: async (name) => (isBundled(name) ? undefined : (await sessions.definitions(1, name))[0]),
          all: async (most) => (await sessions.definitions(most)).filter(({ name }) => !isBundled(name)),
        }),
        runs: () => sessions.runsOf(session, mostRuns),
        async onJoined(joined, run) {
          const name = `${id} ${run} ${joined}`;
          if (known.has(name)) return;
          await sessions.join(joined, run, clock());
          if (known.size >= mostJoined) known.clear();
          known.add(name);
        },
      });
    },
  });
}

const bundledNames = (): ReadonlySet<string> =>
  new Set(
    listWorkflows(places().filter(({ kind }) => kind === 'bundled')).flatMap(({ name, base }) =>
      base ? [] : [name],
    ),
  );
