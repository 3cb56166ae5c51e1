import { randomBytes } from 'node:crypto';
import { hostname, platform, userInfo } from 'node:os';
import { join } from 'node:path';
import { hashDefinition, type Place, places } from '../definition/index.ts';
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
  shortSummary,
} from '../machine/index.ts';
import { createFileStore, type FileStore, type Loaded, type RunInfo } from '../store/index.ts';
import { type Answer, isRefused, type Refused, refusedBy } from './answer.ts';
import { type Config, readConfig } from './config.ts';
import { containedFile } from './contained.ts';
import {
  type Circumstances,
  createEngine,
  type Engine,
  type Executed,
  type OpeningCommand,
} from './engine.ts';
import { onlyLiveRun, runNamed, worksHere } from './find-run.ts';
import { createGateKeeper, type GateProgress, type RunnerCommand, worktreeOf } from './gate-keeper.ts';
import { commandsOf, excludedFrom, gatesOf } from './gates-in.ts';
import { ignoreRuns, newRun } from './new-run.ts';
import { findProject, type Project, portable } from './project.ts';
import { readCommand } from './reading.ts';
import { type Resolved, resolveWorkflow } from './resolve.ts';
import { makeTaskWorktree, taskWorktree, unmergedBranches } from './task-worktree.ts';
import { createTrust, type Trust } from './trust.ts';
import { bootId, machineId, stateDirectory } from './user.ts';
import { onlyHeld, taskAt, workerOf } from './whose.ts';

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

