import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Gate,
  type GateResult,
  gateText,
  outputProblem,
  quotedText,
  type RequestedGate,
  receiptValidity,
} from '../machine/index.ts';
import { checkExists, checkRead, type FileCheck, type ReadState } from './check-files.ts';
import { commandEnvironment, type Environment } from './environment.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { truncateToTail } from './tail-text.ts';
import { createTreeWatch, type Tree, type TreeWatch } from './tree-hash.ts';

export interface GatesRequest {
  gates: readonly RequestedGate[];
  worktree: string;
  /** The project root: absolute paths below it are mapped to the worktree. */
  root?: string;
  /** Includes the run's values; agent variables and git redirects are removed. */
  env: Environment;
  logDirectory: string;
  /** Files that no tree hash covers, in addition to the `writes` of the gates. */
  exclude?: readonly string[];
  condition: (expression: string) => FileCheck | Promise<FileCheck>;
  isRead: (path: string) => ReadState | Promise<ReadState>;
  /** Earlier passes that can be reused for the same check on the same tree. */
  passed?: readonly GatePass[];
  /** Whether a red list also runs once more if files changed meanwhile: the agent may have gone on working. */
  redAgain?: boolean;
  signal?: AbortSignal;
  treeBoundMs?: number;
  cacheDirectory?: string;
  /** Of a run step: what its output must be. */
  format?: Parameters<typeof outputProblem>[0];
}

/** What was run and what was expected of it: a command that failed as expected has not passed, and the reverse. */
export interface GatePass extends Pick<Gate, 'expect' | 'contains'> {
  run: string;
  tree?: string;
}

export interface GatesOutcome {
  receipts: GateResult[];
  /** Of a run step that passed. */
  output?: string;
  /** The hash of the whole tree when the gates ended. */
  tree?: string;
  /** Files that the gates changed in both runs. */
  unstable?: string[];
}

const defaultSeconds = 600;
const tailBytes = 4096;
const maxNamed = 50;

/**
 * Runs the gates in order. A red command ends the list, because no later result can count; a red `until` does not. A
 * list during which files changed runs once more, because its result is about no tree; a red one only with `redAgain`. If
 * the signal is aborted, the running command is killed and the remaining gates are reported as not run.
 */
export async function runGates(request: GatesRequest): Promise<GatesOutcome> {
  await mkdir(request.logDirectory, { recursive: true });
  const [first, ...rest] = request.gates;
  if (first?.role !== 'run' || first.gate.run === undefined) return checkGates(request);
  const { output, ...step } = await runStep(request, { ...first.gate, run: first.gate.run });
  if (!step.pass || rest.length === 0) {
    const skipped = rest.map((_, index) => notRun(index + 1, first.gate.run ?? ''));
    return { receipts: [{ gate: 0, ...step }, ...skipped], ...(output === undefined ? {} : { output }) };
  }
  // The command is never run twice, whatever files it changes; its gates are about the tree that it left.
  const { receipts, ...outcome } = await checkGates({ ...request, gates: rest }, 1);
  const shifted = receipts.map((receipt) => ({ ...receipt, gate: receipt.gate + 1 }));
  return {
    ...outcome,
    receipts: [{ gate: 0, ...step }, ...shifted],
    ...(output === undefined ? {} : { output }),
  };
}

const notRun = (gate: number, after: string): GateResult => ({
  gate,
  pass: false,
  tail: `not run: ${after} failed`,
});

const maxOutputBytes = 256 * 1024;

/** The command of a run step, and what it printed. */
async function runStep(
  request: GatesRequest,
  gate: Gate & { run: string },
): Promise<Omit<GateResult, 'gate'> & { output?: string }> {
  const { stdout, ...result } = await checkCommand(request, gate, 0, maxOutputBytes);
  if (!result.pass || !stdout) return result;
  const text = stdout.toString('utf8').trimEnd();
  const problem = problemOf(stdout, text, request.format ?? {});
  if (problem === undefined) return { ...result, output: text };
  return { ...result, pass: false, tail: truncateToTail(`${result.tail ?? ''}\n[${problem}]`, tailBytes) };
}

function problemOf(
  stdout: Buffer,
  text: string,
  format: NonNullable<GatesRequest['format']>,
): string | undefined {
  if (stdout.length > maxOutputBytes) return `its output is longer than ${maxOutputBytes / 1024} KB`;
  const problem = outputProblem(format, text);
  return problem === undefined ? undefined : `the output cannot be used: ${problem}`;
}

