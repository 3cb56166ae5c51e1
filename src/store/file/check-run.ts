import { join } from 'node:path';
import { digestOf } from '../long-text.ts';
import type { Pinned } from '../store.ts';
import { type Branch, branchesOf, type Chain, isSound, readChain } from './accept-lines.ts';
import type { Files } from './files.ts';
import { isSetAside } from './replace-journal.ts';
import type { RunPaths } from './run-paths.ts';
import { parseStateFile, type Snapshot } from './state-file.ts';

export interface RunProblem {
  kind: 'newer' | 'fork' | 'corrupt' | 'text' | 'workflow' | 'state' | 'torn' | 'race';
  /** The line of the journal, starting at 1. */
  line?: number;
  message: string;
}

/** The result of verifying every byte of a run. */
export interface RunCheck {
  run: string;
  batches: number;
  problems: RunProblem[];
  /** Leftovers of crashes and races, and files that the next load recreates. */
  harmless: RunProblem[];
  /** Empty if the run has a single history. */
  branches: Branch[];
}

export async function checkRun(
  files: Files,
  run: string,
  paths: RunPaths,
  pinnedFile: (pinned: Pinned) => Uint8Array,
): Promise<RunCheck | undefined> {
  const chain = readChain(run, (await files.read(paths.journal)) ?? new Uint8Array());
  const snapshot = parseStateFile(await files.read(paths.state));
  if (chain.accepted.length === 0 && isSound(chain) && !snapshot) return undefined;
  return {
    run,
    batches: chain.accepted.length,
    problems: [
      ...chainProblems(chain),
      ...(await lostProblems(files, run, paths, chain, snapshot)),
      ...(await textProblems(files, paths, chain)),
    ],
    harmless: [
      ...leftovers(chain),
      ...(await workflowProblems(files, paths, chain, pinnedFile)),
      ...(snapshot ? [] : [unreadableState]),
    ],
    branches: branchesOf(chain),
  };
}

function chainProblems(chain: Chain): RunProblem[] {
  return [
    ...chain.newer.map(({ number, version }) => ({
      kind: 'newer' as const,
      line: number,
      message: `written by a newer Stepfast (format ${version})`,
    })),
    ...chain.forked.map(({ number, line }) => ({
      kind: 'fork' as const,
      line: number,
      message: `belongs to another history, written by ${line.machine}`,
    })),
    ...chain.orphans.map(({ number }) => ({
      kind: 'corrupt' as const,
      line: number,
      message: 'continues a batch that is damaged or lost',
    })),
  ];
}

function leftovers(chain: Chain): RunProblem[] {
  return [
    ...chain.bad.map(({ number }) => ({
      kind: 'torn' as const,
      line: number,
      message: 'incomplete line, left by a crash or an edit; ignored',
    })),
    ...chain.races.map(({ number }) => ({
      kind: 'race' as const,
      line: number,
      message: 'lost a race; its writer was informed',
    })),
  ];
}

async function textProblems(files: Files, paths: RunPaths, chain: Chain): Promise<RunProblem[]> {
  const problems: RunProblem[] = [];
  const checked = new Set<string>();
  for (const found of chain.accepted) {
    for (const digest of digestsIn(found.line.events)) {
      if (checked.has(digest)) continue;
      checked.add(digest);
      const path = join(paths.outputs, `${digest.slice('sha256:'.length)}.txt`);
      const bytes = await files.read(path);
      if (bytes && digestOf(bytes) === digest) continue;
      const what = bytes ? 'does not match its digest' : 'is missing';
      const message = `the text ${path} ${what}`;
      problems.push({ kind: 'text', line: found.number, message });
    }
  }
  return problems;
}

/** The digests of all long texts in a value. */
function digestsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('opening' in value && 'digest' in value && typeof value.digest === 'string') return [value.digest];
  return Object.values(value).flatMap(digestsIn);
}

async function workflowProblems(
  files: Files,
  paths: RunPaths,
  chain: Chain,
  pinnedFile: (pinned: Pinned) => Uint8Array,
): Promise<RunProblem[]> {
  const pinned = chain.accepted[0]?.line.pinned;
  const workflow = await files.read(paths.workflow);
  if (!pinned || (workflow && digestOf(workflow) === digestOf(pinnedFile(pinned)))) return [];
  const message = 'workflow.json differs from the pinned workflow; it is recreated from the journal';
  return [{ kind: 'workflow', message }];
}

const unreadableState: RunProblem = {
  kind: 'state',
  message: 'state.json is missing or was edited; it is recreated from the journal',
};

/** A snapshot is written only after its batch is durable, so a missing batch means that the journal lost it. */
async function lostProblems(
  files: Files,
  run: string,
  { root }: RunPaths,
  chain: Chain,
  snapshot: Snapshot | undefined,
): Promise<RunProblem[]> {
  if (
    !isSound(chain) ||
    snapshot?.state.run !== run ||
    chain.accepted[snapshot.seq - 1]?.hash === snapshot.hash ||
    (await isSetAside(files, root, snapshot))
  )
    return [];
  const message = `the journal no longer has batch ${snapshot.seq}, which state.json refers to`;
  return [{ kind: 'corrupt', message }];
}
