import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../../src/store/file/files.ts';
import type { RunHistory } from '../../src/store/file/run-history.ts';
import { createFileTransfer, type FileTransfer } from '../../src/store/file/transfer.ts';
import { openStore, temporaryDirectory, unsyncedFiles } from './file-store.ts';
import { begin, note, sampleRun } from './sample-run.ts';

export const run = sampleRun;

/** Sleeping takes no time, so that waiting for a crashed process's lock is instant. */
export const impatient = (): Files => ({ ...unsyncedFiles(), sleep: async () => {} });

export const transferOf = (directory: string, files: Files = impatient()): FileTransfer =>
  createFileTransfer({ directory, files, machine: 'here', nonce: () => randomBytes(6).toString('hex') });

export interface Machine {
  directory: string;
  say(...texts: string[]): Promise<void>;
  history(): Promise<RunHistory>;
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
    history: async () => {
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

/** Another machine with a copy of the first one's run. */
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