async function checkGates(request: GatesRequest, offset = 0): Promise<GatesOutcome> {
  const writes = request.gates.flatMap(({ gate }) => gate.writes ?? []);
  const watch = createTreeWatch({
    worktree: request.worktree,
    exclude: [...(request.exclude ?? []), ...writes].map(fromWorktree),
    boundMs: request.treeBoundMs,
    cacheDirectory: request.cacheDirectory,
  });
  try {
    return await runTwice({ ...request, offset }, watch);
  } finally {
    await watch.close();
  }
}

async function runTwice(request: ListRequest, watch: TreeWatch): Promise<GatesOutcome> {
  const covers = [undefined, ...request.gates.map(({ gate }) => gate.paths?.map(fromWorktree))];
  const first = await runList(request, watch, covers, await readTrees(watch, covers));
  // What was before the work is asked once.
  const isBaseline = request.gates.some(({ role }) => role === 'baseline');
  const isFinal = isBaseline || (!request.redAgain && isRed(request, first.receipts));
  if (!changed(first) || isFinal || request.signal?.aborted) return outcomeOf(first);
  const passed = [...(request.passed ?? []), ...passesOf(request, first)];
  const second = await runList({ ...request, passed }, watch, covers, first.after);
  if (!changed(second) || isRed(request, second.receipts) || request.signal?.aborted)
    return outcomeOf(second);
  const names = await watch.changed(hashOf(second.before) ?? '', hashOf(second.after) ?? '');
  const more = names.length > maxNamed ? [`and ${names.length - maxNamed} more`] : [];
  const unstable =
    names.length > 0 ? [...names.slice(0, maxNamed), ...more] : ['(files that cannot be named)'];
  return { ...outcomeOf(second), unstable };
}

/** `offset`: how many commands ran before these, for the names of their logs. */
type ListRequest = GatesRequest & { offset: number };

/** The whole tree, then the tree of each gate. */
type CoveredTrees = Tree[];

interface ListRun {
  receipts: GateResult[];
  before: CoveredTrees;
  after: CoveredTrees;
}

async function runList(
  request: ListRequest,
  watch: TreeWatch,
  covers: readonly (readonly string[] | undefined)[],
  before: CoveredTrees,
): Promise<ListRun> {
  const receipts: GateResult[] = [];
  let ranCommand = false;
  let red: { what: string; role: RequestedGate['role'] } | undefined;
  for (const [index, { gate, role }] of request.gates.entries()) {
    const tree = before[index + 1]?.hash;
    if (request.signal?.aborted) {
      receipts.push({ gate: index, pass: false, tail: 'not run: the gates were stopped' });
      continue;
    }
    if (red && (red.role === 'gate' || role === 'rerun')) {
      receipts.push({ gate: index, pass: false, tail: `not run: ${red.what} failed` });
      continue;
    }
    const reused = gate.run !== undefined && tree !== undefined && mayReuse(request, gate, tree);
    const result = reused ? { pass: true, reused } : await check(request, gate, index);
    ranCommand ||= gate.run !== undefined && !reused;
    receipts.push({ gate: index, ...result });
    if (gate.run !== undefined && !result.pass && role !== 'until') red = { what: gateText(gate), role };
  }
  const after = ranCommand ? await readTrees(watch, covers) : before;
  return { receipts: receipts.map((receipt) => withTree(receipt, before, after)), before, after };
}

const mayReuse = ({ passed = [] }: GatesRequest, gate: Gate, tree: string): boolean =>
  passed.some((pass) => isSameCheck(pass, gate) && receiptValidity(pass.tree, tree) === 'valid');

const isSameCheck = (one: GatePass, other: Gate): boolean =>
  one.run === other.run && one.expect === other.expect && one.contains === other.contains;

/** Passes of gates whose own `paths` did not change. */
const passesOf = ({ gates }: GatesRequest, { receipts }: ListRun): GatePass[] =>
  receipts.flatMap(({ gate, pass, tree }) => passOf(pass ? gates[gate]?.gate : undefined, tree));

/** The pass of a command, if its gate passed on a tree that is known. */
export const passOf = (gate: Gate | undefined, tree: string | undefined): GatePass[] =>
  gate?.run === undefined || tree === undefined ? [] : [{ ...gate, run: gate.run, tree }];

/** A receipt names a tree only if it was the same before and after. */
function withTree(receipt: GateResult, before: CoveredTrees, after: CoveredTrees): GateResult {
  const tree = before[receipt.gate + 1]?.hash;
  return tree !== undefined && after[receipt.gate + 1]?.hash === tree ? { ...receipt, tree } : receipt;
}

