import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeLine } from '../../src/store/file/journal.ts';
import { temporaryDirectory } from './file-store.ts';

export const run = 'sample-1-abcd';

export function newStoreDirectory(): { directory: string; journal: string } {
  const directory = join(temporaryDirectory(), '.stepfast', 'runs');
  return { directory, journal: join(directory, run, 'journal.jsonl') };
}

export const lines = (journal: string): string[] => readFileSync(journal, 'utf8').split('\n').filter(Boolean);

/** A valid line that no store wrote. */
export function forged(seq: number, prev: string, { machine = 'here', nonce = 'forged' } = {}) {
  const note = { type: 'note.added' as const, id: `f${seq}`, kind: 'variable' as const, key: 'said', now: 5 };
  return encodeLine({ seq, prev, machine, nonce, now: 5, events: [{ ...note, text: nonce }] });
}
