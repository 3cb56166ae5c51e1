import { join } from 'node:path';
import { commandsOf, excludedFrom } from '../../definition/index.ts';
import { runGates } from '../../evidence/index.ts';
import { type Gate, type GateResult, gateText, stepOf, subStepsOf } from '../../machine/index.ts';
import type { Loaded } from '../../store/index.ts';
import { drivenVariable, driverMark } from '../leftover-processes.ts';
import { changedAfterGates } from '../worktrees/changes.ts';
import type { GateOptions } from './gate-options.ts';
import { logsDirectory } from './gate-supervisor.ts';
import { commandVariables } from './gate-variables.ts';
import { setUpWorktree } from './set-up-worktree.ts';

export interface MergeCheck {
  receipts: GateResult[];
  /** What each receipt is of. */
  gates: string[];
  tree?: string;
  /** Files that the gates changed and do not declare. */
  unstable: string[];
  /** Why the worktree could not be set up; then no gate has run. */
  problem?: string;
}

export interface MergeToCheck {
  /** The worktree of the queue, in which the commit is checked out. */
  path: string;
  commit: string;
  /** Absent: gates that are about one task do not run, because the tree is that of no task. */
  task?: string;
  signal: AbortSignal;
}

/** The gates that say whether a merged tree of the current loop is right: those of the last sub-step, and `merge_gate`. */
function mergeGatesOf({ definition, state }: Loaded, task: string | undefined): Gate[] {
  const step = stepOf(definition, state.step);
  const last = subStepsOf(definition, step).at(-1);
  const holds = ({ run, exists, expect }: Gate): boolean =>
    (run !== undefined || exists !== undefined) && expect === undefined && !(exists ?? '').includes('{');
  const isOfTask = ({ run = '' }: Gate): boolean => run.includes('STEPFAST_TASK');
  const all = [...(last?.gate ?? []), ...(step.merge_gate ?? [])]
    .filter(holds)
    .filter((gate) => task !== undefined || !isOfTask(gate));
  return [...new Map(all.map((gate) => [JSON.stringify(gate), gate])).values()];
}

/** Checks a commit in the worktree of the queue. */
export async function runMergeGates(
  options: GateOptions,
  view: Loaded,
  { path, commit, task, signal }: MergeToCheck,
): Promise<MergeCheck> {
  const { definition, state } = view;
  const { project, env, cacheDirectory } = options;
  const logs = join(logsDirectory(project, view.run), 'merge');
  const gates = mergeGatesOf(view, task);
  const named = gates.map(gateText);
  if (gates.length > 0 && !options.trust.has(definition))
    return { receipts: [], gates: named, unstable: [], problem: `'${definition.name}' is not trusted` };
  const trusted = commandsOf(definition);
  const stranger = gates.find(({ run }) => run !== undefined && !trusted.includes(run));
  const problem = stranger
    ? `'${stranger.run}' is no command of '${definition.name}'`
    : await setUpWorktree({ definition, state, path }, options, { logs, signal, mark: driverMark(view.run) });
  if (problem !== undefined) return { receipts: [], gates: named, unstable: [], problem };
  const { receipts, tree } = await runGates({
    gates: gates.map((gate) => ({ gate, role: 'gate', from: state.step })),
    worktree: path,
    root: project.root,
    env: { ...commandVariables(env, state, task), [drivenVariable]: driverMark(view.run) },
    exclude: excludedFrom(definition),
    logDirectory: join(logs, commit.slice(0, 12)),
    cacheDirectory,
    condition: () => ({ pass: false }),
    isRead: () => 'unread',
    signal,
  });
  const writes = gates.flatMap(({ writes = [] }) => writes);
  return {
    receipts,
    gates: named,
    ...(tree === undefined ? {} : { tree }),
    unstable: await changedAfterGates(path, commit, [...writes, ...excludedFrom(definition)]),
  };
}
