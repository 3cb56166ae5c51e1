import { commandName } from '../command-name.ts';
import { answerFrom, checkingIn, type Engine, type Executed, noRun } from '../engine/index.ts';
import type { Tree } from '../evidence/index.ts';
import {
  type Caller,
  type Command,
  type CommandOf,
  criticalArtifacts,
  ended,
  handleOf,
  needsWorktree,
  type State,
  sameText,
  suffixOf,
  type Text,
} from '../machine/index.ts';
import { settingUpText, taskNotSetUpText } from '../messages/index.ts';
import { describeText, type Loaded } from '../store/index.ts';
import type { GateProgress, Workspace } from '../workspace/index.ts';
import { followSource } from './adoption/find-informal-workflow.ts';
import { type Answer, type AnsweredStatus, isRefused, type Refused } from './answer.ts';
import type { Briefings } from './briefing/briefings.ts';
import type { CallContext, CallerIdentity } from './call-context.ts';
import { cursorFor, onlyHeldHandle, taskAt, workerOf } from './find-cursor.ts';
import type { Gates } from './wait-for-gates.ts';

type WithoutCaller<C> = C extends Command ? Omit<C, keyof Caller> : never;
/** A command without the fields that the runtime adds: time, caller and tree. */
export type Request = WithoutCaller<Exclude<Command, { type: 'start' | 'adopt' | 'import' }>>;

export interface RunQuery {
  at?: string | undefined;
  run?: string | undefined;
  /** The call changes the run, so a run of another worktree must be named. */
  changes?: boolean;
}

export interface CallOptions {
  run?: string | undefined;
  /** The run, if the caller has loaded it. */
  view?: Loaded | undefined;
  key?: string | undefined;
  /** How long the call may wait for gates; 45 s by default. */
  waitMs?: number | undefined;
  onProgress?(progress: GateProgress): void;
}

/** The parts of a runtime that start and call share. */
export interface CallParts {
  engine: Engine;
  workspace: Workspace;
  gates: Gates;
  context: CallContext;
  briefings: Briefings;
}

interface Options extends CallParts {
  chooseRun(query: RunQuery): Promise<{ run: string } | Refused>;
  loadRun(query: RunQuery): Promise<Loaded | Refused>;
}

const defaultWaitMs = 45_000;

