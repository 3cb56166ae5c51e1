/** `stepfast/runtime`: runs with a history, for programs that serve several sessions. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Briefing, type Cap, compileBriefing } from '../context/index.ts';
import { hashDefinition } from '../definition/index.ts';
import { createEngine, type Engine, newRun } from '../engine/index.ts';
import { type Definition, leastBriefing, statusOf } from '../machine/index.ts';
import { nextForTools } from '../messages/index.ts';
import { createFileStore, type RunInfo, type Store } from '../store/index.ts';
import { none } from '../workspace/index.ts';
import type { Answer, Refused } from './answer.ts';
import type { CallOptions, Request } from './call.ts';
import type { CallerIdentity } from './call-context.ts';
import { cursorFor } from './find-cursor.ts';
import { openRuntime } from './open-runtime.ts';
import { createRuntime, type Runtime } from './runtime.ts';
import type { StartRequest } from './start.ts';

export type { Briefing, BriefingSection, Cap, SectionName } from '../context/index.ts';
export type { Circumstances, Engine, Executed, WatchOptions } from '../engine/index.ts';
export type { Once, OpeningCommand, SentCircumstances } from '../schema/index.ts';
export type {
  Entry,
  Loaded,
  Pinned,
  Repeated,
  RunInfo,
  Store,
  StoredEntry,
  Version,
} from '../store/index.ts';
export type { GateProgress } from '../workspace/index.ts';
export { type Answer, type AnsweredStatus, isRefused, type Refused } from './answer.ts';
export type { CallOptions, Request as CallRequest } from './call.ts';
export type { CallerIdentity } from './call-context.ts';
export type { StartRequest } from './start.ts';

export interface BriefingOptions {
  /** Whose briefing it is: sessions that hold tasks of one loop have different ones. */
  session?: string;
  /** The handle of a position; by default that of the session. */
  at?: string;
  /** The size limit; by default that of the workflow. */
  cap?: Cap;
}

/** The operations on runs. Nothing is cached between calls. Mistakes of callers are returned as refusals. */
export interface WorkflowRuntime {
  /** Below the calls: commands of a person, the history of a run, waiting for changes. */
  readonly engine: Engine;
  /** Starts a run; the same words again continue the one that is live. */
  start(request: StartRequest, caller: CallerIdentity): Promise<Answer>;
  /** Executes one command of the machine, without the fields that the runtime adds. */
  call(run: string, request: Request, caller: CallerIdentity, options?: CallOptions): Promise<Answer>;
  /** What an agent needs to continue: after a restart, a compaction or in a new session. */
  briefing(run: string, options?: BriefingOptions): Promise<Briefing | Refused>;
  /** All runs, newest first. */
  runs(): Promise<readonly RunInfo[]>;
  /** What can be started. */
  workflows(): Promise<Definition[]>;
}

export interface FileStoreLocation {
  /** Created with its parents when the first run starts. One folder per run. */
  directory: string;
  /** Names this machine if several write to one directory; the host name by default. */
  machine?: string;
}

/**
 * A store of runs in files: a journal for each run, durable before a call returns, safe for several processes.
 *
 * @example
 * ```ts
 * import { openFileStore } from 'stepfast/runtime';
 *
 * const store = openFileStore({ directory: '/var/lib/my-service/runs' });
 * for (const { run, state } of await store.list()) console.log(run, state?.status);
 * ```
 */
export function openFileStore({ directory, machine = hostname() }: FileStoreLocation): Store {
  return createFileStore({ directory, machine, nonce: () => randomBytes(6).toString('hex') });
}

export interface ServiceOptions {
  /** Where runs are kept: `openFileStore`, or your own implementation. */
  store: Store;
  /** What can be started, before the bundled workflows. Runs keep the definition that they were started with. */
  workflows?: readonly Definition[];
  /** Milliseconds since the epoch; the system's clock by default. */
  clock?(): number;
}

