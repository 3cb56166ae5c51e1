import { dirname, join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { codeOf, type Files } from './files.ts';
import { parseLines } from './journal.ts';
import type { RunPaths } from './run-paths.ts';
import type { Snapshot } from './state-file.ts';
import { writeWhole } from './write-file.ts';

/** `journal.aside-0a1b2c3d.jsonl`, `journal.aside-0a1b2c3d-2.jsonl`, `journal.1.bak.jsonl`. */
const asideName = /^journal\.(?:aside-[0-9a-f]{8}(?:-\d+)?|\d+\.bak)\.jsonl$/;

/** Error codes of file systems without hard links. */
const noHardLinkCodes = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV'];

const newline = 0x0a;

interface JournalReplacement {
  run: string;
  /** The journal as it was read. */
  old: Uint8Array;
  next: Uint8Array;
  nonce: string;
  /** The name for the old journal; called again while the name is taken. */
  nameOf(attempt: number): string;
}

/**
 * Replaces the journal atomically and durably; returns the name of the old journal. The old journal gets its second name
 * before it loses the first, so that it also has batches of writers that did not wait for the lock. Such a writer does
 * not find its line in the new journal and decides again. Throws `busy` if the journal changed meanwhile. The caller
 * holds `RunFiles.withReplaceLock`.
 */
export async function replaceJournal(
  files: Files,
  { root, journal }: RunPaths,
  { run, old, next, nonce, nameOf }: JournalReplacement,
): Promise<string> {
  const temporary = `${journal}.${nonce}.tmp`;
  try {
    // Extra newlines shift every offset, so that a process that knows old offsets reads the whole new journal.
    await writeWhole(files, temporary, Buffer.concat([Buffer.alloc(leadingNewlines(old), newline), next]));
    await files.sync(temporary);
    const name = await setAside(files, journal, root, nameOf);
    if ((await files.size(journal)) !== old.length) {
      await files.remove(join(root, name));
      throw new StepfastError('busy', `${run} was changed by another process. Try again.`);
    }
    await files.rename(temporary, journal);
    await files.syncDirectory(dirname(journal));
    return name;
  } catch (error) {
    await files.remove(temporary).catch(() => {});
    throw error;
  }
}

/** `next` starts with a newline of its own, so the new journal always has one more than the old one. */
function leadingNewlines(old: Uint8Array): number {
  const first = old.findIndex((byte) => byte !== newline);
  return first < 0 ? old.length : first;
}

async function setAside(
  files: Files,
  journal: string,
  root: string,
  nameOf: (attempt: number) => string,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const name = nameOf(attempt);
    try {
      await keepCopy(files, journal, join(root, name));
      await files.syncDirectory(root);
      return name;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

async function keepCopy(files: Files, journal: string, path: string): Promise<void> {
  try {
    await files.link(journal, path);
  } catch (error) {
    if (!noHardLinkCodes.includes(String(codeOf(error)))) throw error;
    await writeWhole(files, path, (await files.read(journal)) ?? new Uint8Array());
    await files.sync(path);
  }
}

/** Whether the snapshot belongs to a replaced journal: then it is outdated, and nothing is lost. */
export async function isSetAside(files: Files, root: string, { seq, hash }: Snapshot): Promise<boolean> {
  for (const name of (await files.names(root)).filter((each) => asideName.test(each))) {
    const lines = parseLines((await files.read(join(root, name))) ?? new Uint8Array());
    if (lines.some((found) => found.kind === 'line' && found.line.seq === seq && found.hash === hash))
      return true;
  }
  return false;
}
