import { commandName } from '../../command-name.ts';
import type { State } from '../../machine/index.ts';
import { printable, type RefusalText } from '../../messages/index.ts';
import {
  compileReport,
  createTransfer,
  type LocalRuntime,
  openPullRequest,
  type PullRequestOutcome,
  type PullRequestPlan,
  preparePullRequest,
  type Remote,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { isPerson } from '../caller.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit, notFound } from '../exit.ts';
import type { Io } from '../io.ts';
import { lastRun } from '../look/log.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { runNamed } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { onServer } from './on-server.ts';
import { refusalFor, showOutgoing } from './push.ts';
import { runArguments } from './show-fork.ts';

export const options = {
  ...runOptions,
  base: { type: 'string' },
  title: { type: 'string' },
  remote: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  'with-secrets': { type: 'boolean' },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  const named = runNamed(positionals, values);
  const runtime = openRuntime(io, values);
  const { project, engine } = runtime;
  const found = await lastRun(runtime, named);
  if ('code' in found) return printRefusal(found, io, { ...values, run: named });
  const served = onServer(runtime, found.run, 'pushed to a git remote');
  if (served) return printRefusal(served, io, values);
  const view = await engine.view(found.run);
  if (!view) throw notFound(`Run '${found.run}' not found.`);
  const transfer = createTransfer({ project, ids: engine.ids, env: io.env, home: io.home });
  const remote = await transfer.remote(values.remote ?? 'origin');
  const report = compileReport(view, await engine.entries(found.run));
  const worktree = values.worktree === undefined ? worktreeOf(runtime, view.state) : project.worktree;
  const { base, title } = values;
  const plan = await preparePullRequest({ transfer, remote, report, worktree, base, title });
  const refused =
    typeof plan === 'string'
      ? branchRefusal(plan, worktree)
      : plan.outgoing.is === 'equal'
        ? undefined
        : refusalFor(plan.outgoing, remote, values['with-secrets'] ?? false);
  if (typeof plan === 'string' || refused)
    return printRefusal(refused ?? branchRefusal('no_branch', worktree), io, values);
  if (!values.json || !values.yes) await show(plan, remote, runtime, io);
  if (!values.yes) {
    const message = `the branch '${plan.branch}' and ${found.run} would be pushed to ${remote.pushUrl}`;
    const next = 'confirm with --yes; a run contains what agents and people wrote';
    if (!isPerson(io)) return printRefusal({ code: 'not_confirmed', message, next }, io, values);
    if (!(await confirm(io, 'Push and open the pull request?'))) return printDeclined(io, values);
  }
  const outcome = await openPullRequest(plan, { transfer, remote, env: io.env });
  return print(outcome, plan, remote, io, values);
}

/** Where the run was worked on last. */
function worktreeOf({ workspace, project }: LocalRuntime, state: State): string {
  const [last] = Object.entries(state.sessions).sort(([, one], [, other]) => other.startedAt - one.startedAt);
  return workspace.gates.worktreeOf(state, last?.[0]) ?? project.worktree;
}

const branchRefusal = (why: 'no_branch' | 'on_base', worktree: string): RefusalText =>
  why === 'no_branch'
    ? {
        code: why,
        message: `${worktree} is on no branch, and a pull request needs one`,
        next: 'create one with: git switch -c <branch>',
      }
    : {
        code: why,
        message: `${worktree} is on the branch that it would be merged into`,
        next: 'move the work to a branch with: git switch -c <branch>; or name another --base',
      };

async function show(plan: PullRequestPlan, remote: Remote, runtime: LocalRuntime, io: Io): Promise<void> {
  const into = plan.base === undefined ? '' : ` into ${plan.base}`;
  io.stderr.write(
    `${paint(io.stderr, 'bold', printable(plan.title))}  ${printable(`${plan.branch}${into}, ${remote.pushUrl}`)}\n`,
  );
  if (plan.outgoing.is !== 'equal') await showOutgoing(plan.outgoing, remote, runtime, io);
}

function print(
  outcome: PullRequestOutcome,
  { branch, base, outgoing: { run: id } }: PullRequestPlan,
  remote: Remote,
  io: Io,
  values: { json?: boolean | undefined },
): number {
  if (outcome.is === 'moved') {
    const message = `'${remote.name}' changed during the push of ${id}. The branch was pushed, the run was not`;
    const next = `${commandName()} pull ${runArguments(id, remote.name)}`;
    return printRefusal({ code: 'moved', message, next }, io, values);
  }
  const failed = outcome.is === 'pushed' && outcome.why !== undefined;
  const code = failed ? exit.no : exit.ok;
  if (values.json) {
    const { is, ...more } = outcome;
    return printJson(io, { run: id, remote: remote.name, branch, base, did: is, ...more }, code);
  }
  const done = paint(io.stdout, 'green', symbolsFor(io).done);
  if (outcome.is === 'opened') {
    io.stdout.write(`${done} ${printable(outcome.url)}\n`);
    return code;
  }
  io.stdout.write(`${done} ${printable(branch)} and ${id} pushed to ${remote.name}\n`);
  if (outcome.why !== undefined)
    io.stderr.write(`gh did not open the pull request: ${printable(outcome.why)}\n`);
  io.stdout.write(`To open the pull request:\n  ${printable(outcome.command)}\n`);
  return code;
}