/**
 * The runtime of a service that has no project files. Callers are agents; a person's decision goes through `engine`.
 * Gates are requested and stay open until a program that has the files reports them, because nothing is executed here.
 *
 * @example
 * ```ts
 * import { defineWorkflow } from 'stepfast';
 * import { createServiceRuntime, isRefused, openFileStore } from 'stepfast/runtime';
 *
 * const triage = defineWorkflow({
 *   name: 'triage',
 *   description: 'Triage a report',
 *   steps: [
 *     { id: 'read', type: 'action', instructions: 'Read the report.' },
 *     { id: 'answer', type: 'action', instructions: 'Answer it.' },
 *   ],
 * });
 * const store = openFileStore({ directory: '/var/lib/my-service/runs' });
 * const runtime = createServiceRuntime({ store, workflows: [triage] });
 * const { run = '', reply } = await runtime.start({ workflow: 'triage', summary: 'Report 7' }, { session: 's1' });
 * if (!isRefused(reply)) console.log(reply.instructions);
 * await runtime.call(run, { type: 'advance', output: 'It is a duplicate.' }, { session: 's1' });
 * const briefing = await runtime.briefing(run, { session: 's2' });
 * console.log('text' in briefing ? briefing.text : briefing.code);
 * ```
 */
export function createServiceRuntime({
  store,
  workflows = [],
  clock = Date.now,
}: ServiceOptions): WorkflowRuntime {
  const engine = createEngine({ store, newRun, hashOf: hashDefinition });
  const used = {
    named: async (name: string) => workflows.find((each) => each.name === name),
    all: async () => workflows,
  };
  return publicRuntime(createRuntime({ engine, workspace: none(used), clock }));
}

export interface ProjectOptions {
  /** A directory of the project; its root is found from here. */
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  /** Replaces the user's home directory. */
  home?: string;
}

/**
 * The runtime of a project on this disk, with the runs, workflows, trust and server that `stepfast` uses there. Gates run
 * in a process of their own, and calls wait for them. Throws `bad_config` for an invalid project.
 *
 * @example
 * ```ts
 * import { openProjectRuntime } from 'stepfast/runtime';
 *
 * const runtime = openProjectRuntime({ cwd: process.cwd() });
 * const { run = '' } = await runtime.start({ workflow: 'go', summary: 'Fix the login' }, { session: 's1' });
 * const { reply } = await runtime.call(run, { type: 'advance', output: 'Fixed.' }, { session: 's1' });
 * console.log('code' in reply ? reply.code : reply.status);
 * ```
 */
export function openProjectRuntime({ cwd, env, home }: ProjectOptions): WorkflowRuntime {
  const processOf = (name: string) => ({ program: process.execPath, args: [cliProgram, name] });
  const processes = { runner: processOf('gate-runner'), notifier: processOf('notifier') };
  return publicRuntime(openRuntime({ cwd, ...processes, ...(env ? { env } : {}), home }));
}

const cliProgram = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? '../../dist/cli.js' : 'cli.js',
);

function publicRuntime(runtime: Runtime): WorkflowRuntime {
  const { engine, workspace, briefings } = runtime;
  return {
    engine,
    start: runtime.start,
    call: (run, request, caller, options) => runtime.call(request, caller, { ...options, run }),
    briefing,
    runs: runtime.runs,
    workflows: runtime.workflows,
  };

  async function briefing(
    run: string,
    { session, at, cap }: BriefingOptions = {},
  ): Promise<Briefing | Refused> {
    const view = await runtime.loadRun({ run });
    if ('code' in view) return view;
    const { definition, state } = view;
    const cursor = cursorFor(view, { at, session });
    const { action } = statusOf(definition, state, { cursor, values: workspace.values, session });
    const source = await briefings.gather(view, {
      session,
      cursor,
      next: nextForTools(action, { gatesElsewhere: !workspace.hasFiles }),
      more: 'workflow_context, section {section}',
    });
    return compileBriefing(source, cap ?? { tokens: definition.briefing?.budget ?? leastBriefing.tokens });
  }
}
