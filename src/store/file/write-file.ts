import { dirname } from 'node:path';
import { codeOf, type Files } from './files.ts';

/** Creates a file with all bytes, in as many writes as needed. */
export async function writeWhole(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  let taken = await files.create(path, bytes);
  while (taken < bytes.length) {
    const more = await files.append(path, bytes.subarray(taken));
    if (more === 0) throw new Error(`${path}: no more bytes can be written`);
    taken += more;
  }
}

/** Replaces a file atomically; `durable` syncs the bytes and the name. */
export async function replaceFile(
  files: Files,
  { path, temporary, durable }: { path: string; temporary: string; durable: boolean },
  bytes: Uint8Array,
): Promise<void> {
  try {
    await writeWhole(files, temporary, bytes);
    if (durable) await files.sync(temporary);
    await files.rename(temporary, path);
    if (durable) await files.syncDirectory(dirname(path));
  } catch (error) {
    await files.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Creates missing directories and syncs each name. */
export async function makeDirectories(files: Files, path: string): Promise<void> {
  try {
    await files.makeDirectory(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectories(files, dirname(path));
    return makeDirectories(files, path);
  }
  await files.syncDirectory(dirname(path));
}
