import type { Engine } from '../../engine/index.ts';
import { type Definition, parseHandle } from '../../machine/index.ts';
import type { RunInfo } from '../../store/index.ts';
import { type Answer, isRefused, type Refused, refusedBy } from '../answer.ts';
import type { CallOptions, Request, Wanted } from '../call.ts';
import type { Who } from '../call-context.ts';
import { onlyLiveRun, runNamed } from '../choose-run.ts';
import type { Memory } from '../memory/memory.ts';
import type { StartRequest } from '../start.ts';
import { createTreelessCall } from './call.ts';
import { createTreelessMemory } from './memory.ts';
import { createMoment, elsewhere } from './moment.ts';
import { createTreelessStart } from './start.ts';
import { bundledWorkflows, createWorkflows, type UsedDefinitions } from './workflows.ts';

/**
 * One project seen by one caller from where no tree is. No file of anybody's project is read or written and no process
 * is started; what only a tree can answer waits for somebody who has it. What an agent can cause is a refusal.
 */
export interface TreelessRuntime {
  readonly treeless: true;
  readonly engine: Engine;
  readonly memory: Memory;
  start(request: StartRequest, who: Who): Promise<Answer>;
  call(request: Request, who: Who, options?: CallOptions): Promise<Answer>;
  /** The run that is named; without a name, the only live one of the caller's session. */
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
  /** Those of the caller's session, newest first: all that a call without a name may mean. */
  runs(): Promise<readonly RunInfo[]>;
  /** What can be started. */
  workflows(): Promise<Definition[]>;
}

export interface TreelessOptions {
  /** Of the caller's project. */
  engine: Engine;
  /** The caller's. */
  session: string;
  /** The definitions that the project's runs have pinned; without them only the bundled workflows can be started. */
  used?: UsedDefinitions;
  /** The newest runs that a session takes part in. By default all runs of the project are looked through. */
  runsOf?(session: string): Promise<readonly RunInfo[]>;
  /** Called with every call that a session has taken part with, before its answer: what `runsOf` may live on. */
  joined?(session: string, run: string): Promise<void>;
}

/** Makes the runtime of each call; keeps nothing but the bundled workflows, which are read once. */
export function createTreeless({
  clock = Date.now,
}: {
  clock?(): number;
} = {}): (options: TreelessOptions) => TreelessRuntime {
  let read: ReturnType<typeof bundledWorkflows> | undefined;
  const bundled = () => {
    read ??= bundledWorkflows();
    return read;
  };
  const moment = createMoment(clock);
  return ({ engine, session, used, runsOf = everyRunOf(engine), joined }) => {
    const workflows = createWorkflows(bundled, used);
    const runs = () => runsOf(session);
    const memory = createTreelessMemory({ engine, moment });
    const parts = { engine, moment, memory, workflows, which, runs };
    const start = createTreelessStart(parts);
    const call = createTreelessCall(parts);
    return {
      treeless: true,
      engine,
      memory,
      which,
      runs,
      workflows: workflows.all,
      start: (request, who) => refusing(() => joining(who, start(request, who))),
      call: (request, who, options = {}) => refusing(() => joining(who, call(request, who, options))),
    };

    async function joining({ session: who }: Who, answering: Promise<Answer>): Promise<Answer> {
      const answer = await answering;
      const { run, reply } = answer;
      if (who !== undefined && run !== undefined && !isRefused(reply)) await joined?.(who, run);
      return answer;
    }

    async function which({ at, run }: Wanted): Promise<{ run: string } | Refused> {
      const suffix = at === undefined ? undefined : parseHandle(at)?.suffix;
      if (run !== undefined) return runNamed(await engine.ids(run), run);
      if (suffix !== undefined) return runNamed(await engine.ids(suffix), suffix, at);
      const found = onlyLiveRun(await runs(), elsewhere, false);
      if (!('code' in found) || found.code !== 'no_run') return found;
      return { code: 'no_run', params: { why: 'none_in_session' } };
    }
  };
}

const everyRunOf =
  (engine: Engine) =>
  async (session: string): Promise<RunInfo[]> =>
    (await engine.runs()).filter(({ state }) => state && Object.hasOwn(state.sessions, session));

async function refusing(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    const refused = refusedBy(error);
    if (!refused) throw error;
    return { reply: refused };
  }
}
