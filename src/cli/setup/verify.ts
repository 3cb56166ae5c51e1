import { join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { withWorktree } from '../../evidence/index.ts';
import type { Definition } from '../../machine/index.ts';
import type { RefusalText } from '../../messages/index.ts';
import { count, lasting, printable } from '../../messages/index.ts';
import { findProject } from '../../workspace/index.ts';
import { readInputs } from '../act/inputs.ts';
import { readArgs } from '../args.ts';
import { exit, notFound, usageError } from '../exit.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { failedGateLines, gateText } from '../view/evidence.ts';
import { symbolsFor } from '../view/symbols.ts';
import { type CheckedGates, checkGates } from './committed-gates.ts';
import { badInput, folderIn, isInside, untrusted } from './committed-workflow.ts';
import { verifyRun } from './verify-run.ts';

export const options = {
  ...projectOptions,
  workflow: { type: 'string' },
  trust: { type: 'string', multiple: true },
  input: { type: 'string', short: 'i', multiple: true },
  run: { type: 'string' },
  base: { type: 'string' },
  remote: { type: 'string' },
} as const;

interface Verified extends CheckedGates {
  definition: Definition;
  hash: string;
  commit: string;
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { max: 1 });
  if (positionals.length > 0 && values.workflow !== undefined)
    throw usageError('Give the workflow either as an argument or with --workflow, not both.');
  const workflow = positionals[0] ?? values.workflow;
  if (values.run !== undefined) {
    if (workflow !== undefined) throw usageError('Give a workflow or --run, not both.');
    return await verifyRun(values.run, values, io);
  }
  if (workflow === undefined) throw usageError(`Missing workflow: ${commandName()} verify <name>`);
  const project = findProject(io.cwd, { worktree: values.worktree, repoRoot: values['repo-root'] });
  if (!project.git) throw notFound('Not a git repository: verify checks the current commit.');
  const subdirectory = folderIn(project.worktree);
  const stop = new AbortController();
  // An interrupt must still remove the worktree.
  const stopListening = io.onInterrupt(() => stop.abort());
  try {
    const verified = await withWorktree(
      project.worktree,
      'HEAD',
      async (top, commit): Promise<Verified | RefusalText> => {
        const runtime = openRuntime(
          { ...io, cwd: join(top, subdirectory) },
          {},
          {
            trusted: values.trust ?? [],
          },
        );
        const { definition, hash, from, file } = runtime.resolve(workflow);
        if (from === 'user') throw notFound(`'${workflow}' is a user workflow, not a committed one.`);
        if (from === 'file' && !isInside(top, file))
          throw notFound(`'${workflow}' is outside the repository: verify checks the current commit.`);
        const refused = untrusted(definition, hash, runtime);
        if (refused) return refused;
        const inputs = readInputs(definition, values.input ?? []);
        const bad = badInput(definition, inputs);
        if (bad) return bad;
        const { worktree } = runtime.project;
        const checked = await checkGates({ definition, inputs, worktree, signal: stop.signal }, io);
        return { ...checked, definition, hash, commit };
      },
    );
    return 'code' in verified ? printRefusal(verified, io, values) : print(verified, io, values);
  } finally {
    stopListening();
  }
}

function print(
  { definition, hash, commit, receipts, skipped, unstable }: Verified,
  io: Io,
  values: { json?: boolean | undefined },
): number {
  const red = receipts.filter(({ pass }) => !pass);
  // Without any gate, the result must not be a pass.
  const pass = receipts.length > 0 && red.length === 0 && unstable === undefined;
  const code = pass ? exit.ok : exit.no;
  if (values.json) {
    const document = {
      workflow: definition.name,
      hash,
      commit,
      pass,
      gates: receipts,
      skipped,
      unstable: unstable ?? [],
    };
    return printJson(io, document, code);
  }
  const symbols = symbolsFor(io);
  const line = (...spans: Span[]): void => io.stdout.write(`${renderLine(spans, io.stdout, symbols.more)}\n`);
  line(
    ['bold', printable(definition.name)],
    ['dim', `  commit ${commit.slice(0, 12)}  ${hash.slice(0, 19)}`],
  );
  for (const receipt of receipts) {
    const took = receipt.ms === undefined ? '' : `  ${lasting(receipt.ms)}`;
    if (receipt.pass) line(['green', `${symbols.done} ${gateText(definition, receipt)}`], ['dim', took]);
    else for (const spans of failedGateLines(definition, receipt, symbols)) line(...spans);
  }
  for (const what of skipped) line(['dim', `${symbols.open} ${printable(what)}  skipped: depends on a run`]);
  if (unstable) line(['red', `${symbols.bad} the gates keep changing ${printable(unstable.join(', '))}`]);
  if (receipts.length === 0)
    line([
      'yellow',
      `Nothing was verified: the workflow has no gates${skipped.length > 0 ? ' that work without a run' : ''}.`,
    ]);
  else
    line(
      pass
        ? ['green', `${count(receipts.length, 'gate')} passed on the current commit.`]
        : ['red', `${red.length} of ${count(receipts.length, 'gate')} failed on the current commit.`],
    );
  return code;
}