async function check(request: ListRequest, gate: Gate, index: number): Promise<Omit<GateResult, 'gate'>> {
  if (gate.run !== undefined) {
    const { stdout: _, ...result } = await checkCommand(
      request,
      { ...gate, run: gate.run },
      index + request.offset,
    );
    return result;
  }
  const { pass, why, undecided } = await checkValue(request, gate);
  return {
    pass,
    ...(undecided && { undecided }),
    ...(why === undefined ? {} : { tail: truncateToTail(why, tailBytes) }),
  };
}

async function checkValue(request: GatesRequest, gate: Gate): Promise<FileCheck> {
  if (gate.exists !== undefined) return checkExists(gate.exists, request.worktree, request.root);
  if (gate.condition !== undefined) return request.condition(gate.condition);
  if (gate.read !== undefined) return checkRead(gate.read, request.isRead);
  return { pass: false, why: 'the gate checks nothing: set run, exists, condition or read' };
}

/** Runs a command and judges how it ended. */
export async function checkCommand(
  request: Pick<GatesRequest, 'worktree' | 'env' | 'logDirectory' | 'signal'>,
  gate: Gate & { run: string },
  index: number,
  stdoutBytes?: number,
): Promise<Omit<GateResult, 'gate'> & { stdout?: Buffer }> {
  const seconds = gate.timeout ?? defaultSeconds;
  const result = await runCommand({
    command: gate.run,
    cwd: request.worktree,
    env: commandEnvironment(request.env),
    timeoutMs: seconds * 1000,
    log: join(request.logDirectory, `gate-${index + 1}.log`),
    contains: gate.contains,
    signal: request.signal,
    stdoutBytes,
  });
  const { exit, ms, tail, digest, stdout } = result;
  const why = interrupted(result, seconds) ?? unexpected(result, gate);
  const line = tail === '' || tail.endsWith('\n') ? '' : '\n';
  return {
    ...(stdout && { stdout }),
    pass: why === undefined && (exit === 0) === (gate.expect === undefined),
    ...(exit === null ? {} : { exit }),
    ms,
    tail: truncateToTail(why === undefined ? tail : `${tail}${line}[${why}]`, tailBytes),
    digest,
  };
}

/** How the command ended, if it did not end by itself. */
function interrupted({ timedOut, aborted, signal }: CommandResult, seconds: number): string | undefined {
  if (timedOut) return `killed: timed out after ${seconds} s`;
  if (aborted) return 'killed: the gates were stopped';
  return signal ? `killed by ${signal}` : undefined;
}

/** Of a shell: the command was not found, or is no program. */
const neverRan = [126, 127];

/** What was expected of the command and is not so, if the output cannot show it. */
function unexpected({ exit, contains }: CommandResult, gate: Gate): string | undefined {
  if (gate.expect === 'fail' && exit === 0) return 'expected to fail, but it exited with 0';
  if (gate.expect === 'fail' && neverRan.includes(exit ?? 0))
    return `expected to fail, but exit ${exit} means that it could not be run`;
  // A failure that nothing expected needs no other reason.
  if (contains || (gate.expect === undefined && exit !== 0)) return undefined;
  return `not as expected: the output does not contain ${quotedText(gate.contains ?? '')}`;
}

/** Whether a gate failed; a failed `rerun` may not count. */
const isRed = ({ gates }: GatesRequest, receipts: readonly GateResult[]): boolean =>
  receipts.some(({ gate, pass }) => !pass && gates[gate]?.role === 'gate');

const hashOf = (trees: CoveredTrees): string | undefined => trees[0]?.hash;

function changed({ before, after }: ListRun): boolean {
  const [a, b] = [hashOf(before), hashOf(after)];
  return a !== undefined && b !== undefined && a !== b;
}

/** Without a tree if it was unknown before or after. */
function outcomeOf({ receipts, before, after }: ListRun): GatesOutcome {
  const tree = hashOf(before) === undefined ? undefined : hashOf(after);
  return { receipts, ...(tree === undefined ? {} : { tree }) };
}

/** Reads each distinct set of paths once. */
async function readTrees(
  watch: TreeWatch,
  covers: readonly (readonly string[] | undefined)[],
): Promise<CoveredTrees> {
  const keys = covers.map((paths) => JSON.stringify(paths) ?? '');
  const different = [...new Set(keys)];
  const trees = await watch.read(different.map((key) => covers[keys.indexOf(key)]));
  return keys.map((key) => trees[different.indexOf(key)] ?? { unknown: 'nothing was read' });
}

const fromWorktree = (path: string): string => path.replace(/^\{project_root\}\/?/, './');
