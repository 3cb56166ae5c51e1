import { answerFrom, checkingIn, type Engine, type Executed, noRun } from '../engine/index.ts';
import type { Tree } from '../evidence/index.ts';
import {
  type Caller,
  type Command,
  type CommandOf,
  criticalArtifacts,
  ended,
  suffixOf,
} from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import { type GateProgress, needsWorktree, type Workspace } from '../workspace/index.ts';
import { followSource } from './adoption/follow.ts';
import { type Answer, isRefused, type Refused, type Told } from './answer.ts';
import type { CallContext, Who } from './call-context.ts';
import { cursorFor, onlyHeld, taskAt, workerOf } from './find-cursor.ts';
import type { Memory } from './memory/memory.ts';
import type { Gates } from './wait-for-gates.ts';

type Bare<C> = C extends Command ? Omit<C, keyof Caller> : never;
/** A command without what the runtime knows better: the moment, the caller and the tree. */
export type Request = Bare<Exclude<Command, { type: 'start' | 'adopt' | 'import' }>>;

export interface Wanted {
  at?: string | undefined;
  run?: string | undefined;
  /** Not only a look: another worktree's run is never meant without a name. */
  changes?: boolean;
}

export interface CallOptions {
  run?: string | undefined;
  /** The run, where the caller has loaded it. */
  view?: Loaded | undefined;
  key?: string | undefined;
  /** How long the call may wait for gates; 45 s by default. */
  waitMs?: number | undefined;
  onProgress?(progress: GateProgress): void;
}

interface Options {
  engine: Engine;
  workspace: Workspace;
  gates: Gates;
  context: CallContext;
  memory: Memory;
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
  find(wanted: Wanted): Promise<Loaded | Refused>;
}

const defaultWaitMs = 45_000;

