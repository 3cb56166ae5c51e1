import { ended, type Merge, queuedMerges } from '../machine/index.ts';
import {
  conflictText,
  holdReasonText,
  leftoversHeldText,
  redMergeText,
  unmergeableText,
} from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';
import {
  advanceBranch,
  checkOutInQueue,
  headOfBranch,
  isContained,
  isMerged,
  type MergeCheck,
  mergeTask,
  removeMergeWorktree,
  removeTaskWorktree,
  returnToTask,
  treeOfCommit,
} from '../workspace/index.ts';
import { commitWork } from './commit-work.ts';
import { delay, engine, load, type QueueContext } from './worker-context.ts';

/** Merges the branches of finished tasks into the branch of the run, one at a time, each checked on the merged tree. */
export interface MergeQueue {
  /** Merges until the queue is empty or a person must act. */
  round(): Promise<void>;
  /** Nothing can be merged before a person has acted; it looks again after a while. */
  readonly isWaiting: boolean;
}

type Held = NonNullable<Loaded['state']['held']>;

/** How often a branch may move while its merge is checked, before the task waits for its next turn. */
const maxMoves = 5;

interface QueueOptions {
  /** A person says that what was taken off the branch is no longer wanted there. */
  accepts?: boolean;
  /** Resolves when no session works in the worktree of the task any more. */
  left?(task: string): Promise<void>;
}

/** Removes worktrees of merged tasks, which a driver that was killed may have left; that of the queue when the run is over. */
export async function removeMerged(context: QueueContext): Promise<void> {
  const { run, runtime } = context;
  const { project, workspace } = runtime;
  const { state } = await load(context);
  const { branch } = state;
  if (branch === undefined) return;
  for (const { byId } of Object.values(state.tasks))
    for (const { id, end } of Object.values(byId))
      if (end === 'done' && workspace.taskWorktree(run, id) !== undefined)
        await removeTaskWorktree(project, run, id, branch);
  if (ended(state)) await removeMergeWorktree(project, run);
}

