import { join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { digestHex, digestOf } from '../long-text.ts';
import { requireRunId } from '../run-id.ts';
import { corrupt, idLength, readChain, requireSound } from './accept-lines.ts';
import type { FileStoreOptions } from './file-store.ts';
import type { Files } from './files.ts';
import { withLock } from './lock.ts';
import { createNodeFiles } from './node-files.ts';
import { replaceJournal } from './replace-journal.ts';
import { createRunFiles } from './run-files.ts';
import { compareHistories, type HistoryLine, historyLine, type RunHistory } from './run-history.ts';
import { pathsOf, type RunPaths } from './run-paths.ts';
import { makeDirectories, replaceFile, writeWhole } from './write-file.ts';

/** By their digest. */
export type TextsByDigest = ReadonlyMap<string, Uint8Array>;

/** Runs of the file store as they leave this machine and come from others. Throws what a store throws. */
export interface FileTransfer {
  /** The accepted history, all of it verified and durable; undefined where there is no such run. */
  read(run: string): Promise<RunHistory | undefined>;
  /** Long texts, each with its digest checked. */
  texts(run: string, digests: readonly string[]): Promise<Map<string, Uint8Array>>;
  /**
   * Makes a run of a history that was verified, or goes on with it where the one here is its beginning: all of it is
   * there or nothing. A run that has it all stays as it is. Throws `busy` where the run here has moved meanwhile,
   * `store_forked` where it moved at the last moment: both histories are in the journal then.
   */
  receive(theirs: RunHistory, texts: TextsByDigest): Promise<void>;
  /**
   * Puts another history in place of the one that ends with `tail`; answers the name of the file that keeps the old one,
   * with whatever was accepted until the last moment.
   */
  replace(theirs: RunHistory, texts: TextsByDigest, tail: string): Promise<string>;
}

const newline = Buffer.from('\n');

export function createFileTransfer(options: FileStoreOptions): FileTransfer {
  const { directory, machine, nonce, files = createNodeFiles() } = options;
  const runs = createRunFiles({ directory, files, nonce });
  const { at } = runs;
  const locked = <T>(run: string, action: () => Promise<T>): Promise<T> =>
    withLock(files, at(run).lock, JSON.stringify({ pid: process.pid, machine, nonce: nonce() }), action);

  async function read(run: string): Promise<RunHistory | undefined> {
    const opened = await runs.open(run);
    if (!opened) return undefined;
    const { hash, definition } = opened;
    const bytes = (await files.read(at(run).journal)) ?? new Uint8Array();
    return { run, pinned: { hash, definition }, lines: linesIn(run, bytes) };
  }

  async function texts(run: string, digests: readonly string[]): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    for (const digest of digests) {
      const bytes = await files.read(textFile(at(run), digest));
      if (!bytes) throw corrupt(run, `the text ${digest.slice(0, 19)} is missing`);
      if (digestOf(bytes) !== digest)
        throw corrupt(run, `the text ${digest.slice(0, 19)} is not what was kept`);
      found.set(digest, bytes);
    }
    return found;
  }

  async function receive(theirs: RunHistory, kept: TextsByDigest): Promise<void> {
    const { run } = theirs;
    const there = (await files.names(at(run).root)).length > 0;
    if (there || !(await createRun(theirs, kept))) {
      await keepTexts(run, kept);
      await runs.withReplaceLock(run, machine, () => locked(run, () => extendHistory(theirs)));
    }
    await runs.open(run);
  }

  /**
   * Made beside the others under a name that is no run's, then renamed: nobody sees half of it. False where another
   * one made it first; what others still have under way is of no use then.
   */
  async function createRun({ run, lines }: RunHistory, kept: TextsByDigest): Promise<boolean> {
    const staged = pathsOf(directory, `.${run}.${nonce()}.incoming`);
    await makeDirectories(files, directory);
    try {
      await files.makeDirectory(staged.root);
      if (kept.size > 0) await files.makeDirectory(staged.outputs);
      for (const [digest, bytes] of kept) await writeDurably(files, textFile(staged, digest), bytes);
      if (kept.size > 0) await files.syncDirectory(staged.outputs);
      await writeDurably(files, staged.journal, journalOf(lines));
      await files.syncDirectory(staged.root);
      await files.rename(staged.root, at(run).root);
    } catch (error) {
      await files.remove(staged.root).catch(() => {});
      if ((await files.size(at(run).journal)) === undefined) throw error;
      return false;
    }
    await files.syncDirectory(directory);
    for (const name of await files.names(directory)) {
      if (name.startsWith(`.${run}.`) && name.endsWith('.incoming'))
        await files.remove(join(directory, name));
    }
    return true;
  }

  /**
   * Further batches come with a new journal instead of after the old one: a batch of another machine that lost a race
   * for its place, or won one against a batch of this machine, would be a fork for good. It is one only where a batch
   * was accepted here after the last look.
   */
  async function extendHistory({ run, lines: theirs }: RunHistory): Promise<void> {
    const paths = at(run);
    const old = (await files.read(paths.journal)) ?? new Uint8Array();
    const mine = linesIn(run, old);
    const { relation, common } = compareHistories(mine, theirs);
    if (relation === 'equal' || relation === 'ahead') return;
    if (relation !== 'behind') throw changedMeanwhile(run);
    const next = Buffer.concat([newline, old, journalOf(theirs.slice(common))]);
    const aside = await replaced(run, old, next);
    const late = linesIn(run, (await files.read(join(paths.root, aside))) ?? old).slice(mine.length);
    if (late.length === 0) return files.remove(join(paths.root, aside));
    await files.append(paths.journal, journalOf(late));
    await files.sync(paths.journal);
    requireSound(run, await runs.journal(run));
    throw changedMeanwhile(run);
  }

  async function exchange(theirs: RunHistory, kept: TextsByDigest, tail: string): Promise<string> {
    const { run } = theirs;
    await keepTexts(run, kept);
    const exchanged = async (): Promise<string> => {
      const old = (await files.read(at(run).journal)) ?? new Uint8Array();
      if (linesIn(run, old).at(-1)?.hash !== tail) throw changedMeanwhile(run);
      return replaced(run, old, journalOf(theirs.lines));
    };
    const aside = await runs.withReplaceLock(run, machine, () => locked(run, exchanged));
    runs.lastSeen.delete(run);
    await runs.open(run);
    return aside;
  }

  /** Answers the name of the file that keeps the old one. */
  function replaced(run: string, old: Uint8Array, next: Uint8Array): Promise<string> {
    const id = linesIn(run, old).at(-1)?.hash.slice(0, idLength);
    const nameOf = (attempt: number): string =>
      `journal.aside-${id}${attempt === 1 ? '' : `-${attempt}`}.jsonl`;
    return replaceJournal(files, at(run), { run, old, next, nonce: nonce(), nameOf });
  }

  async function keepTexts(run: string, kept: TextsByDigest): Promise<void> {
    const paths = at(run);
    if (kept.size > 0) await makeDirectories(files, paths.outputs);
    for (const [digest, bytes] of kept) {
      const path = textFile(paths, digest);
      const there = await files.read(path);
      if (there && digestOf(there) === digest) continue;
      await replaceFile(files, { path, temporary: `${path}.${nonce()}.tmp`, durable: true }, bytes);
    }
    if (kept.size > 0) await files.syncDirectory(paths.outputs);
  }

  async function told<T>(run: string, action: () => Promise<T>): Promise<T> {
    requireRunId(run);
    try {
      return await action();
    } catch (error) {
      if (error instanceof StepfastError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      const message = `run '${run}' could not be read or written (${why}): mend that, then do it again`;
      throw new StepfastError('store_failed', message, { cause: error });
    }
  }

  return {
    read: (run) => told(run, () => read(run)),
    texts: (run, digests) => told(run, () => texts(run, digests)),
    receive: (theirs, kept) => told(theirs.run, () => receive(theirs, kept)),
    replace: (theirs, kept, tail) => told(theirs.run, () => exchange(theirs, kept, tail)),
  };
}

function linesIn(run: string, bytes: Uint8Array): HistoryLine[] {
  const chain = readChain(run, bytes);
  requireSound(run, chain);
  return chain.accepted.map((found) => historyLine(found, bytes));
}

function textFile(paths: RunPaths, digest: string): string {
  const hex = digestHex(digest);
  if (hex === undefined) throw new RangeError(`'${digest}' is no digest`);
  return join(paths.outputs, `${hex}.txt`);
}

const journalOf = (lines: readonly HistoryLine[]): Uint8Array =>
  Buffer.concat(lines.flatMap(({ bytes }) => [newline, bytes, newline]));

async function writeDurably(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await writeWhole(files, path, bytes);
  await files.sync(path);
}

const changedMeanwhile = (run: string): StepfastError =>
  new StepfastError('busy', `${run} was changed by others meanwhile. Try again.`);
