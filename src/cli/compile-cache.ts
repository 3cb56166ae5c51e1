import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

interface User {
  /** Throws for a user without an account, as in some containers. */
  home(): string;
  env: Readonly<Record<string, string | undefined>>;
  /** Undefined on Windows, where a user's folders are the user's. */
  uid: number | undefined;
}

/** Saves a fifth of a command's processor time, and never fails a command. An old Node runs this, too. */
export function useCompileCache(): void {
  const { env } = process;
  // What the user has set is Node's own business.
  if (env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE) return;
  const folder = compileCacheFolder({ home: homedir, env, uid: process.getuid?.() });
  // Not by the variable: gates and agents would inherit it.
  if (folder !== undefined) nodeModule.enableCompileCache?.(folder);
}

/** Created if needed. Undefined if another user could write there: what is in it is run. */
export function compileCacheFolder({ home, env, uid }: User): string | undefined {
  const isPrivate = (found: Stats): boolean =>
    found.isDirectory() && (uid === undefined || (found.uid === uid && (found.mode & 0o022) === 0));
  // Whoever can write there can replace the folder after it was checked. In a sticky folder only its owner can.
  const isSafeParent = ({ uid: owner, mode }: Stats): boolean =>
    uid === undefined || ((owner === uid || owner === 0) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0));
  try {
    const cache = env.XDG_CACHE_HOME || join(home(), '.cache');
    const ours = join(cache, 'stepfast');
    const folder = join(ours, 'compiled');
    // A relative one would be in the repository that this runs in.
    if (!isAbsolute(cache)) return undefined;
    if (!isSafeParent(statSync(dirname(cache)))) return undefined;
    // Under sudo the home is another user's, and nothing is created there.
    if (isPrivate(statSync(dirname(cache)))) makePrivate(cache);
    if (!isPrivate(statSync(cache))) return undefined;
    for (const path of [ours, folder]) {
      makePrivate(path);
      if (!isPrivate(lstatSync(path))) return undefined;
    }
    return folder;
  } catch {
    return undefined;
  }
}

function makePrivate(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch {
    // It exists, or the caller's look at it fails.
  }
}
