import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Carried } from '../../src/store/file/carried.ts';
import type { Files } from '../../src/store/file/files.ts';
import { encodeLine, genesis } from '../../src/store/file/journal.ts';
import { openStore, temporaryDirectory, unsyncedFiles } from '../../src/store/file/temporary.ts';
import { createFileTransfer, type FileTransfer } from '../../src/store/file/transfer.ts';
import { begin, note } from './sample-run.ts';

export const run = 'sample-1-abcd';

/** Nobody waits for the lock of somebody who crashed. */
export const impatient = (): Files => ({ ...unsyncedFiles(), sleep: async () => {} });

export const transferOf = (directory: string, files: Files = impatient()): FileTransfer =>
  createFileTransfer({ directory, files, machine: 'here', nonce: () => randomBytes(6).toString('hex') });

export interface Machine {
  directory: string;
  say(...texts: string[]): Promise<void>;
  carried(): Promise<Carried>;
  transfer: FileTransfer;
}

export function machine(name: string, directory = join(temporaryDirectory(), 'runs')): Machine {
  const store = openStore(directory, { machine: name });
  const transfer = transferOf(directory);
  return {
    directory,
    transfer,
    say: async (...texts) => {
      for (const text of texts) await note(store, run, text);
    },
    carried: async () => {
      const found = await transfer.read(run);
      if (!found) throw new Error('there is no run');
      return found;
    },
  };
}

export async function begun(...texts: string[]): Promise<Machine> {
  const here = machine('a');
  await begin(openStore(here.directory, { machine: 'a' }), run);
  await here.say(...texts);
  return here;
}

/** Another machine that has what the first one has now. */
export function copyOf({ directory }: Machine): Machine {
  const other = join(temporaryDirectory(), 'runs');
  cpSync(directory, other, { recursive: true });
  return machine('b', other);
}

export const none = new Map<string, Uint8Array>();

export const journal = ({ directory }: Machine): string[] =>
  readFileSync(join(directory, run, 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);

/** Does something before the first call of one kind on a path that ends so. */
export function meanwhile(call: 'rename' | 'size', end: string, act: () => Promise<unknown>): Files {
  const files = impatient();
  let done = false;
  const once = async (kind: typeof call, path: string): Promise<void> => {
    if (done || kind !== call || !path.endsWith(end)) return;
    done = true;
    await act();
  };
  return {
    ...files,
    rename: async (from, to) => {
      await once('rename', to);
      await files.rename(from, to);
    },
    size: async (path) => {
      await once('size', path);
      return files.size(path);
    },
  };
}

export const sealed = (content: object): string =>
  Buffer.from(encodeLine(content as never).bytes)
    .toString()
    .trim();

export const begins = { seq: 1, prev: genesis(run), machine: 'm', nonce: 'n', now: 1, events: [] };

/** A valid line that says what it likes. */
export function after(lines: readonly string[], more: object): string {
  const prev = JSON.parse(lines.at(-1) ?? '').sum;
  return sealed({ ...begins, seq: lines.length + 1, prev, ...more });
}