export function createMergeQueue(
  context: QueueContext,
  epoch: number,
  { accepts = false, left = async () => {} }: QueueOptions = {},
): MergeQueue {
  const { runtime, run, report, signal, timing } = context;
  const { project, workspace } = runtime;
  /** Green and red results by tree: only for an equal whole tree. */
  const checked = new Map<string, MergeCheck>();
  /** The last commit that this queue has put on the branch. */
  let last: string | undefined;
  let isWaiting = false;
  return {
    round,
    get isWaiting() {
      return isWaiting;
    },
  };

  async function round(): Promise<void> {
    while (!signal.aborted) {
      const view = await load(context);
      const { branch } = view.state;
      const [next] = queuedMerges(view.state);
      if (!next || branch === undefined) return;
      const [task, merge] = next;
      const held = await mergeOne(view, branch, task, merge);
      if (signal.aborted) return;
      if (held) {
        await hold(held);
        report({ type: 'merge', task, state: 'held', detail: held.reason });
        isWaiting = true;
        await delay(timing.heldMs, signal);
        isWaiting = false;
        return;
      }
      if (view.state.held) await hold(undefined);
    }
  }

  async function hold(held: Omit<Held, 'since'> | undefined): Promise<void> {
    await runtime.call({ type: 'holdQueue', epoch, ...held }, engine, { run });
  }

  /** Returns why nothing can be merged; undefined once the task is merged, or back with an agent. */
  async function mergeOne(
    view: Loaded,
    branch: string,
    task: string,
    merge: Merge,
  ): Promise<Omit<Held, 'since'> | undefined> {
    const { commit } = merge;
    await left(task);
    // A driver that was killed may have merged it without saying so.
    if (merge.state === 'merging' && commit !== undefined && (await isMerged(project, commit, branch)))
      return await merged(task, branch, commit);
    const worktree = workspace.taskWorktree(run, task);
    const problem =
      worktree === undefined ? undefined : await commitWork(context, { worktree, worker: task, task });
    if (problem !== undefined) return await giveBack(task, branch, 'conflict', unmergeableText(problem));
    report({ type: 'merge', task, state: 'merging' });
    for (let moves = 0; moves < maxMoves; moves += 1) {
      const base = await headOfBranch(project, branch);
      if (await isRewound(base))
        return { why: 'rewound', reason: holdReasonText.rewound(branch), head: base };
      const result = await mergeTask({ project, run, task, branch, base });
      if ('nothing' in result) return await merged(task, branch, base);
      if ('elsewhere' in result)
        return await giveBack(
          task,
          branch,
          'conflict',
          unmergeableText('commits are not on the branch of the task'),
        );
      if ('submodules' in result)
        return await giveBack(
          task,
          branch,
          'conflict',
          unmergeableText('a commit of a submodule was never pushed'),
        );
      if ('conflict' in result)
        return await giveBack(task, branch, 'conflict', conflictText(branch, result.conflict), {
          files: result.conflict,
        });
      await tell(task, base, result.commit);
      const check = await checkOnce(view, result.path, result.commit, task);
      if (signal.aborted) return undefined;
      const stopped = await judge(view, branch, task, result, check);
      if (stopped !== 'green') return stopped;
      const advanced = await advanceBranch({ project, branch, base, commit: result.commit });
      if (advanced === 'advanced') return await merged(task, branch, result.commit, check);
      if ('dirty' in advanced) return { why: 'dirty', reason: holdReasonText.dirty(branch, advanced.dirty) };
      if ('rewound' in advanced)
        return { why: 'rewound', reason: holdReasonText.rewound(branch), head: advanced.rewound };
    }
    return undefined;
  }

  /** A person took merged work off the branch: it is not in the commit on which the next merge would be based. */
  async function isRewound(base: string): Promise<boolean> {
    last ??= (await runtime.engine.entries(run))
      .flatMap(({ events }) => events)
      .findLast((event) => event.type === 'merge.finished')?.commit;
    return !accepts && last !== undefined && last !== '' && !(await isContained(project, last, base));
  }

  /** Anything but green: the base decides whose fault it is. */
  async function judge(
    view: Loaded,
    branch: string,
    task: string,
    { base, path }: { base: string; path: string },
    check: MergeCheck,
  ): Promise<Omit<Held, 'since'> | 'green' | undefined> {
    if (check.problem !== undefined) return { why: 'setup', reason: holdReasonText.setup(check.problem) };
    const red = redIn(check);
    if (red === undefined && check.unstable.length === 0) return 'green';
    if (red === undefined) return { why: 'unstable', reason: holdReasonText.unstable(check.unstable) };
    await checkOutInQueue(project, path, base);
    const before = await checkOnce(view, path, base, undefined);
    const redBefore = redIn(before);
    if (redBefore !== undefined)
      return { why: 'base_red', reason: holdReasonText.base_red(branch, redBefore), head: base };
    return await giveBack(task, branch, 'red', redMergeText(branch, red), check);
  }

  async function checkOnce(
    view: Loaded,
    path: string,
    commit: string,
    task: string | undefined,
  ): Promise<MergeCheck> {
    const key = `${await treeOfCommit(project, commit)} ${task ?? ''}`;
    const known = checked.get(key);
    if (known) return known;
    const check = await workspace.checkMerge(view, {
      path,
      commit,
      signal,
      ...(task === undefined ? {} : { task }),
    });
    if (check.problem === undefined && !signal.aborted) checked.set(key, check);
    return check;
  }

  async function tell(task: string, base: string, commit: string): Promise<void> {
    await runtime.call({ type: 'mergeStarted', epoch, task, base, commit }, engine, { run });
  }

  async function merged(
    task: string,
    branch: string,
    commit: string,
    check?: MergeCheck,
  ): Promise<undefined> {
    last = commit;
    await tell(task, commit, commit);
    await finish({ task, result: 'merged', commit, ...check });
    report({ type: 'merge', task, state: 'merged' });
    await removeTaskWorktree(project, run, task, branch);
  }

  /** The task goes back to an agent, with the branch of the run merged into its worktree. */
  async function giveBack(
    task: string,
    branch: string,
    result: 'conflict' | 'red',
    reason: string,
    more: { files?: string[]; receipts?: MergeCheck['receipts']; gates?: string[] } = {},
  ): Promise<undefined> {
    const returned = await returnToTask({ project, run, task, branch });
    const held = 'held' in returned ? leftoversHeldText(returned.held, returned.files) : undefined;
    const { files, receipts, gates } = more;
    await finish({
      task,
      result,
      reason: held === undefined ? reason : `${reason} (${held})`,
      ...(files ? { files } : {}),
      ...(receipts ? { receipts } : {}),
      ...(gates ? { gates } : {}),
    });
    report({ type: 'merge', task, state: result, detail: reason });
  }

  async function finish({
    task,
    result,
    commit,
    reason,
    files,
    receipts,
    gates,
    tree,
  }: {
    task: string;
    result: 'merged' | 'conflict' | 'red';
    commit?: string;
    reason?: string;
    files?: string[];
    receipts?: MergeCheck['receipts'];
    gates?: string[];
    tree?: string;
  }): Promise<void> {
    await runtime.engine.execute(run, {
      type: 'mergeFinished',
      now: context.clock(),
      ...engine,
      ...{ epoch, task, result, commit, reason, files, receipts, gates, tree },
    });
  }
}

const redIn = ({ receipts, gates }: MergeCheck): string | undefined => {
  const red = receipts.find(({ pass }) => !pass);
  return red && (gates[red.gate] ?? '');
};
