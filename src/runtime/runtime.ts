import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname, platform, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Place, places } from '../definition/index.ts';
import { type Tree, treeOf } from '../evidence/index.ts';
import {
  type Caller,
  type Command,
  type CommandOf,
  type CommandType,
  type Definition,
  ended,
  parseHandle,
  type Scalar,
  type SessionFacts,
  slug,
} from '../machine/index.ts';
import { createFileStore, type FileStore, type Loaded } from '../store/index.ts';
import { type Answer, isRefused, type Refused, refusedBy } from './answer.ts';
import { type Config, readConfig } from './config.ts';
import { type Circumstances, createEngine, type Engine, type OpeningCommand } from './engine.ts';
import { onlyLiveRun, runNamed, worksHere } from './find-run.ts';
import { createGateKeeper, type GateProgress, type RunnerCommand } from './gate-keeper.ts';
import { commandsOf, excludedFrom, gatesOf } from './gates-in.ts';
import { findProject, type Project, portable } from './project.ts';
import { readCommand } from './reading.ts';
import { type Resolved, resolveWorkflow } from './resolve.ts';
import { makeTaskWorktree, taskWorktree } from './task-worktree.ts';
import { createTrust, type Trust } from './trust.ts';
import { bootId, machineId, stateDirectory } from './user.ts';

type Bare<C> = C extends Command ? Omit<C, keyof Caller> : never;
/** A command without what the runtime knows better: the moment, the caller and the tree. */
export type Request = Bare<Exclude<Command, { type: 'start' | 'adopt' | 'import' }>>;

export interface Who {
  actor?: NonNullable<Caller['actor']>;
  session?: string;
  /** The agent program, where it is known. */
  host?: string;
}

export interface StartRequest {
  workflow?: string;
  summary?: string;
  inputs?: Record<string, Scalar>;
  /** Goes on with this run instead. */
  run?: string;
}

export interface CallOptions {
  run?: string;
  key?: string;
  /** How long the call may wait for gates; 45 s by default. */
  waitMs?: number;
  onProgress?(progress: GateProgress): void;
}

/** One project seen by one caller; holds no run between calls. What an agent or a person can cause comes back as a refusal. */
export interface Runtime {
  readonly project: Project;
  readonly config: Config;
  readonly engine: Engine;
  readonly trust: Trust;
  /** The local store, for what only files have: check and repair. */
  readonly store: FileStore;
  readonly searchPath: readonly Place[];
  start(request: StartRequest, who: Who): Promise<Answer>;
  call(request: Request, who: Who, options?: CallOptions): Promise<Answer>;
  /** The run that is meant, or why that is unclear. */
  which(wanted: { at?: string | undefined; run?: string | undefined }): Promise<{ run: string } | Refused>;
  /** Throws `no_workflow` and WorkflowValidationError. */
  resolve(workflow: string): Resolved;
  /** What the detached process does: runs the gates of one request and reports them. */
  runGates(run: string, id: string): Promise<void>;
}

export interface RuntimeOptions {
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  home?: string;
  worktree?: string;
  repoRoot?: string;
  /** The workflow that a start without a name means. */
  workflowPath?: string;
  /** Hashes that are trusted by this process. */
  trusted?: readonly string[];
  /** Starts this program's gate runner in a process of its own. */
  runner: RunnerCommand;
  clock?(): number;
}

const defaultWaitMs = 45_000;
/** What `.stepfast/.gitignore` holds. */
export const ignored = 'runs/\nworktrees/\n';

