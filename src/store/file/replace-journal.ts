import { dirname, join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import { codeOf, type Files } from './files.ts';
import { parseLines } from './journal.ts';
import type { RunPaths } from './run-paths.ts';
import type { Snapshot } from './state-file.ts';
import { writeWhole } from './write-file.ts';

/** `journal.aside-0a1b2c3d.jsonl`, `journal.aside-0a1b2c3d-2.jsonl`, `journal.1.bak.jsonl`. */
const asideName = /^journal\.(?:aside-[0-9a-f]{8}(?:-\d+)?|\d+\.bak)\.jsonl$/;

/** What a file system without hard links says. */
const noHardLinkCodes = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV'];

const newline = 0x0a;

interface JournalReplacement {
  run: string;
  /** The journal as it was read. */
  old: Uint8Array;
  next: Uint8Array;
  nonce: string;
  /** For the old one; a further name is asked for while the one before is taken. */
  nameOf(attempt: number): string;
}

/**
 * Puts another journal in the place of the one that was read, as a whole and durably, and answers under which name the
 * old one is kept. There is a journal at every moment. The old one gets a second name before it loses its own, so that
 * what a writer adds that did not wait for the lock is in there too; whoever looks for its line after that does not
 * find it and decides again. Throws `busy` where somebody wrote meanwhile. One at a time: `RunFiles.replacing`.
 */
export async function replaceJournal(
  files: Files,
  { root, journal }: RunPaths,
  { run, old, next, nonce, nameOf }: JournalReplacement,
): Promise<string> {
  const temporary = `${journal}.${nonce}.tmp`;
  try {
    // Whoever knows lines by their place in the old file finds none of them: it reads all, and makes the name durable.
    await writeWhole(files, temporary, Buffer.concat([Buffer.alloc(leadingNewlines(old), newline), next]));
    await files.sync(temporary);
    const name = await setAside(files, journal, root, nameOf);
    if ((await files.size(journal)) !== old.length) {
      await files.remove(join(root, name));
      throw new StepfastError('busy', `${run} was changed by others meanwhile. Try again.`);
    }
    await files.rename(temporary, journal);
    await files.syncDirectory(dirname(journal));
    return name;
  } catch (error) {
    await files.remove(temporary).catch(() => {});
    throw error;
  }
}

/** `next` begins with a blank line of its own, so it always has one more. */
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

/** Whether the snapshot is of a history that another took the place of: it is out of date, and nothing is lost. */
export async function isSetAside(files: Files, root: string, { seq, hash }: Snapshot): Promise<boolean> {
  for (const name of (await files.names(root)).filter((each) => asideName.test(each))) {
    const lines = parseLines((await files.read(join(root, name))) ?? new Uint8Array());
    if (lines.some((found) => found.kind === 'line' && found.line.seq === seq && found.hash === hash))
      return true;
  }
  return false;
}
