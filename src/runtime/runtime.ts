import type { Engine } from '../engine/index.ts';
import { type Definition, type ProvenPrincipal, parseHandle } from '../machine/index.ts';
import type { Loaded, RunInfo } from '../store/index.ts';
import type { Workspace } from '../workspace/index.ts';
import { follow } from './adoption/adopt.ts';
import { type Answer, isRefused, type Refused, refusedBy } from './answer.ts';
import { type Briefings, createBriefings } from './briefing/briefings.ts';
import { type CallOptions, createCall, type Request, type RunQuery } from './call.ts';
import { type CallerIdentity, createCallContext } from './call-context.ts';
import { noRunNamed, onlyLiveRun, runNamed } from './choose-run.ts';
import { createStart, type StartRequest } from './start.ts';
import { createGates } from './wait-for-gates.ts';

/** The operations on the runs of a project. It caches no run between calls. Mistakes of callers are returned as refusals. */
export interface Runtime {
  readonly engine: Engine;
  readonly workspace: Workspace;
  /** What agents are shown. */
  readonly briefings: Briefings;
  start(request: StartRequest, identity: CallerIdentity): Promise<Answer>;
  call(request: Request, identity: CallerIdentity, options?: CallOptions): Promise<Answer>;
  /** The run of a query, or why it is ambiguous. */
  chooseRun(query: RunQuery): Promise<{ run: string } | Refused>;
  /** The same, loaded. */
  loadRun(query: RunQuery): Promise<Loaded | Refused>;
  /** The candidates for a call that names no run. */
  runs(): Promise<readonly RunInfo[]>;
  /** The workflows that can be started here. */
  workflows(): Promise<Definition[]>;
  /** Refuses where a person has not allowed the commands of a workflow on this machine. */
  untrusted(definition: Definition, run: string): Refused | undefined;
  /** Runs the gates of one request and reports them; called in the detached process. */
  runGates(run: string, id: string): Promise<void>;
}

export interface RuntimeParts {
  engine: Engine;
  workspace: Workspace;
  clock(): number;
  /** Who calls, where a server proves it. */
  principal?: ProvenPrincipal | undefined;
  /** The candidates for a call that names no run; all runs of the engine by default. */
  runs?(): Promise<readonly RunInfo[]>;
  /** Called before the answer of every accepted call of a session. */
  onJoined?(session: string, run: string): Promise<void>;
  /** Whether another session is at work on the run; unknown without hooks. */
  isHeld?(run: string, session: string | undefined): Promise<boolean>;
}

export function createRuntime({
  engine,
  workspace,
  clock,
  principal,
  onJoined,
  ...parts
}: RuntimeParts): Runtime {
  const runs = parts.runs ?? (() => engine.runs());
  const context = createCallContext({ workspace, clock, principal });
  const gates = createGates({ engine, workspace, clock });
  const briefings = createBriefings({ engine, workspace, context });
  const shared = { engine, workspace, gates, context, briefings, chooseRun, loadRun, runs };
  const start = createStart({ ...shared, isHeld: parts.isHeld ?? (async () => false) });
  const call = createCall(shared);
  return {
    engine,
    workspace,
    briefings,
    chooseRun,
    loadRun,
    runs,
    workflows: workspace.workflows,
    untrusted: context.untrusted,
    start: (request, identity) => answering(identity, () => start(request, identity)),
    call: (request, identity, options = {}) => answering(identity, () => call(request, identity, options)),
    runGates: (run, id) => workspace.gates.run({ engine, clock, run, id }),
  };

  async function chooseRun({ at, run, changes = false }: RunQuery): Promise<{ run: string } | Refused> {
    const name = run ?? suffixIn(at);
    if (name !== undefined) return runNamed(await engine.ids(name), name, run === undefined ? at : undefined);
    const found = onlyLiveRun(await runs(), workspace.here, changes && workspace.hasFiles);
    if (!('code' in found) || found.code !== 'no_run') return found;
    if (!workspace.hasFiles) return { code: 'no_run', params: { why: 'none_in_session' } };
    return workspace.checkout === undefined ? found : { code: 'no_run', params: { why: 'none_on_server' } };
  }

  async function loadRun(query: RunQuery): Promise<Loaded | Refused> {
    const found = await chooseRun(query);
    if ('code' in found) return found;
    const name = query.run ?? suffixIn(query.at) ?? found.run;
    const view = await engine.view(found.run);
    if (!view) return noRunNamed(name, query.run === undefined ? query.at : undefined);
    // A call that changes the run follows the source itself.
    if (query.changes || !workspace.hasFiles) return view;
    return await follow({ engine, project: workspace.project, clock }, view);
  }

  async function answering({ session }: CallerIdentity, act: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await act();
      const { run, reply } = answer;
      if (session !== undefined && run !== undefined && !isRefused(reply)) await onJoined?.(session, run);
      return answer;
    } catch (error) {
      const refused = refusedBy(error);
      if (!refused) throw error;
      return { reply: refused };
    }
  }
}

const suffixIn = (at: string | undefined): string | undefined =>
  at === undefined ? undefined : parseHandle(at)?.suffix;
