import { commandName } from '../../command-name.ts';
import { defaultTiming, drive, type Outcome, type Progress } from '../../driver/index.ts';
import { newRun } from '../../engine/index.ts';
import { StepfastError } from '../../errors.ts';
import { hostNamed, hosts } from '../../hosts/index.ts';
import { type Definition, ended, liveDriver, type State } from '../../machine/index.ts';
import { listedFiles, printable, unreportedBudgetText } from '../../messages/index.ts';
import { type Host, type HostDriver, isRefused, type LocalRuntime } from '../../runtime/index.ts';
import {
  createRunWorktree,
  runBranch,
  runWorktree,
  stateDirectory,
  uncommittedIn,
} from '../../workspace/index.ts';
import { readInputs } from '../act/inputs.ts';
import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { suffixOf } from '../run-name.ts';
import { openRuntime, runOptions } from '../run-options.ts';
import { stage } from '../setup/copy-plugin.ts';
import { createRunScreen, printHead } from './run-screen.ts';

export const options = {
  ...runOptions,
  summary: { type: 'string', short: 's' },
  input: { type: 'string', short: 'i', multiple: true },
  host: { type: 'string' },
  here: { type: 'boolean' },
  'no-wait': { type: 'boolean' },
  pr: { type: 'boolean' },
} as const;

interface Prepared {
  runtime: LocalRuntime;
  run: string;
  branch: string | undefined;
}

/** Drives a run to its end, in a worktree of its own. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1, what: 'workflow' });
  const [workflow] = positionals;
  if ((workflow === undefined) === (values.run === undefined))
    throw usageError('Name a workflow to start, or a run to continue with --run.');
  const { host, hostDriver } = await findHost(values.host, io);
  const here = openRuntime(io, values);
  const prepared =
    values.run === undefined
      ? await begin(here, workflow ?? '', io, values)
      : await resume(here, values.run, io, values);
  if ('code' in prepared) return printRefusal(prepared, io, values);
  const { runtime, run: id, branch } = prepared;
  const view = await runtime.engine.view(id);
  if (view) requireReported(view.definition, hostDriver, host);
  const stop = new AbortController();
  const shown = values.json ? { ...io, stdout: silent(io) } : io;
  const isFirst = (await here.engine.runs({ ended: true })).length <= 1;
  if (view) printHead(view, { branch, worktree: runtime.project.worktree, isFirst }, shown);
  const screen = createRunScreen(runtime, id, shown);
  const release = io.onInterrupt(() => {
    if (stop.signal.aborted) process.exit(130);
    screen.note('Stopping after the sessions have ended. Ctrl-C again ends at once.');
    stop.abort();
  });
  const terminate = (): void => stop.abort();
  process.once('SIGTERM', terminate);
  let outcome: Outcome;
  try {
    const setup = view?.definition.worktree?.setup;
    if (setup !== undefined) screen.note(`Setting up the worktree: ${setup}`);
    outcome = await drive({
      ...{ runtime, host, hostDriver, run: id, branch },
      env: io.env,
      command: [process.execPath, io.main],
      plugin: stage(stateDirectory(io)).plugin,
      // In the person's own checkout, what is uncommitted may be theirs.
      commits: branch === runBranch(id),
      clock: io.now,
      timing: timingFrom(io.env),
      signal: stop.signal,
      stays: values['no-wait'] !== true,
      report: (progress: Progress) => screen.show(progress),
    });
  } finally {
    release();
    process.off('SIGTERM', terminate);
    await screen.end();
  }
  return await finish(outcome, prepared, io, values);
}

const silent = ({ stdout }: Io): Io['stdout'] => ({ ...stdout, write: () => {} });

/** Shorter clocks, for tests of a driver. */
const timingFrom = ({ STEPFAST_DRIVER_TIMING: given }: Io['env']) => ({
  ...defaultTiming,
  ...(given === undefined ? {} : (JSON.parse(given) as Partial<typeof defaultTiming>)),
});

async function findHost(name: string | undefined, io: Io): Promise<{ host: Host; hostDriver: HostDriver }> {
  const drivable = hosts.filter(({ driver }) => driver);
  const host = name === undefined ? drivable[0] : hostNamed(name);
  const hostDriver = await host?.driver?.();
  if (!host || !hostDriver)
    throw usageError(`--host takes one of: ${drivable.map((each) => each.name).join(', ')}.`);
  if (await hostDriver.find(io.env, io.cwd)) return { host, hostDriver };
  throw new StepfastError('host_missing', `'${host.name}' is not installed, or not on the PATH.`);
}

/** A budget that is never counted would never stop anything. */
function requireReported({ budget, steps }: Definition, { reports }: HostDriver, { name }: Host): void {
  const units = [budget, ...steps.map((step) => step.budget)].flatMap((each) => Object.keys(each ?? {}));
  const unknown = units.find((unit) => unit !== 'on_pivot' && !(reports as readonly string[]).includes(unit));
  if (unknown !== undefined) throw new StepfastError('bad_config', unreportedBudgetText(name, unknown));
}

