import { commandName } from '../../command-name.ts';
import { StepfastError } from '../../errors.ts';
import type { Version } from '../store.ts';
import { branchesOf, branchLines, type Chain, readChain, requireSound } from './accept-lines.ts';
import type { Files } from './files.ts';
import type { ValidLine } from './journal.ts';
import { replaceJournal } from './replace-journal.ts';
import type { RunPaths } from './run-paths.ts';

export interface RepairResult {
  run: string;
  /** The last batch of the new journal. */
  kept: Version;
  /** Lines of the old journal that are not in the new one. */
  dropped: { line: number; seq?: number; machine?: string; now?: number; what: string[] }[];
  /** The name of the old journal; absent if nothing was dropped. */
  backup?: string;
}

/** Crash-safe: the journal is always the complete old or new one. */
export async function repairRun(
  files: Files,
  run: string,
  paths: RunPaths,
  { keep, nonce }: { keep: string | undefined; nonce: string },
): Promise<RepairResult> {
  const bytes = await files.read(paths.journal);
  const chain = bytes && readChain(run, bytes);
  if (!chain)
    throw new StepfastError('no_run', `there is no run '${run}': ${commandName()} runs --all lists all runs`);
  const lines = linesToKeep(run, chain, keep);
  const last = lines.at(-1);
  if (!last) {
    const message = `run '${run}' cannot be repaired, its first line is lost: remove it with ${commandName()} clean ${run}`;
    throw new StepfastError('store_corrupt', message, { data: { run } });
  }
  const kept = { seq: last.line.seq, hash: last.hash };
  const dropped = droppedLines(chain, lines);
  // state.json may refer to a dropped batch. If a reader writes it again now, `isSetAside` finds its batch in the backup.
  await files.remove(paths.state);
  await files.syncDirectory(paths.root);
  if (dropped.length === 0) return { run, kept, dropped };
  const newline = Buffer.from('\n');
  const text = lines.flatMap(({ offset, end }) => [newline, bytes.subarray(offset, end), newline]);
  const backup = await replaceJournal(files, paths, {
    run,
    old: bytes,
    next: Buffer.concat(text),
    nonce,
    nameOf: (attempt) => `journal.${attempt}.bak.jsonl`,
  });
  return { run, kept, dropped, backup };
}

function linesToKeep(run: string, chain: Chain, keep: string | undefined): ValidLine[] {
  if (chain.newer.length > 0) requireSound(run, chain);
  if (keep !== undefined) {
    const lines = branchLines(chain, keep);
    if (lines) return lines;
    const ids = branchesOf(chain).map(({ id }) => id);
    const there = ids.length === 0 ? 'it has only one history' : `it has ${ids.join(', ')}`;
    throw new StepfastError('unknown_branch', `run '${run}' has no branch '${keep}': ${there}`, {
      data: { run, keep, ids },
    });
  }
  // Only a person chooses between histories.
  if (chain.forked.length > 0) requireSound(run, chain);
  return chain.accepted;
}

function droppedLines(chain: Chain, kept: ValidLine[]): RepairResult['dropped'] {
  const hashes = new Set(kept.map((found) => found.hash));
  const valid = [...chain.accepted, ...chain.races, ...chain.forked, ...chain.orphans]
    .filter((found) => !hashes.has(found.hash))
    .map(({ number, line: { seq, machine, now, events } }) => ({
      line: number,
      seq,
      machine,
      now,
      what: [...new Set(events.map((event) => event.type))],
    }));
  const bad = chain.bad.map(({ number }) => ({ line: number, what: [] }));
  return [...valid, ...bad].sort((a, b) => a.line - b.line);
}
