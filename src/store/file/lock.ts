import { codeOf, type Files } from './files.ts';

const patience = 200;
const longestPause = 20;

/**
 * Saves writers from each other's lost races and nothing more: whoever waits in vain goes on without it, and takes
 * it away where it has not changed hands meanwhile.
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

/** Nobody else's is removed. */
async function release(files: Files, path: string, owner: Uint8Array): Promise<void> {
  try {
    if (same(await files.read(path), owner)) await files.remove(path);
  } catch {
    // A lock that stays is taken away by the next writer.
  }
}

const same = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
