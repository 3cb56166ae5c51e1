import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { excludedFrom, WorkflowValidationError } from '../../definition/index.ts';
import { StepfastError } from '../../errors.ts';
import { treeOf, withWorktree } from '../../evidence/index.ts';
import type { Definition, Receipt } from '../../machine/index.ts';
import { count, lasting, printable, type RefusalText } from '../../messages/index.ts';
import {
  createTransfer,
  type IncomingHistory,
  type LocalRuntime,
  lastGreenTree,
  type Remote,
} from '../../runtime/index.ts';
import { findProject, type Project } from '../../workspace/index.ts';
import { readInputs } from '../act/inputs.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, type ProjectValues } from '../run-options.ts';
import { failedGateLines, gateText } from '../view/evidence.ts';
import { symbolsFor } from '../view/symbols.ts';
import { type CheckedGates, checkGates } from './committed-gates.ts';
import { badInput, folderIn, isInside, untrusted } from './committed-workflow.ts';

interface VerifyValues extends ProjectValues {
  base?: string | undefined;
  remote?: string | undefined;
  trust?: string[] | undefined;
  input?: string[] | undefined;
}

/** Where the checkout is not what the run proved. */
type Difference =
  | { where: 'chain'; why: string }
  | { where: 'workflow'; pinned: string; base: string | null; why?: string }
  | { where: 'run'; status: string }
  | { where: 'tree'; proven: string | null; found: string | null }
  | { where: 'gate'; what: string; exit?: number | undefined };

interface Verified {
  answer: 'same' | 'differs';
  run: string;
  remote: string;
  /** Of HEAD, and of the base. */
  commit?: string;
  base?: string;
  workflow?: string;
  /** Batches of the run. */
  batches?: number;
  tree?: string | undefined;
  differences: Difference[];
  gates: Receipt[];
  skipped: string[];
  /** The base's, for the texts of its gates. */
  definition?: Definition;
}

const treeBoundMs = 120_000;

/** Compares the checkout with a run on the remote, and runs the gates of the base branch's workflow on HEAD. */
export async function verifyRun(named: string, values: VerifyValues, io: Io): Promise<number> {
  const project = findProject(io.cwd, { worktree: values.worktree, repoRoot: values['repo-root'] });
  if (!project.git) throw notFound('Not a git repository: verify checks the current commit.');
  const transfer = createTransfer({ project, ids: async () => [], env: io.env, home: io.home });
  const remote = await transfer.remote(values.remote ?? 'origin');
  const run = findRun(named, (await remote.runs()).ids);
  const [incoming] = run === undefined ? [] : await transfer.inspect([run], remote);
  if (!incoming) return printNoRun(named, remote, io, values);
  if (incoming.is === 'bad') {
    if (incoming.error.code !== 'bad_history') throw incoming.error;
    const differences: Difference[] = [{ where: 'chain', why: incoming.error.message }];
    return print(
      { answer: 'differs', run: incoming.run, remote: remote.name, differences, gates: [], skipped: [] },
      io,
      values,
    );
  }
  const stop = new AbortController();
  // An interrupt must still remove the worktrees.
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const verified = await compare(incoming, { project, remote, values, io, signal: stop.signal });
    return 'code' in verified ? printRefusal(verified, io, values) : print(verified, io, values);
  } finally {
    stopListening();
  }
}

function findRun(named: string, ids: readonly string[]): string | undefined {
  const [only, second] = ids.filter((id) => id === named || id.endsWith(`-${named}`));
  if (second === undefined) return only;
  throw usageError(`'${named}' is ambiguous: ${only} or ${second}. Use the full id.`);
}

interface Context {
  project: Project;
  remote: Remote;
  values: VerifyValues;
  io: Io;
  signal: AbortSignal;
}

async function compare({ theirs }: IncomingHistory, context: Context): Promise<Verified | RefusalText> {
  const { project, remote, values, io, signal } = context;
  const { pinned, state, lines, run } = theirs;
  const base = await remote.commitOf(values.base);
  const found = await baseWorkflow(pinned.definition.name, base, context);
  const workflow = 'why' in found ? undefined : found;
  const inputs = workflow
    ? { ...state.inputs, ...readInputs(workflow.definition, values.input ?? []) }
    : state.inputs;
  const refused =
    workflow &&
    (untrusted(workflow.definition, workflow.hash, workflow.runtime) ??
      badInput(workflow.definition, inputs));
  if (refused) return refused;

  const folder = folderIn(project.worktree);
  const exclude = excludedFrom(pinned.definition);
  const treeIn = async (top: string): Promise<string | undefined> =>
    (await treeOf({ worktree: join(top, folder), exclude, boundMs: treeBoundMs })).hash;
  const head = await withWorktree(project.worktree, 'HEAD', async (top, commit) => {
    const tree = await treeIn(top);
    const worktree = join(top, folder);
    const checked: CheckedGates = workflow
      ? await checkGates({ definition: workflow.definition, inputs, worktree, signal }, io)
      : { receipts: [], skipped: [] };
    return { commit, tree, ...checked };
  });
  const proven = lastGreenTree(lines);
  const tree = head.tree === proven ? proven : ((await mergedTree(project.worktree, treeIn)) ?? head.tree);
  const { receipts, skipped, unstable = [] } = head;
  const differences: Difference[] = [
    ...(workflow?.hash === pinned.hash
      ? []
      : [
          {
            where: 'workflow' as const,
            pinned: pinned.hash,
            base: workflow?.hash ?? null,
            ...('why' in found ? found : {}),
          },
        ]),
    ...(state.status === 'complete' ? [] : [{ where: 'run' as const, status: state.status }]),
    ...(proven !== undefined && tree === proven
      ? []
      : [{ where: 'tree' as const, proven: proven ?? null, found: tree ?? null }]),
    ...receipts.flatMap(({ pass, what, exit: code }): Difference[] =>
      pass ? [] : [{ where: 'gate', what, exit: code }],
    ),
    ...unstable.map((path): Difference => ({ where: 'gate', what: `the gates keep changing ${path}` })),
    // Without any gate, the result must not be a pass.
    ...(receipts.length === 0 ? [{ where: 'gate' as const, what: 'no gate could run' }] : []),
  ];
  return {
    answer: differences.length === 0 ? 'same' : 'differs',
    run,
    remote: remote.name,
    commit: head.commit,
    base,
    workflow: pinned.definition.name,
    batches: lines.length,
    tree: proven,
    differences,
    gates: receipts,
    skipped,
    ...(workflow ? { definition: workflow.definition } : {}),
  };
}

