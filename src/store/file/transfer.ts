import { join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { digestOf } from '../long-text.ts';
import { requireRunId } from '../run-id.ts';
import { corrupt, idLength, readChain, requireSound } from './accept-lines.ts';
import type { FileStoreOptions } from './file-store.ts';
import type { Files } from './files.ts';
import { withLock } from './lock.ts';
import { textPath } from './long-text-files.ts';
import { createNodeFiles } from './node-files.ts';
import { replaceJournal } from './replace-journal.ts';
import { createRunFiles } from './run-files.ts';
import { compareHistories, type HistoryLine, historyLine, type RunHistory } from './run-history.ts';
import { pathsOf, type RunPaths } from './run-paths.ts';
import { wrapFileErrors } from './wrap-file-errors.ts';
import { makeDirectories, replaceFile, writeWhole } from './write-file.ts';

/** Long texts by their digest. */
export type TextsByDigest = ReadonlyMap<string, Uint8Array>;

/** Exports runs of the file store and imports runs of other machines. Throws the errors of a store. */
export interface FileTransfer {
  /** The accepted history, verified and durable; undefined if there is no such run. */
  read(run: string): Promise<RunHistory | undefined>;
  /** Reads long texts and checks their digests. */
  texts(run: string, digests: readonly string[]): Promise<Map<string, Uint8Array>>;
  /**
   * Creates a run from a verified history, or appends the new batches if the local history is its beginning. All or
   * nothing; no change if the run has all batches already. Throws `busy` if the local run changed meanwhile, and
   * `store_forked` if it changed at the last moment: then the journal has both histories.
   */
  receive(theirs: RunHistory, texts: TextsByDigest): Promise<void>;
  /**
   * Replaces the history that ends with `tail`; returns the name of the file with the old history, including batches
   * accepted at the last moment.
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
        throw corrupt(run, `the text ${digest.slice(0, 19)} does not match its digest`);
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
   * Creates the run in a directory with a name that is not a run id, then renames it, so that no reader sees a partial
   * run. False if another process created the run first. Also removes the directories of concurrent imports.
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
   * Replaces the journal instead of appending to it: an appended batch of another machine that races with a local batch
   * would be a permanent fork. A fork remains possible only if a local batch is accepted at the last moment.
   */
  async function extendHistory({ run, lines: theirs }: RunHistory): Promise<void> {
    const paths = at(run);
    const old = (await files.read(paths.journal)) ?? new Uint8Array();
    const mine = linesIn(run, old);
    const { relation, common } = compareHistories(mine, theirs);
    if (relation === 'equal' || relation === 'ahead') return;
    if (relation !== 'behind') throw changedMeanwhile(run);
    // An imported run has its own chain, which their batches do not continue.
    const isOther = common > 0 && mine[common - 1]?.hash !== theirs[common - 1]?.hash;
    const next = isOther ? journalOf(theirs) : Buffer.concat([newline, old, journalOf(theirs.slice(common))]);
    const aside = await replaced(run, old, next);
    const late = linesIn(run, (await files.read(join(paths.root, aside))) ?? old).slice(mine.length);
    if (isOther) {
      runs.lastSeen.delete(run);
      // A late batch of the old chain does not continue theirs; the old journal stays aside, as state.json refers to it.
      if (late.length > 0) throw changedMeanwhile(run);
      return;
    }
    if (late.length === 0) return files.remove(join(paths.root, aside));
    await files.append(paths.journal, journalOf(late));
    await files.sync(paths.journal);
    requireSound(run, await runs.journal(run));
    throw changedMeanwhile(run);
  }

  async function exchange(theirs: RunHistory, kept: TextsByDigest, tail: string): Promise<string> {
    const { run } = theirs;
    await keepTexts(run, kept);
    const replaceHistory = async (): Promise<string> => {
      const old = (await files.read(at(run).journal)) ?? new Uint8Array();
      if (linesIn(run, old).at(-1)?.hash !== tail) throw changedMeanwhile(run);
      return replaced(run, old, journalOf(theirs.lines));
    };
    const aside = await runs.withReplaceLock(run, machine, () => locked(run, replaceHistory));
    runs.lastSeen.delete(run);
    await runs.open(run);
    return aside;
  }

  /** Returns the name of the file with the old journal. */
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

  async function wrap<T>(run: string, action: () => Promise<T>): Promise<T> {
    requireRunId(run);
    return wrapFileErrors(`run '${run}'`, action);
  }

  return {
    read: (run) => wrap(run, () => read(run)),
    texts: (run, digests) => wrap(run, () => texts(run, digests)),
    receive: (theirs, kept) => wrap(theirs.run, () => receive(theirs, kept)),
    replace: (theirs, kept, tail) => wrap(theirs.run, () => exchange(theirs, kept, tail)),
  };
}

function linesIn(run: string, bytes: Uint8Array): HistoryLine[] {
  const chain = readChain(run, bytes);
  requireSound(run, chain);
  return chain.accepted.map((found) => historyLine(found, bytes));
}

function textFile(paths: RunPaths, digest: string): string {
  const path = textPath(paths, digest);
  if (path === undefined) throw new RangeError(`'${digest}' is not a digest`);
  return path;
}

const journalOf = (lines: readonly HistoryLine[]): Uint8Array =>
  Buffer.concat(lines.flatMap(({ bytes }) => [newline, bytes, newline]));

async function writeDurably(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await writeWhole(files, path, bytes);
  await files.sync(path);
}

const changedMeanwhile = (run: string): StepfastError =>
  new StepfastError('busy', `${run} was changed by another process. Try again.`);
