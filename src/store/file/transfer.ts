import { join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { digestHex, digestOf } from '../long-text.ts';
import { requireRunId } from '../run-id.ts';
import { type Carried, type CarriedLine, carried, relate } from './carried.ts';
import { corrupt, readChain, requireSound } from './chain.ts';
import type { Files } from './files.ts';
import { withLock } from './lock.ts';
import { createNodeFiles } from './node-files.ts';
import { pathsOf, type RunPaths } from './paths.ts';
import { createRunFiles } from './run-files.ts';
import type { FileStoreOptions } from './store.ts';
import { makeDirectories, replaceFile, writeWhole } from './write.ts';

/** By their digest. */
export type Texts = ReadonlyMap<string, Uint8Array>;

/** Runs of the file store as they leave this machine and come from others. Throws what a store throws. */
export interface FileTransfer {
  /** The accepted history, all of it verified and durable; undefined where there is no such run. */
  read(run: string): Promise<Carried | undefined>;
  /** Long texts, each with its digest checked. */
  texts(run: string, digests: readonly string[]): Promise<Map<string, Uint8Array>>;
  /**
   * Makes a run of a history that was verified, or goes on with it where the one here is its beginning: a new run is
   * there as a whole or not at all, further batches are there one after the other. Throws `busy` where the run here
   * has moved meanwhile.
   */
  receive(theirs: Carried, texts: Texts): Promise<void>;
  /** Puts another history in place of the one that ends with `tail`; answers the name of the file that keeps the old one. */
  exchange(theirs: Carried, texts: Texts, tail: string): Promise<string>;
}

const writeAttempts = 3;
const newline = Buffer.from('\n');

export function createFileTransfer(options: FileStoreOptions): FileTransfer {
  const { directory, machine, nonce, files = createNodeFiles() } = options;
  const runs = createRunFiles({ directory, files, nonce });
  const { at } = runs;
  const locked = <T>(run: string, action: () => Promise<T>): Promise<T> =>
    withLock(files, at(run).lock, JSON.stringify({ pid: process.pid, machine, nonce: nonce() }), action);

  async function read(run: string): Promise<Carried | undefined> {
    const opened = await runs.open(run);
    if (!opened) return undefined;
    const { hash, definition } = opened;
    return { run, pinned: { hash, definition }, lines: await linesOf(run) };
  }

  async function linesOf(run: string): Promise<CarriedLine[]> {
    const bytes = (await files.read(at(run).journal)) ?? new Uint8Array();
    const chain = readChain(run, bytes);
    requireSound(run, chain);
    return chain.accepted.map((found) => carried(found, bytes));
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

  async function receive(theirs: Carried, kept: Texts): Promise<void> {
    const { run } = theirs;
    if ((await files.names(at(run).root)).length === 0) await create(theirs, kept);
    else {
      await keepTexts(run, kept);
      await locked(run, () => append(theirs));
    }
    await runs.open(run);
  }

  /** Made beside the others under a name that is no run's, then renamed: nobody sees half of it. */
  async function create({ run, lines }: Carried, kept: Texts): Promise<void> {
    const staged = pathsOf(directory, `.${run}.incoming`);
    await makeDirectories(files, directory);
    await files.remove(staged.root);
    await files.makeDirectory(staged.root);
    if (kept.size > 0) await files.makeDirectory(staged.outputs);
    for (const [digest, bytes] of kept) await writeDurably(files, textFile(staged, digest), bytes);
    if (kept.size > 0) await files.syncDirectory(staged.outputs);
    await writeDurably(files, staged.journal, journalOf(lines));
    await files.syncDirectory(staged.root);
    await files.rename(staged.root, at(run).root);
    await files.syncDirectory(directory);
  }

  async function append({ run, lines: theirs }: Carried): Promise<void> {
    const { journal } = at(run);
    const { relation, common } = relate(await linesOf(run), theirs);
    if (relation !== 'behind') throw moved(run);
    const bytes = journalOf(theirs.slice(common));
    // What a short write leaves is a beginning and a bad line; the same line twice is one.
    let attempts = 1;
    while ((await files.append(journal, bytes)) < bytes.length) {
      if (attempts === writeAttempts) throw new Error(`${journal}: the lines cannot be written in one piece`);
      attempts += 1;
    }
    await files.sync(journal);
    const after = await linesOf(run);
    if (after[theirs.length - 1]?.hash !== theirs.at(-1)?.hash) throw moved(run);
  }

  async function exchange(theirs: Carried, kept: Texts, tail: string): Promise<string> {
    const { run } = theirs;
    const paths = at(run);
    await keepTexts(run, kept);
    const aside = await locked(run, async () => {
      const lines = await linesOf(run);
      if (lines.at(-1)?.hash !== tail) throw moved(run);
      const name = `journal.aside-${tail.slice(0, 8)}.jsonl`;
      await files.remove(join(paths.root, name));
      await writeDurably(files, join(paths.root, name), journalOf(lines));
      // It names a batch that the new journal does not have.
      await files.remove(paths.state);
      await files.syncDirectory(paths.root);
      const temporary = `${paths.journal}.${nonce()}.tmp`;
      await replaceFile(files, { path: paths.journal, temporary, durable: true }, journalOf(theirs.lines));
      return name;
    });
    runs.known.delete(run);
    await runs.open(run);
    return aside;
  }

  async function keepTexts(run: string, kept: Texts): Promise<void> {
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
    exchange: (theirs, kept, tail) => told(theirs.run, () => exchange(theirs, kept, tail)),
  };
}

function textFile(paths: RunPaths, digest: string): string {
  const hex = digestHex(digest);
  if (hex === undefined) throw new RangeError(`'${digest}' is no digest`);
  return join(paths.outputs, `${hex}.txt`);
}

const journalOf = (lines: readonly CarriedLine[]): Uint8Array =>
  Buffer.concat(lines.flatMap(({ bytes }) => [newline, bytes, newline]));

async function writeDurably(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await writeWhole(files, path, bytes);
  await files.sync(path);
}

const moved = (run: string): StepfastError =>
  new StepfastError('busy', `${run} was changed by others meanwhile. Try again.`);
