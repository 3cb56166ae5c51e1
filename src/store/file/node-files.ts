import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { watchFile } from '../../watch-file.ts';
import { codeOf, type Files } from './files.ts';

/** Synchronous inside: for small local files this is faster than the thread pool. */
export function createNodeFiles({ windows = process.platform === 'win32', rename = renameSync } = {}): Files {
  return {
    async read(path, from = 0) {
      return absent(() => withFile(path, 'r', (file) => readFrom(file, from)));
    },
    async size(path) {
      return absent(() => statSync(path).size);
    },
    async append(path, bytes, only) {
      if (!only) return withFile(path, 'a', (file) => writeSync(file, bytes));
      const look = (file: number): number =>
        only.holds(readFrom(file, only.from)) ? writeSync(file, bytes) : -1;
      return absent(() => withFile(path, constants.O_RDWR | constants.O_APPEND, look)) ?? -1;
    },
    async create(path, bytes) {
      return withFile(path, 'wx', (file) => writeSync(file, bytes));
    },
    async sync(path) {
      withFile(path, 'r+', fdatasyncSync);
    },
    async syncDirectory(path) {
      // Windows cannot sync a directory and makes names durable itself.
      if (!windows) withFile(path, 'r', fsyncSync);
    },
    async rename(from, to) {
      // On Windows a virus scanner or a reader may lock the target briefly.
      for (let waited = 0; ; waited += 20) {
        try {
          return rename(from, to);
        } catch (error) {
          const code = codeOf(error);
          if (!windows || waited >= 1000 || !(code === 'EPERM' || code === 'EBUSY' || code === 'EACCES'))
            throw error;
        }
        await sleep(20);
      }
    },
    async link(from, to) {
      linkSync(from, to);
    },
    async makeDirectory(path) {
      mkdirSync(path);
    },
    async names(path) {
      return absent(() => readdirSync(path)) ?? [];
    },
    async remove(path) {
      rmSync(path, { recursive: true, force: true, maxRetries: windows ? 10 : 0 });
    },
    async sleep(ms) {
      await sleep(ms);
    },
    watch: watchFile,
  };
}

/** Hooks hardly ever wait, so this avoids loading timers/promises. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function withFile<T>(path: string, flags: string | number, action: (file: number) => T): T {
  const file = openSync(path, flags);
  try {
    return action(file);
  } finally {
    closeSync(file);
  }
}

function readFrom(file: number, from: number): Uint8Array {
  const size = Math.max(0, fstatSync(file).size - from);
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const taken = readSync(file, bytes, filled, size - filled, from + filled);
    if (taken === 0) break;
    filled += taken;
  }
  return bytes.subarray(0, filled);
}

function absent<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