/** Executes one command, then runs gates, creates the task's worktree and collects warnings. */
export function createCall({ engine, workspace, gates, context, briefings, chooseRun, loadRun }: Options) {
  const { project, values, hasFiles } = workspace;
  const { clock, caller, around, treeFor, untrusted } = context;
  return call;

  async function call(asked: Request, identity: CallerIdentity, options: CallOptions): Promise<Answer> {
    const at = 'at' in asked ? asked.at : undefined;
    const checked = asked.type === 'advance' || asked.type === 'check' || asked.type === 'review';
    const query = { at, run: options.run, changes: asked.type !== 'status' };
    const claims = asked.type === 'claim';
    const found = options.view ?? (await (checked || claims ? loadRun(query) : chooseRun(query)));
    if ('code' in found) return { reply: found };
    const { run } = found;
    // A claim may set up a worktree.
    const foreign =
      claims && isLoaded(found) && found.definition.worktree ? untrusted(found.definition, run) : undefined;
    if (foreign) return { run, reply: foreign };
    const request = await reading(found, asked);
    if ('code' in request) return { run, reply: request };
    const view = checked && isLoaded(found) ? await followed(found, identity) : undefined;
    const refused = view && untrusted(view.definition, run);
    if (refused) return { run, reply: at === undefined ? refused : { ...refused, at } };
    const reviewed = request.type === 'review' ? view?.state : undefined;
    const worker = reviewed && workerOf(reviewed, at);
    const works = reviewed ? reviewedWorktree(reviewed, worker) : project.worktree;
    const worktree = workspace.taskWorktree(run, taskAt(at)) ?? works ?? project.worktree;
    const tree =
      view && works !== undefined ? await treeFor(view.definition, request.type, worktree) : undefined;
    const by =
      identity.session === undefined && worker !== undefined ? { ...identity, session: worker } : identity;
    const cursor = view && cursorFor(view, { at, session: identity.session });
    const completes = request.type === 'advance' || (request.type === 'check' && !request.stay);
    const required = view && completes ? await briefings.requiredArtifacts(view, { cursor, worktree }) : {};
    // The fields are those of the request's type.
    const command = {
      ...request,
      ...caller(by, tree?.hash),
      ...required,
    } as Command;
    // A status without a handle does not bind the session.
    const bound = request.type !== 'status' || at !== undefined ? around(identity) : { values };
    const first = await engine.execute(run, command, options.key, bound);
    const why = first.changed && works !== undefined ? 'asked' : 'found';
    const executed = await gates.withTasks(first, { ...caller(by), type: 'status' }, bound, why);
    const reply = replyOf(executed);
    // The worktree of a claimed task comes first: a command may run in it.
    const until = clock() + (options.waitMs ?? defaultWaitMs);
    const answer = claims && !isRefused(reply) ? await claimed(executed, reply, identity, until) : undefined;
    const warned = await gates.perform(executed, why);
    if (isRefused(reply)) return { run, reply };
    if (answer) return answer;
    const own =
      request.type === 'status' && at === undefined ? onlyHeldHandle(reply, identity.session) : undefined;
    if (own !== undefined) return await call({ type: 'status', at: own }, identity, { ...options, run });
    const sent = request.type === 'advance' ? request.output : undefined;
    if (reply.checking) {
      const waitMs = options.waitMs ?? (checked && hasFiles ? defaultWaitMs : 0);
      const waiting = { until: clock() + waitMs, onProgress: options.onProgress };
      return { ...(await settled(executed, reply, identity, waiting, sent)), ...treeWarning(view, tree) };
    }
    const hasOutput = ['advance', 'fail', 'setTasks'].includes(request.type);
    // An older server does not say it.
    const isIgnored = executed.ignored || (!executed.changed && !reply.replayed);
    const ignored = hasOutput && isIgnored && reply.status === 'waiting';
    const after = reply.replayed && sent !== undefined ? await viewAfter(executed) : undefined;
    const kept = request.type === 'setTasks' && executed.changed ? await keptTasks(executed, request) : [];
    const warning = warned ?? (request === asked || hasFiles ? undefined : unread);
    return {
      ...(await about(executed)),
      ...(kept.length > 0 && { kept }),
      ...(warning !== undefined && { warning }),
      ...(ignored && { ignored }),
      ...beatenAt(after?.state, at, sent),
    };
  }

  /** Of the session that did the work, which may be on another machine. Without one, a server cannot tell where it was. */
  function reviewedWorktree(state: State, worker: string | undefined): string | undefined {
    if (worker !== undefined) return workspace.gates.worktreeOf(state, worker);
    return workspace.checkout === undefined ? project.worktree : undefined;
  }

  /** The answer with the task's worktree, or with a warning about unmerged branches. */
  async function about(executed: Executed): Promise<Answer> {
    const { run, due, view } = executed;
    const reply = replyOf(executed);
    if (isRefused(reply)) return { run, reply };
    const task = reply.task?.id ?? '';
    const worktree = workspace.taskWorktree(run, task === '' ? undefined : task);
    const isReady =
      !view || reply.waiting || reply.checking || workspace.gates.setUpOf(view, task) === 'done';
    if (worktree !== undefined)
      return { run, reply, due, view, worktree, ...(isReady ? {} : { warning: settingUpText(task) }) };
    const branches = reply.held ? [] : await workspace.unmergedBranches(run);
    if (branches.length === 0) return { run, reply, due, view };
    const warning = `branches of this run are not merged into this tree; merge ${branches.join(', ')} before you continue`;
    return { run, reply, due, view, warning };
  }

  /** Tasks of the list that the run stores differently. */
  async function keptTasks(
    executed: Executed,
    { loop, tasks }: WithoutCaller<CommandOf<'setTasks'>>,
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

  /** Warns about an unknown tree, with the first gates of a run only. */
  function treeWarning(view: Loaded | undefined, tree: Tree | undefined): { warning?: string } {
    if (!view || tree?.unknown === undefined) return {};
    const isKnown = Object.values(view.state.outputs).some(
      ({ receipts, tree: of }) => receipts.length > 0 && !of,
    );
    if (isKnown) return {};
    return {
      warning: `the hash of the tree is unknown (${tree.unknown}), so no gate result can be reused`,
    };
  }

  async function claimed(
    executed: Executed,
    reply: AnsweredStatus,
    identity: CallerIdentity,
    until: number,
  ): Promise<Answer> {
    const { run, due } = executed;
    const task = reply.task?.id ?? '';
    const view = task === '' ? undefined : await viewAfter(executed);
    const worktree = view && (await workspace.createTaskWorktree(view, task));
    const isApart = !hasFiles && view !== undefined && needsWorktree(view.definition, reply.step);
    // What runs the command of the position sets up its worktree first.
    const setUp =
      !view || worktree === undefined || (reply.checking && !reply.preparing)
        ? 'done'
        : await gates.setUp(view, task, until);
    if (setUp === 'failed') return await notSetUp(run, task, identity);
    return {
      run,
      reply,
      due,
      view,
      ...(worktree === undefined ? {} : { worktree }),
      ...(isApart ? { warning: workApart } : {}),
      ...(setUp === 'running' ? { warning: settingUpText(task) } : {}),
    };
  }

  /** The status after the failure of a task, with its cause. */
  async function notSetUp(run: string, task: string, identity: CallerIdentity): Promise<Answer> {
    const state = (await engine.view(run))?.state;
    const cursor = Object.values(state?.cursors ?? {}).find((each) => each.task === task);
    const at = state && cursor && handleOf(state, cursor);
    const executed = await engine.execute(
      run,
      { ...caller(identity), type: 'status', at },
      undefined,
      around(identity),
    );
    const answer = await about(executed);
    // A run or a task that waits for a person says why.
    if (cursor || isRefused(answer.reply) || answer.reply.status === 'failed') return answer;
    return { ...answer, warning: taskNotSetUpText(task, workspace.gates.setUpProblem(run, task)) };
  }

  /** Waits for the gates of the call and returns the status after them. */
  async function settled(
    executed: Executed,
    reply: AnsweredStatus & { checking?: { id: string } },
    identity: CallerIdentity,
    waiting: Parameters<Gates['settle']>[2],
    sent?: Text,
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
      ...caller(identity),
      type: 'status',
      at: reply.at,
      runnerAlive: gate.state === 'interrupted' ? false : undefined,
    };
    const circumstances = { ...around(identity), check: id };
    const after =
      answerFrom(gate.view, status, circumstances) ??
      (await engine.execute(run, status, undefined, circumstances));
    await gates.perform(after, after.changed ? 'asked' : 'found');
    const next = replyOf(after);
    if (isRefused(next)) return await about(after);
    const beaten = beatenAt((after.view ?? gate.view).state, reply.at, sent);
    // What opened may have gates before its work.
    const isPreparing = next.checking && next.preparing && next.checking.id !== id;
    const answer = isPreparing ? await settled(after, next, identity, waiting) : await about(after);
    if (!('beaten' in beaten) || isRefused(answer.reply)) return answer;
    return { ...answer, reply: { ...answer.reply, replayed: true }, ...beaten };
  }

  /** Updates an adopted run from its source. */
  async function followed(view: Loaded, identity: CallerIdentity): Promise<Loaded> {
    const { run, state } = view;
    if (!hasFiles || !state.adopted || ended(state)) return view;
    const adopted = followSource(project, state.adopted);
    const executed = await engine.execute(run, { ...caller(identity), type: 'adopt', run, adopted });
    return executed.changed ? ((await viewAfter(executed)) ?? view) : view;
  }

  /** A note of kind `reading` becomes a `read` command with the file's hash, unless its key names a slash command. */
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

/** Whether the position has another call's output. If the engine ran a command there, its output isn't compared. */
function beatenAt(
  state: State | undefined,
  at: string | undefined,
  sent: Text | undefined,
): Pick<Answer, 'beaten'> {
  if (!state || at === undefined || sent === undefined) return {};
  const words = typeof sent === 'string' ? describeText(sent).kept : sent;
  const isOther = (kept: Text): boolean => !sameText(kept, typeof kept === 'string' ? sent : words);
  const output = Object.values(state.outputs).find((each) => each.at === at);
  if (output?.receipts.some(({ role }) => role === 'run')) return {};
  const open = Object.values(state.cursors).find((cursor) => handleOf(state, cursor) === at);
  // A review waits.
  const kept = output?.text ?? open?.output;
  return kept !== undefined && isOther(kept) ? { beaten: at } : {};
}

const isLoaded = (found: { run: string }): found is Loaded => 'state' in found;

const replyOf = ({ reply, interrupted }: Executed): Answer['reply'] =>
  interrupted && !('code' in reply) ? { ...reply, interrupted: true } : reply;

const unstarted = (run: string): string =>
  `this server has no files: to run the gates, use a checkout that is logged in: ${commandName()} status ${suffixOf(run)} --wait`;

const unread =
  'stored without checking the file, because this server has no files; gates check what a checkout recorded';

const workApart = 'other agents may work on other tasks at the same time: use your own checkout and branch';

const fileKey = (path: string): string => `file-${path.replaceAll(/[^\w.-]+/g, '-')}`.slice(0, 64);