/** The tree of the branch that HEAD merges: changes of the base are in HEAD too. Undefined where HEAD is no merge. */
async function mergedTree(
  repository: string,
  treeIn: (top: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await withWorktree(repository, 'HEAD^2', treeIn);
  } catch (error) {
    // Also in a shallow clone that has the merge alone.
    if (error instanceof StepfastError && error.code === 'bad_commit') return undefined;
    throw error;
  }
}

type BaseWorkflow = { definition: Definition; hash: string; runtime: LocalRuntime } | { why: string };

/** The workflow as the base branch has it: what a person reviewed and merged. */
function baseWorkflow(name: string, base: string, { project, values, io }: Context): Promise<BaseWorkflow> {
  return withWorktree(project.worktree, base, async (top): Promise<BaseWorkflow> => {
    const cwd = join(top, folderIn(project.worktree));
    if (!existsSync(cwd)) return { why: 'the base has no such project' };
    try {
      const runtime = openRuntime({ ...io, cwd }, {}, { trusted: values.trust ?? [] });
      const { definition, hash, from, file } = runtime.resolve(name);
      if (from === 'user' || (from === 'file' && !isInside(top, file)))
        return { why: `the base has no workflow '${name}'` };
      return { definition, hash, runtime };
    } catch (error) {
      if (error instanceof WorkflowValidationError) return { why: `'${name}' is not valid on the base` };
      if (error instanceof StepfastError && error.code === 'no_workflow')
        return { why: `the base has no workflow '${name}'` };
      throw error;
    }
  });
}

function printNoRun(named: string, { name }: Remote, io: Io, values: VerifyValues): number {
  const message = `The remote '${name}' has no run '${printable(named)}'.`;
  const next = `push it from where it is: ${commandName()} push`;
  if (values.json)
    return printJson(io, { answer: 'no_run', run: named, remote: name, message, next }, exit.notFound);
  printRefusal({ code: 'no_run', message, next }, io, {});
  return exit.notFound;
}

const proves = 'integrity';

function print(
  { definition, ...verified }: Verified,
  io: Io,
  values: { json?: boolean | undefined },
): number {
  const { answer, run, commit, base, batches, differences, gates, skipped, tree } = verified;
  const code = answer === 'same' ? exit.ok : exit.differs;
  if (values.json) return printJson(io, { ...verified, proves }, code);
  const symbols = symbolsFor(io);
  const line = (...spans: Span[]): void => io.stdout.write(`${renderLine(spans, io.stdout, symbols.more)}\n`);
  const good = (text: string): void => line(['green', `${symbols.done} ${text}`]);
  const at = commit === undefined ? '' : `  commit ${commit.slice(0, 12)}  base ${base?.slice(0, 12)}`;
  line(['bold', run], ['dim', at]);
  const differs = (where: Difference['where']): boolean => differences.some((each) => each.where === where);
  if (batches !== undefined) good(`history of ${count(batches, 'batch', 'batches')} is intact`);
  if (!differs('chain') && !differs('workflow')) good('workflow is the one of the base branch');
  if (!differs('chain') && !differs('tree'))
    good(`tree is the one of its last green gates, ${tree?.slice(0, 16)}`);
  for (const difference of differences)
    if (difference.where !== 'gate') line(['red', `${symbols.bad} ${differenceText(difference)}`]);
  for (const receipt of definition ? gates : []) {
    const took = receipt.ms === undefined ? '' : `  ${lasting(receipt.ms)}`;
    if (receipt.pass && definition)
      line(['green', `${symbols.done} ${gateText(definition, receipt)}`], ['dim', took]);
    else if (definition) for (const spans of failedGateLines(definition, receipt, symbols)) line(...spans);
  }
  const shown = new Set(gates.map(({ what }) => what));
  for (const each of differences)
    if (each.where === 'gate' && !shown.has(each.what))
      line(['red', `${symbols.bad} ${printable(each.what)}`]);
  for (const what of skipped) line(['dim', `${symbols.open} ${printable(what)}  skipped: depends on a run`]);
  line(
    answer === 'same'
      ? ['green', 'Same: the checkout is what the run proved.']
      : ['red', `Differs: ${[...new Set(differences.map(({ where }) => where))].join(', ')}.`],
  );
  line(['dim', 'This proves integrity, not who wrote the run.']);
  return code;
}

function differenceText(difference: Exclude<Difference, { where: 'gate' }>): string {
  switch (difference.where) {
    case 'chain':
      return printable(difference.why);
    case 'workflow':
      return `workflow: ${printable(difference.why ?? 'the base branch has another version')}`;
    case 'run':
      return `the run is not complete: ${difference.status}`;
    case 'tree':
      return difference.proven === null
        ? 'tree: no gate of the run passed on a known tree'
        : `tree: the last green gates were on ${difference.proven.slice(0, 16)}, this is ${difference.found?.slice(0, 16) ?? 'not known'}; a shallow clone of a merge needs its parents too`;
  }
}