type Values = ReturnType<typeof readArgs<typeof options>>['values'];

/** Starts a run, or continues the one that was begun with the same arguments and has no driver. */
async function begin(here: LocalRuntime, workflow: string, io: Io, values: Values) {
  const { definition } = here.resolve(workflow);
  const inputs = readInputs(definition, values.input ?? []);
  const same = (await here.runs()).find(
    ({ state }) => state && isSame(state, definition, values.summary, inputs) && !liveDriver(state, io.now()),
  );
  if (same) {
    io.stderr.write(`Continuing ${same.run}, which was begun with the same arguments.\n`);
    return await resume(here, same.run, io, values);
  }
  const id = newRun(definition.name, io.now());
  const tree = values.here ? undefined : await separateTree(here, id, io);
  const runtime = tree ? openRuntime(io, { ...values, worktree: tree.path }) : here;
  const answer = await runtime.start(
    { workflow, summary: values.summary, inputs, id, resume: false },
    { actor: { kind: 'engine' } },
  );
  if (isRefused(answer.reply)) return answer.reply;
  return { runtime, run: answer.run ?? id, branch: tree?.branch ?? (await currentBranch(runtime)) };
}

const isSame = (
  state: State,
  { name }: Definition,
  summary: string | undefined,
  inputs: Readonly<Record<string, unknown>> = {},
): boolean =>
  !ended(state) &&
  state.driver !== undefined &&
  state.workflow === name &&
  state.summary === summary &&
  Object.entries(inputs).every(([key, value]) => state.inputs[key] === value);

/** Uncommitted work in the checkout is not part of the run, and the person should know. */
async function separateTree(
  here: LocalRuntime,
  id: string,
  io: Io,
): Promise<{ path: string; branch: string }> {
  if (!here.project.git)
    throw new StepfastError(
      'no_worktree',
      'A run needs git for a worktree of its own. Use --here without git.',
    );
  const left = await uncommittedIn(here.project.worktree);
  if (left.length > 0)
    io.stderr.write(
      `${paint(io.stderr, 'yellow', 'note')}  Uncommitted changes are not part of this run: ${listedFiles(left)}\n`,
    );
  return await createRunWorktree(here.project, { run: id });
}

/** An existing run goes on where it is: in its own worktree, or in this one. */
async function resume(here: LocalRuntime, name: string, io: Io, values: Values) {
  const found = await here.loadRun({ run: name });
  if ('code' in found) return found;
  const { run: id, state } = found;
  const own = runWorktree(here.project, id);
  const isSeparate = own !== undefined || (state.branch === runBranch(id) && !values.here);
  if (!isSeparate) return { runtime: here, run: id, branch: state.branch ?? (await currentBranch(here)) };
  const tree = await createRunWorktree(here.project, { run: id });
  return { runtime: openRuntime(io, { ...values, worktree: tree.path }), run: id, branch: tree.branch };
}

async function currentBranch({ workspace, project }: LocalRuntime): Promise<string | undefined> {
  if (!project.git) return undefined;
  const name = await workspace.git(['symbolic-ref', '-q', '--short', 'HEAD'], project.worktree);
  return name?.trim() || undefined;
}

async function finish(outcome: Outcome, { runtime, run: id, branch }: Prepared, io: Io, values: Values) {
  if (outcome.end === 'refused') return printRefusal(outcome.refused, io, values);
  const { left } = outcome;
  const code = {
    complete: left === undefined ? exit.ok : exit.pending,
    failed: exit.no,
    cancelled: exit.no,
    paused: exit.pending,
    waits: exit.pending,
    stopped: exit.pending,
  }[outcome.end];
  const { worktree } = runtime.project;
  if (values.json) return printJson(io, { run: id, end: outcome.end, branch, worktree, left }, code);
  const name = suffixOf(id);
  const lines = {
    complete: `Complete. The work is on ${branch ?? 'this branch'}.`,
    failed: `The run failed. What it did is on ${branch ?? 'this branch'}.`,
    cancelled: 'The run was cancelled.',
    paused: `Paused. Continue with: ${commandName()} unpause ${name} && ${commandName()} run --run ${name}`,
    waits: `Waiting for you. See: ${commandName()} status ${name}`,
    stopped: `Stopped. Nothing is lost; continue with: ${commandName()} run --run ${name}`,
  };
  io.stdout.write(`\n${lines[outcome.end]}\n`);
  if (left !== undefined)
    io.stdout.write(
      `${paint(io.stdout, 'yellow', 'note')}  Not on the branch, but in ${worktree}: ${printable(left)}\n`,
    );
  if (outcome.end !== 'complete') return code;
  if (!values.pr) {
    io.stdout.write(`What is proven: ${commandName()} report ${name}\n`);
    if (values.here !== true) io.stdout.write(`A pull request: ${commandName()} pr ${name}\n`);
    return code;
  }
  // The person asked for it with the command; secrets are still held back.
  const pullRequest = await import('../move/pr.ts');
  return await pullRequest.run([id, '--worktree', worktree, '--yes'], io);
}
