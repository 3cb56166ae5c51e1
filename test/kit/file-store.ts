import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileStore, type FileStore } from '../../src/store/file/file-store.ts';
import type { Files } from '../../src/store/file/files.ts';
import { createNodeFiles } from '../../src/store/file/node-files.ts';
import { sampleRun } from './sample-run.ts';

/** A directory that is removed after the test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'stepfast-store-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Without syncs, which unit tests do not need. */
export function unsyncedFiles(): Files {
  return { ...createNodeFiles(), sync: async () => {}, syncDirectory: async () => {} };
}

/** Crashes at the n-th call, before it or after half of its bytes, and fails all later calls. */
export function dyingFiles(
  at: number,
  { half = true, files = unsyncedFiles() }: { half?: boolean; files?: Files } = {},
): { files: Files; died: () => boolean } {
  let calls = 0;
  const died = (): boolean => calls >= at;
  const step = async <T>(whole: () => Promise<T>, torn?: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls === at && half && torn) await torn();
    if (died()) throw new Error('crashed');
    return whole();
  };
  const part = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1);
  return {
    died,
    files: {
      read: (path, from) => step(() => files.read(path, from)),
      size: (path) => step(() => files.size(path)),
      append: (path, bytes, only) =>
        step(
          () => files.append(path, bytes, only),
          () => files.append(path, part(bytes), only),
        ),
      create: (path, bytes) =>
        step(
          () => files.create(path, bytes),
          () => files.create(path, part(bytes)),
        ),
      sync: (path) => step(() => files.sync(path)),
      syncDirectory: (path) => step(() => files.syncDirectory(path)),
      rename: (from, to) =>
        step(
          () => files.rename(from, to),
          () => files.rename(from, to),
        ),
      link: (from, to) =>
        step(
          () => files.link(from, to),
          () => files.link(from, to),
        ),
      makeDirectory: (path) =>
        step(
          () => files.makeDirectory(path),
          () => files.makeDirectory(path),
        ),
      names: (path) => step(() => files.names(path)),
      // A directory may be partially removed.
      remove: (path) =>
        step(
          () => files.remove(path),
          () => files.remove(basename(path) === sampleRun ? join(path, 'outputs') : path),
        ),
      sleep: (ms) => step(() => files.sleep(ms)),
    },
  };
}

/** A separate store over the directory, as in another process. */
export function openStore(
  directory: string,
  { files = unsyncedFiles(), machine = 'here' }: { files?: Files; machine?: string } = {},
): FileStore {
  const process = randomBytes(6).toString('hex');
  let asked = 0;
  const nonce = (): string => {
    asked += 1;
    return `${process}x${asked}`;
  };
  return createFileStore({ directory, files, machine, nonce });
}