export interface Wanted {
  at?: string | undefined;
  run?: string | undefined;
  /** Not only a look: another worktree's run is never meant without a name. */
  changes?: boolean;
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
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
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
const lingerMs = 3_600_000;

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
  const cacheDirectory = join(state, 'cache');
  const config = readConfig(join(project.worktree, '.stepfast'));
  const trust = createTrust(state, options.trusted);
  const store = createFileStore({
    directory: join(project.directory, 'runs'),
    machine,
    nonce: () => randomBytes(6).toString('hex'),
  });
  const engine = createEngine({ store, newRun, hashOf: hashDefinition });
  const values = { project_root: project.root };
  const here = portable(project.worktree, project.root);
  const gates = createGateKeeper({
    engine,
    project,
    trust,
    clock,
    env,
    host: bootId(machine),
    cacheDirectory,
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
    call: (request, who, callOptions = {}) => refusing(() => call(request, who, callOptions)),
    runGates: gates.run,
  };

  async function start(request: StartRequest, who: Who): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, who);
    const { definition } = resolve(request.workflow ?? options.workflowPath ?? 'go');
    const known = await sameRun(definition.name, request, who);
    if (known !== undefined) return await restore(known, who);
    const refused = untrusted(definition, definition.name) ?? badTodoPath(definition);
    if (refused) return { reply: refused };
    const { summary, inputs } = request;
    const opening: OpeningCommand = {
      ...caller(who, (await treeFor(definition, 'start', project.worktree))?.hash),
      type: 'start',
      ...(summary === undefined ? {} : { summary }),
      ...(inputs === undefined ? {} : { inputs }),
    };
    ignoreRuns(project);
    const { run, reply, effects } = await engine.begin(definition, opening, around(who));
    await gates.perform(run, effects);
    return isRefused(reply) ? { reply } : { run, reply };
  }

  async function restore(run: string, who: Who): Promise<Answer> {
    const found = await which({ run });
    if (!('run' in found)) return { reply: found };
    const command: Command = { ...caller(who), type: 'status' };
    const { reply, effects } = await engine.execute(found.run, command, undefined, around(who));
    await gates.perform(found.run, effects);
    return { run: found.run, reply, restored: true };
  }

  /** A second start restores: the caller's own run, or one of this worktree, with the same words. */
  async function sameRun(
    workflow: string,
    { summary, inputs = {} }: StartRequest,
    { session }: Who,
  ): Promise<string | undefined> {
    const runs = await engine.runs();
    await sweep(runs);
    const words = shortSummary(summary);
    const same = runs.filter(({ state: each }) => {
      if (!each || ended(each) || each.workflow !== workflow) return false;
      const mine = session !== undefined && Object.hasOwn(each.sessions, session);
      const alike = words === each.summary || (mine && words === undefined);
      const fits = Object.entries(inputs).every(([name, value]) => each.inputs[name] === value);
      return alike && fits && (mine || worksHere(each, here));
    });
    return same.length === 1 ? same[0]?.run : undefined;
  }

  /** Runs that keep nothing go some time after their end: until then a repeated call is answered. */
  async function sweep(runs: readonly RunInfo[]): Promise<void> {
    for (const { run, state: each, keep } of runs)
      if (keep === false && each && ended(each) && clock() - each.updatedAt > lingerMs)
        await engine.remove(run);
  }

  async function call(asked: Request, who: Who, callOptions: CallOptions): Promise<Answer> {
    const at = 'at' in asked ? asked.at : undefined;
    const found = await which({ at, run: callOptions.run, changes: asked.type !== 'status' });
    if (!('run' in found)) return { reply: found };
    const { run } = found;
    const request = reading(asked);
    const checked = request.type === 'advance' || request.type === 'review';
    const view = checked ? await engine.view(run) : undefined;
    const refused = view && untrusted(view.definition, run);
    if (refused) return { run, reply: at === undefined ? refused : { ...refused, at } };
    // A verdict is about the tree of whoever did the work.
    const worker = view && request.type === 'review' ? workerOf(view.state, at) : undefined;
    const worktree =
      taskWorktree(project, run, taskAt(at)) ??
      (view && worker !== undefined ? worktreeOf(view.state, worker, project) : project.worktree);
    const tree = view && (await treeFor(view.definition, request.type, worktree));
    const warned = warning(view, tree);
    const by = who.session === undefined && worker !== undefined ? { ...who, session: worker } : who;
    // The parts are those of exactly this request.
    const command = { ...request, ...caller(by, tree?.hash) } as Command;
    // Whoever only looks around binds nothing; a handle says that it is meant.
    const bound = request.type !== 'status' || at !== undefined ? around(who) : { values };
    const executed = await engine.execute(run, command, callOptions.key, bound);
    await gates.perform(run, executed.effects);
    const reply = toldBy(executed);
    if (isRefused(reply)) return { run, reply };
    if (request.type === 'claim') return await withWorktree({ run, reply }, reply.task?.id);
    const own = request.type === 'status' && at === undefined ? onlyHeld(reply, who.session) : undefined;
    if (own !== undefined) return await call({ type: 'status', at: own }, who, { ...callOptions, run });
    if (!reply.checking) {
      const speaks = request.type === 'advance' || request.type === 'fail';
      const ignored = speaks && !executed.changed && !reply.replayed && reply.status === 'waiting';
      return { ...about(run, reply), ...(ignored ? { ignored } : {}) };
    }
    // Whoever only looks does not wait, but learns of a runner that is gone.
    const waitMs = callOptions.waitMs ?? (checked ? defaultWaitMs : 0);
    const { id } = reply.checking;
    const { onProgress } = callOptions;
    const settled = await gates.settle(run, id, { until: clock() + waitMs, onProgress });
    if (settled === 'running') return { run, reply, ...warned };
    return { ...about(run, await afterGates(run, { id, at: reply.at, settled }, who)), ...warned };
  }

  /** With where a task's files are, or what is still only there. */
  function about(run: string, reply: Answer['reply']): Answer & { run: string } {
    if (isRefused(reply)) return { run, reply };
    const worktree = taskWorktree(project, run, reply.task?.id);
    if (worktree !== undefined) return { run, reply, worktree };
    const branches = reply.held ? [] : unmergedBranches(project, run);
    if (branches.length === 0) return { run, reply };
    const warning = `work of this run is not in this tree yet; merge ${branches.join(', ')} before you go on`;
    return { run, reply, warning };
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
    { id, at, settled }: { id: string; at: string | undefined; settled: 'finished' | 'interrupted' },
    who: Who,
  ): Promise<Answer['reply']> {
    const status: CommandOf<'status'> = {
      ...caller(who),
      type: 'status',
      ...(at === undefined ? {} : { at }),
      ...(settled === 'interrupted' ? { runnerAlive: false } : {}),
    };
    const executed = await engine.execute(run, status, undefined, { ...around(who), check: id });
    await gates.perform(run, executed.effects);
    return toldBy(executed);
  }

  /** A note that names a file as read says at which content. */
  function reading(request: Request): Request {
    if (request.type !== 'note' || request.kind !== 'reading') return request;
    return readCommand(request.text.trim(), project) ?? request;
  }

  async function which(wanted: Wanted): Promise<{ run: string } | Refused> {
    const suffix = wanted.at === undefined ? undefined : parseHandle(wanted.at)?.suffix;
    if (wanted.run !== undefined) return runNamed(await engine.ids(), wanted.run);
    if (suffix !== undefined) return runNamed(await engine.ids(), suffix, wanted.at);
    return onlyLiveRun(await engine.runs(), here, wanted.changes ?? false);
  }

  function resolve(workflow: string): Resolved {
    return resolveWorkflow(workflow, { searchPath, config, cwd });
  }

  function untrusted(definition: Definition, name: string): Refused | undefined {
    if (trust.has(definition)) return undefined;
    const [first = '', ...more] = commandsOf(definition);
    const and = more.length === 0 ? '' : ` and ${more.length} more`;
    return {
      code: 'untrusted',
      message: `'${definition.name}' would run commands that nobody trusts on this machine: ${first}${and}`,
      next: `a person reads and trusts them with: stepfast trust ${name}`,
    };
  }

  function badTodoPath({ todo_path }: Definition): Refused | undefined {
    if (todo_path === undefined || containedFile(project.worktree, todo_path)) return undefined;
    const message = `todo_path '${todo_path}' leads out of the project, or into .git or .stepfast`;
    return { code: 'bad_config', message, next: 'name a file of the project' };
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
    worktree: string,
  ): Promise<Tree | undefined> {
    const work = [...definition.steps, ...Object.values(definition.loops ?? {}).flat()];
    const reads = work.some((step) => step.read_only);
    const checks = work.some((step) => gatesOf(step).length > 0 || ('review' in step && step.review));
    if (!reads && (!checks || type === 'start')) return undefined;
    return await treeOf({ worktree, exclude: excludedFrom(definition), cacheDirectory });
  }
}

const toldBy = ({ reply, interrupted }: Executed): Answer['reply'] =>
  interrupted && !('code' in reply) ? { ...reply, interrupted: true } : reply;

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