/** One command of one run, with what it leads to: gates, a task's worktree, a warning. */
export function createCall({ engine, workspace, gates, context, memory, which, find }: Options) {
  const { project, values, hasFiles } = workspace;
  const { clock, caller, around, treeFor, untrusted } = context;
  return call;

  async function call(asked: Request, who: Who, options: CallOptions): Promise<Answer> {
    const at = 'at' in asked ? asked.at : undefined;
    const checked = asked.type === 'advance' || asked.type === 'review';
    const wanted = { at, run: options.run, changes: asked.type !== 'status' };
    const found = options.view ?? (await (checked ? find(wanted) : which(wanted)));
    if ('code' in found) return { reply: found };
    const { run } = found;
    const request = await reading(found, asked);
    if ('code' in request) return { run, reply: request };
    const view = checked && isLoaded(found) ? await followed(found, who) : undefined;
    const refused = view && untrusted(view.definition, run);
    if (refused) return { run, reply: at === undefined ? refused : { ...refused, at } };
    // A verdict is about the tree of the session that did the work; another machine's cannot be looked at.
    const worker = view && request.type === 'review' ? workerOf(view.state, at) : undefined;
    const works =
      view && worker !== undefined ? workspace.gates.worktreeOf(view.state, worker) : project.worktree;
    const worktree = workspace.taskWorktree(run, taskAt(at)) ?? works ?? project.worktree;
    const tree =
      view && works !== undefined ? await treeFor(view.definition, request.type, worktree) : undefined;
    const by = who.session === undefined && worker !== undefined ? { ...who, session: worker } : who;
    const cursor = view && cursorFor(view, { at, session: who.session });
    const missing =
      view && request.type === 'advance' ? await memory.missing(view, { cursor, worktree }) : [];
    // The parts are those of exactly this request.
    const command = {
      ...request,
      ...caller(by, tree?.hash),
      ...(missing.length > 0 ? { missing } : {}),
    } as Command;
    // A mere look binds no session; a handle says that the run is meant.
    const bound = request.type !== 'status' || at !== undefined ? around(who) : { values };
    const executed = await engine.execute(run, command, options.key, bound);
    const warned = await gates.perform(executed, executed.changed && works !== undefined ? 'asked' : 'found');
    const reply = replyOf(executed);
    if (isRefused(reply)) return { run, reply };
    if (request.type === 'claim') return await claimed(executed, reply);
    const own = request.type === 'status' && at === undefined ? onlyHeld(reply, who.session) : undefined;
    if (own !== undefined) return await call({ type: 'status', at: own }, who, { ...options, run });
    if (reply.checking) {
      const waitMs = options.waitMs ?? (checked && hasFiles ? defaultWaitMs : 0);
      const waiting = { until: clock() + waitMs, onProgress: options.onProgress };
      return { ...(await settled(executed, reply, who, waiting)), ...treeWarning(view, tree) };
    }
    const speaks = ['advance', 'fail', 'setTasks'].includes(request.type);
    const ignored = speaks && !executed.changed && !reply.replayed && reply.status === 'waiting';
    const kept = request.type === 'setTasks' && executed.changed ? await keptTasks(executed, request) : [];
    const warning = warned ?? (request === asked || hasFiles ? undefined : unread);
    return {
      ...about(executed),
      ...(kept.length > 0 ? { kept } : {}),
      ...(warning === undefined ? {} : { warning }),
      ...(ignored ? { ignored } : {}),
    };
  }

  /** With where a task's files are, or what is still only there. */
  function about(executed: Executed): Answer {
    const { run, due, view } = executed;
    const reply = replyOf(executed);
    if (isRefused(reply)) return { run, reply };
    const worktree = workspace.taskWorktree(run, reply.task?.id);
    if (worktree !== undefined) return { run, reply, due, view, worktree };
    const branches = reply.held ? [] : workspace.unmergedBranches(run);
    if (branches.length === 0) return { run, reply, due, view };
    const warning = `work of this run is not in this tree yet; merge ${branches.join(', ')} before you go on`;
    return { run, reply, due, view, warning };
  }

  /** The tasks of the list that the run has otherwise. */
  async function keptTasks(
    executed: Executed,
    { loop, tasks }: Bare<CommandOf<'setTasks'>>,
  ): Promise<Answer['kept'] & {}> {
    const view = await viewAfter(executed);
    const step = view?.definition.steps.find((each) => each.id === loop);
    const byId = view?.state.tasks[step?.loop ?? loop]?.byId ?? {};
    return tasks.flatMap((asked) => {
      const known = Object.hasOwn(byId, asked.id) ? byId[asked.id] : undefined;
      if (!known) return [];
      const { id, title, end } = known;
      const same = title === asked.title && known.description === asked.description && end !== 'dropped';
      return same ? [] : [{ id, title, ...(end === undefined ? {} : { end }) }];
    });
  }

  async function viewAfter({ run, view }: Executed): Promise<Loaded | undefined> {
    return view ?? (await engine.view(run));
  }

  /** That the tree is unknown is said with a run's first gates. */
  function treeWarning(view: Loaded | undefined, tree: Tree | undefined): { warning?: string } {
    if (!view || tree?.unknown === undefined) return {};
    const isKnown = Object.values(view.state.outputs).some(
      ({ receipts, tree: of }) => receipts.length > 0 && !of,
    );
    if (isKnown) return {};
    return {
      warning: `the tree's hash is unknown (${tree.unknown}): receipts hold only inside their advance`,
    };
  }

  async function claimed(executed: Executed, reply: Told): Promise<Answer> {
    const { run, due } = executed;
    const task = reply.task?.id;
    const view = task === undefined ? undefined : await viewAfter(executed);
    const worktree = view && workspace.makeTaskWorktree(view, task ?? '');
    const isApart = !hasFiles && view !== undefined && needsWorktree(view.definition, reply.step);
    return {
      run,
      reply,
      due,
      view,
      ...(worktree === undefined ? {} : { worktree }),
      ...(isApart ? { warning: workApart } : {}),
    };
  }

  /** What the call has led to, as the caller's own status. */
  async function settled(
    executed: Executed,
    reply: Told & { checking?: { id: string } },
    who: Who,
    waiting: Parameters<Gates['settle']>[2],
  ): Promise<Answer> {
    const { run, due } = executed;
    const id = reply.checking?.id ?? '';
    const view = await viewAfter(executed);
    if (!view) throw noRun(run);
    const gate = await gates.settle(view, id, waiting);
    if (gate.state === 'running') {
      const isUnstarted = !hasFiles && !checkingIn(gate.view.state, id)?.runner;
      const more = hasFiles ? {} : { due };
      return { run, reply, view: gate.view, ...more, ...(isUnstarted ? { warning: unstarted(run) } : {}) };
    }
    const status: CommandOf<'status'> = {
      ...caller(who),
      type: 'status',
      at: reply.at,
      runnerAlive: gate.state === 'interrupted' ? false : undefined,
    };
    const circumstances = { ...around(who), check: id };
    const after =
      answerFrom(gate.view, status, circumstances) ??
      (await engine.execute(run, status, undefined, circumstances));
    await gates.perform(after, after.changed ? 'asked' : 'found');
    return about(after);
  }

  /** The run with what the source of an adopted one says now. */
  async function followed(view: Loaded, who: Who): Promise<Loaded> {
    const { run, state } = view;
    if (!hasFiles || !state.adopted || ended(state)) return view;
    const adopted = followSource(project, state.adopted);
    const executed = await engine.execute(run, { ...caller(who), type: 'adopt', run, adopted });
    return executed.changed ? ((await viewAfter(executed)) ?? view) : view;
  }

  /** A note that names a file as read says at which content; the key of a slash command says that it was run. */
  async function reading(found: { run: string }, request: Request): Promise<Request | Refused> {
    if (request.type !== 'note' || request.kind !== 'reading') return request;
    const { text, key } = request;
    const path = text.trim();
    const isPath = key === undefined && !/\s/.test(path);
    if (!hasFiles) return isPath ? { ...request, key: fileKey(text) } : request;
    const view = key === undefined || isLoaded(found) ? found : await engine.view(found.run);
    const commands = view && isLoaded(view) ? criticalArtifacts(view.definition) : [];
    if (commands.some(({ id, command }) => command && id === key)) return request;
    const file = workspace.readCommand(path);
    if (file || !isPath) return file ?? request;
    return { code: 'no_file', params: { path: path.slice(0, 120) } };
  }
}

const isLoaded = (found: { run: string }): found is Loaded => 'state' in found;

const replyOf = ({ reply, interrupted }: Executed): Answer['reply'] =>
  interrupted && !('code' in reply) ? { ...reply, interrupted: true } : reply;

const unstarted = (run: string): string =>
  `no tree is here: the gates wait until somebody runs, in a checkout that is logged in: stepfast status ${suffixOf(run)} --wait`;

/** A file is read as it is in a tree; without one its content is unknown. */
const unread =
  'kept as your word: no file is readable here, and a gate that asks for it looks at what was noted in a checkout';

const workApart = 'other agents work on other tasks now: work in a checkout and on a branch of your own';

const fileKey = (path: string): string => `file-${path.replaceAll(/[^\w.-]+/g, '-')}`.slice(0, 64);
