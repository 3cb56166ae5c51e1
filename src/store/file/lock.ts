import { hash } from 'node:crypto';
import { StepfastError } from '../../errors.ts';
import { codeOf, type Files } from './files.ts';

const patience = 200;
const longestPause = 20;
const exclusivePause = 25;

/**
 * An advisory lock that only reduces lost races. A writer that waits too long continues without it, and removes it if
 * its holder did not change meanwhile.
 */
export async function withLock<T>(
  files: Files,
  path: string,
  owner: string,
  action: () => Promise<T>,
): Promise<T> {
  const bytes = Buffer.from(owner);
  const held = await acquire(files, path, bytes);
  try {
    return await action();
  } finally {
    if (held) await release(files, path, bytes);
  }
}

/**
 * A mandatory lock: throws `busy` if it cannot be acquired. A lock whose holder does not change for `patience` was left
 * by a crash and is removed.
 */
export async function withExclusive<T>(
  files: Files,
  { path, owner, what, patience: longest }: { path: string; owner: string; what: string; patience: number },
  action: () => Promise<T>,
): Promise<T> {
  const bytes = Buffer.from(owner);
  const deadline = 2 * longest;
  let holder: Uint8Array | undefined;
  for (let waited = 0, since = 0; (await attempt(files, path, bytes)) === 'taken'; ) {
    const now = await files.read(path);
    if (!same(now, holder)) since = waited;
    holder = now;
    if (waited > deadline)
      throw new StepfastError('busy', `${what} is being changed by another process. Try again.`);
    if (holder && waited - since >= longest) await removeStale(files, path, holder, owner);
    else await files.sleep(exclusivePause);
    waited += exclusivePause;
  }
  try {
    return await action();
  } finally {
    await release(files, path, bytes);
  }
}

/** Only one of several waiting processes gets it; a lock of another holder is put back. */
async function removeStale(files: Files, path: string, holder: Uint8Array, owner: string): Promise<void> {
  const taken = `${path}.${hash('sha256', owner, 'hex').slice(0, 12)}.tmp`;
  try {
    await files.rename(path, taken);
    if (!same(await files.read(taken), holder)) await files.link(taken, path);
    await files.remove(taken);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  }
}

async function acquire(files: Files, path: string, owner: Uint8Array): Promise<boolean> {
  try {
    const first = await attempt(files, path, owner);
    if (first === 'held') return true;
    const holder = await files.read(path);
    for (
      let waited = 0, pause = 1;
      waited < patience;
      waited += pause, pause = Math.min(pause * 2, longestPause)
    ) {
      await files.sleep(pause);
      if ((await attempt(files, path, owner)) === 'held') return true;
    }
    if (!same(await files.read(path), holder)) return false;
    await files.remove(path);
    return (await attempt(files, path, owner)) === 'held';
  } catch {
    return false;
  }
}

async function attempt(files: Files, path: string, owner: Uint8Array): Promise<'held' | 'taken'> {
  try {
    await files.create(path, owner);
    return 'held';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'taken';
    throw error;
  }
}

/** Removes only the caller's own lock. */
async function release(files: Files, path: string, owner: Uint8Array): Promise<void> {
  try {
    if (same(await files.read(path), owner)) await files.remove(path);
  } catch {
    // The next writer removes a lock that stays.
  }
}

const same = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
