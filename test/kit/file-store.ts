import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileStore, type FileStore } from '../../src/store/file/file-store.ts';
import type { Files } from '../../src/store/file/files.ts';
import { createNodeFiles } from '../../src/store/file/node-files.ts';

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
