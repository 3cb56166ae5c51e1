import { loadMcpHttp } from '../../mcp/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { type Backend, type McpHandler, provenBy } from '../../server/index.ts';
import { serverWorkspace } from './server-workspace.ts';

/** Runs listed per session. */
const maxRuns = 50;
const maxRecorded = 100_000;

interface McpOptions {
  backend: Backend;
  version: string;
  clock(): number;
  onError(error: unknown): void;
}

/** The same tools as over stdio, for callers without files on this machine. */
export async function createMcpTools({ backend, version, clock, onError }: McpOptions): Promise<McpHandler> {
  const { createMcpHttp } = await loadMcpHttp();
  // Joins that this server has already written. A duplicate write is harmless.
  const recorded = new Set<string>();
  return createMcpHttp({
    version,
    onError,
    runtimeFor(caller, session) {
      const { id } = caller.project;
      const sessions = backend.sessions(id);
      return createRuntime({
        engine: backend.engine(id),
        clock,
        principal: provenBy(caller),
        workspace: serverWorkspace(backend.publications(id)),
        runs: () => sessions.runsOf(session, maxRuns),
        async onJoined(joined, run) {
          const name = `${id} ${run} ${joined}`;
          if (recorded.has(name)) return;
          await sessions.join(joined, run, clock());
          if (recorded.size >= maxRecorded) recorded.clear();
          recorded.add(name);
        },
      });
    },
  });
}