export function createRuntime(options: RuntimeOptions): Runtime {
  const { cwd, env = process.env, clock = Date.now } = options;
  const given = {
    ...(options.worktree === undefined ? {} : { worktree: options.worktree }),
    ...(options.repoRoot === undefined ? {} : { repoRoot: options.repoRoot }),
  };
  const project = findProject(cwd, given);
  const surroundings = { env, ...(options.home === undefined ? {} : { home: options.home }) };
  const searchPath = places({ projectRoot: project.worktree, ...surroundings });
  const state = stateDirectory(surroundings);
  const machine = machineId(state);
  const config = readConfig(join(project.worktree, '.stepfast'));
  const trust = createTrust(state, { config, more: options.trusted ?? [] });
  const store = createFileStore({
    directory: join(project.directory, 'runs'),
    machine,
    nonce: () => randomBytes(6).toString('base64url'),
  });
  const engine = createEngine({ store, newRun });
  const values = { project_root: project.root };
  const here = portable(project.worktree, project.root);
  const gates = createGateKeeper({
    engine,
    project,
    trust,
    clock,
    env,
    host: bootId(machine),
    runner: options.runner,
  });
  return {
    project,
    config,
    engine,
    trust,
    store,
    searchPath,
    which,
    resolve,
    start: (request, who) => refusing(() => start(request, who)),
    call: (request, who, callOptions = {}) => refusing(() => call(reading(request), who, callOptions)),
    runGates: gates.run,
  };

  async function start(request: StartRequest, who: Who): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, who);
    const resolved = resolve(request.workflow ?? options.workflowPath ?? 'go');
    const known = await sameRun(resolved.definition.name, request, who);
    if (known !== undefined) return await restore(known, who);
    const refused = untrusted(resolved.definition, resolved.hash, resolved.definition.name);
    if (refused) return { reply: refused };
    const { definition, hash } = resolved;
    const { summary, inputs } = request;
    const opening: OpeningCommand = {
      ...caller(who, (await treeFor(definition, 'start'))?.hash),
      type: 'start',
      hash,
      ...(summary === undefined ? {} : { summary }),
      ...(inputs === undefined ? {} : { inputs }),
    };
    ignoreRuns(project);
    const { run, reply, effects } = await engine.begin({ definition, hash }, opening, around(who));
    await gates.perform(run, effects);
    return isRefused(reply) ? { reply } : { run, reply };
  }

  async function restore(run: string, who: Who): Promise<Answer> {
    return { ...(await call({ type: 'status' }, who, { run })), restored: true };
  }

  /** A second start restores: the caller's own run, or one of this worktree with the same words. */
  async function sameRun(
    workflow: string,
    request: StartRequest,
    { session }: Who,
  ): Promise<string | undefined> {
    const summary = request.summary?.trim();
    const same = (await engine.runs()).filter(({ state: each }) => {
      if (!each || ended(each) || each.workflow !== workflow) return false;
      const mine = session !== undefined && Object.hasOwn(each.sessions, session);
      const alike = summary === each.summary || (mine && !summary);
      return alike && (mine || worksHere(each, here));
    });
    return same.length === 1 ? same[0]?.run : undefined;
  }

  async function call(request: Request, who: Who, callOptions: CallOptions): Promise<Answer> {
    const at = 'at' in request ? request.at : undefined;
    const found = await which({ at, run: callOptions.run });
    if (!('run' in found)) return { reply: found };
    const { run } = found;
    const checked = request.type === 'advance' || request.type === 'review';
    const view = checked ? await engine.view(run) : undefined;
    const refused = view && untrusted(view.definition, view.hash, run);
    if (refused) return { run, reply: at === undefined ? refused : { ...refused, at } };
    const tree =
      view && (await treeFor(view.definition, request.type, taskWorktree(project, run, taskAt(at))));
    const warned = warning(view, tree);
    // The parts are those of exactly this request.
    const command = { ...request, ...caller(who, tree?.hash) } as Command;
    const executed = await engine.execute(run, command, callOptions.key, around(who));
    await gates.perform(run, executed.effects);
    const reply: Answer['reply'] = executed.reply;
    if (request.type === 'claim' && !isRefused(reply))
      return await withWorktree({ run, reply }, reply.task?.id);
    if (isRefused(reply) || !reply.checking) return await finished({ run, reply });
    // Whoever only looks does not wait, but learns of a runner that is gone.
    const waitMs = checked ? (callOptions.waitMs ?? defaultWaitMs) : 0;
    const { onProgress } = callOptions;
    const settled = await gates.settle(run, reply.checking.id, { until: clock() + waitMs, onProgress });
    if (settled === 'running') return { run, reply, ...warned };
    return await finished({ run, reply: await afterGates(run, reply.at, settled, who), ...warned });
  }

  /** That the tree is unknown is told with a run's first gates. */
  function warning(view: Loaded | undefined, tree: Tree | undefined): { warning?: string } {
    if (!view || tree?.unknown === undefined) return {};
    const told = Object.values(view.state.outputs).some(
      ({ receipts, tree: of }) => receipts.length > 0 && !of,
    );
    if (told) return {};
    return {
      warning: `the tree's hash is unknown (${tree.unknown}): receipts hold only inside their advance`,
    };
  }

  async function withWorktree(answer: Answer & { run: string }, task: string | undefined): Promise<Answer> {
    const view = task === undefined ? undefined : await engine.view(answer.run);
    const worktree = view && makeTaskWorktree(project, view, task ?? '');
    return worktree === undefined ? answer : { ...answer, worktree };
  }

  /** What the call has led to, as the caller's own status. */
  async function afterGates(
    run: string,
    at: string | undefined,
    settled: 'finished' | 'interrupted',
    who: Who,
  ): Promise<Answer['reply']> {
    const status: CommandOf<'status'> = {
      ...caller(who),
      type: 'status',
      ...(at === undefined ? {} : { at }),
      ...(settled === 'interrupted' ? { runnerAlive: false } : {}),
    };
    const executed = await engine.execute(run, status, undefined, around(who));
    const reply: Answer['reply'] = executed.reply;
    return settled === 'interrupted' && !isRefused(reply) ? { ...reply, interrupted: true } : reply;
  }

  /** A workflow that keeps nothing is gone with its last answer. */
  async function finished(answer: Answer): Promise<Answer> {
    const { run, reply } = answer;
    if (run === undefined || isRefused(reply) || reply.status !== 'complete') return answer;
    const view = await engine.view(run);
    if (view?.definition.keep === false) await engine.remove(run);
    return answer;
  }

  /** A note that names a file as read says at which content. */
  function reading(request: Request): Request {
    if (request.type !== 'note' || request.kind !== 'reading') return request;
    return readCommand(request.text.trim(), project) ?? request;
  }

  async function which(wanted: {
    at?: string | undefined;
    run?: string | undefined;
  }): Promise<{ run: string } | Refused> {
    const suffix = wanted.at === undefined ? undefined : parseHandle(wanted.at)?.suffix;
    if (wanted.run !== undefined) return runNamed(await engine.ids(), wanted.run);
    if (suffix !== undefined) return runNamed(await engine.ids(), suffix, wanted.at);
    return onlyLiveRun(await engine.runs(), here);
  }

  function resolve(workflow: string): Resolved {
    return resolveWorkflow(workflow, { searchPath, config, cwd });
  }

  function untrusted(definition: Definition, hash: string, name: string): Refused | undefined {
    if (trust.has(definition, hash)) return undefined;
    const [first = '', ...more] = commandsOf(definition);
    const and = more.length === 0 ? '' : ` and ${more.length} more`;
    return {
      code: 'untrusted',
      message: `'${definition.name}' would run commands that nobody trusts on this machine: ${first}${and}`,
      next: `a person reads and trusts them with: stepfast trust ${name}`,
    };
  }

  function caller({ actor, session }: Who, tree?: string): Caller {
    return {
      now: clock(),
      ...(actor ? { actor } : {}),
      ...(session === undefined ? {} : { session }),
      ...(tree === undefined ? {} : { tree }),
    };
  }

  function around({ session, host }: Who): Circumstances {
    if (session === undefined) return { values };
    const facts: SessionFacts = {
      worktree: here,
      environment: { machine: hostname(), platform: platform(), user: userName() },
      ...(host === undefined ? {} : { host }),
    };
    return { values, facts };
  }

  /** The tree's hash costs a walk over it: asked for only where something hangs on it. */
  async function treeFor(
    definition: Definition,
    type: CommandType,
    worktree = project.worktree,
  ): Promise<Tree | undefined> {
    const work = [...definition.steps, ...Object.values(definition.loops ?? {}).flat()];
    const reads = work.some((step) => step.read_only);
    const checks = work.some((step) => gatesOf(step).length > 0 || ('review' in step && step.review));
    if (!reads && (!checks || type === 'start')) return undefined;
    return await treeOf({ worktree, exclude: excludedFrom(definition) });
  }
}

/** `feature-20261114-k3f9x2ab`. */
export function newRun(workflow: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const letters = Array.from(randomBytes(8), (byte) => (byte % 32).toString(32)).join('');
  return `${slug(workflow)}-${day}-${letters}`;
}

/** The task that a handle names. */
function taskAt(at: string | undefined): string | undefined {
  const [, task, subStep] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  return subStep === undefined ? undefined : task;
}

/** Runs are never committed, also where nobody called `init`. */
function ignoreRuns({ directory }: Project): void {
  mkdirSync(directory, { recursive: true });
  try {
    writeFileSync(join(directory, '.gitignore'), ignored, { flag: 'wx' });
  } catch {
    // It has one already.
  }
}

async function refusing(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    const refused = refusedBy(error);
    if (!refused) throw error;
    return { reply: refused };
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
