import type { Engine, Executed } from '../engine/index.ts';
import type { Tree } from '../evidence/index.ts';
import { type Caller, type Command, type CommandOf, criticalArtifacts, ended } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import {
  type GateKeeper,
  type GateProgress,
  isElsewhere,
  makeTaskWorktree,
  type Project,
  readCommand,
  taskWorktree,
  unmergedBranches,
  worktreeOf,
} from '../workspace/index.ts';
import { followSource } from './adoption/follow.ts';
import { type Answer, isRefused, type Refused } from './answer.ts';
import type { Surroundings, Who } from './call-context.ts';
import { cursorFor, onlyHeld, taskAt, workerOf } from './find-cursor.ts';
import type { Memory } from './memory/memory.ts';

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
  run?: string;
  key?: string;
  /** How long the call may wait for gates; 45 s by default. */
  waitMs?: number;
  onProgress?(progress: GateProgress): void;
}

interface Options {
  engine: Engine;
  project: Project;
  gates: GateKeeper;
  surroundings: Surroundings;
  memory: Memory;
  which(wanted: Wanted): Promise<{ run: string } | Refused>;
  /** This project directory, where runs live on a server too. */
  place?: string | undefined;
}

const defaultWaitMs = 45_000;

/** One command of one run, with what it leads to: gates, a task's worktree, a warning. */
export function createCall({ engine, project, gates, surroundings, memory, which, place }: Options) {
  const { clock, values, caller, around, treeFor, untrusted } = surroundings;
  return call;

  async function call(asked: Request, who: Who, callOptions: CallOptions): Promise<Answer> {
    const at = 'at' in asked ? asked.at : undefined;
    const found = await which({ at, run: callOptions.run, changes: asked.type !== 'status' });
    if (!('run' in found)) return { reply: found };
    const { run } = found;
    const request = await reading(run, asked);
    if ('code' in request) return { run, reply: request };
    const checked = request.type === 'advance' || request.type === 'review';
    const view = checked ? await followed(run, who) : undefined;
    const refused = view && untrusted(view.definition, run);
    if (refused) return { run, reply: at === undefined ? refused : { ...refused, at } };
    // A verdict is about the tree of whoever did the work.
    const worker = view && request.type === 'review' ? workerOf(view.state, at) : undefined;
    const worktree =
      taskWorktree(project, run, taskAt(at)) ??
      (view && worker !== undefined ? worktreeOf(view.state, worker, project, place) : project.worktree);
    const works = worker === undefined ? undefined : view?.state.sessions[worker]?.worktree;
    // On the tree of another machine nobody here can look.
    const away = works !== undefined && isElsewhere(works, place);
    const tree = view && !away ? await treeFor(view.definition, request.type, worktree) : undefined;
    const warned = warning(view, tree);
    const by = who.session === undefined && worker !== undefined ? { ...who, session: worker } : who;
    // The parts are those of exactly this request.
    const cursor = view && cursorFor(view, { at, session: who.session });
    const missing =
      view && request.type === 'advance' ? await memory.missing(view, { cursor, worktree }) : [];
    const command = {
      ...request,
      ...caller(by, tree?.hash),
      ...(missing.length > 0 ? { missing } : {}),
    } as Command;
    // Whoever only looks around binds nothing; a handle says that it is meant.
    const bound = request.type !== 'status' || at !== undefined ? around(who) : { values };
    const executed = await engine.execute(run, command, callOptions.key, bound);
    const told = await gates.perform(run, executed.effects, executed.changed && !away ? 'asked' : 'found');
    const reply = toldBy(executed);
    if (isRefused(reply)) return { run, reply };
    if (request.type === 'claim')
      return await withWorktree({ run, reply, due: executed.due }, reply.task?.id);
    const own = request.type === 'status' && at === undefined ? onlyHeld(reply, who.session) : undefined;
    if (own !== undefined) return await call({ type: 'status', at: own }, who, { ...callOptions, run });
    if (!reply.checking) {
      const speaks = ['advance', 'fail', 'setTasks'].includes(request.type);
      const ignored = speaks && !executed.changed && !reply.replayed && reply.status === 'waiting';
      const sets = request.type === 'setTasks' && executed.changed;
      const kept = sets ? await keptTasks(run, request) : [];
      return {
        ...about(executed),
        ...(kept.length > 0 ? { kept } : {}),
        ...(told === undefined ? {} : { warning: told }),
        ...(ignored ? { ignored } : {}),
      };
    }
    // Whoever only looks does not wait, but learns of a runner that is gone.
    const waitMs = callOptions.waitMs ?? (checked ? defaultWaitMs : 0);
    const { id } = reply.checking;
    const { onProgress } = callOptions;
    const settled = await gates.settle(run, id, { until: clock() + waitMs, onProgress });
    if (settled === 'running') return { run, reply, ...warned };
    return { ...about(await afterGates(run, { id, at: reply.at, settled }, who)), ...warned };
  }

  /** With where a task's files are, or what is still only there. */
  function about(executed: Executed): Answer & { run: string } {
    const { run, due } = executed;
    const reply = toldBy(executed);
    if (isRefused(reply)) return { run, reply };
    const worktree = taskWorktree(project, run, reply.task?.id);
    if (worktree !== undefined) return { run, reply, due, worktree };
    const branches = reply.held ? [] : unmergedBranches(project, run);
    if (branches.length === 0) return { run, reply, due };
    const warning = `work of this run is not in this tree yet; merge ${branches.join(', ')} before you go on`;
    return { run, reply, due, warning };
  }

  /** The tasks of the list that the run has otherwise. */
  async function keptTasks(
    run: string,
    { loop, tasks }: Bare<CommandOf<'setTasks'>>,
  ): Promise<Answer['kept'] & {}> {
    const view = await engine.view(run);
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
  ): Promise<Executed> {
    const status: CommandOf<'status'> = {
      ...caller(who),
      type: 'status',
      at,
      runnerAlive: settled === 'interrupted' ? false : undefined,
    };
    const executed = await engine.execute(run, status, undefined, { ...around(who), check: id });
    await gates.perform(run, executed.effects, executed.changed ? 'asked' : 'found');
    return executed;
  }

  /** The run with what the source of an adopted one says now. */
  async function followed(run: string, who: Who): Promise<Loaded | undefined> {
    const view = await engine.view(run);
    if (!view?.state.adopted || ended(view.state)) return view;
    const adopted = followSource(project, view.state.adopted);
    const { changed } = await engine.execute(run, { ...caller(who), type: 'adopt', run, adopted });
    return changed ? await engine.view(run) : view;
  }

  /** A note that names a file as read says at which content; the key of a slash command says that it was run. */
  async function reading(run: string, request: Request): Promise<Request | Refused> {
    if (request.type !== 'note' || request.kind !== 'reading') return request;
    const { text, key } = request;
    const view = key === undefined ? undefined : await engine.view(run);
    const commands = view ? criticalArtifacts(view.definition).filter(({ command }) => command) : [];
    if (commands.some(({ id }) => id === key)) return request;
    const path = text.trim();
    const file = readCommand(path, project);
    if (file || key !== undefined || /\s/.test(path)) return file ?? request;
    return { code: 'no_file', params: { path: path.slice(0, 120) } };
  }
}

const toldBy = ({ reply, interrupted }: Executed): Answer['reply'] =>
  interrupted && !('code' in reply) ? { ...reply, interrupted: true } : reply;
