import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../machine/index.ts';
import type { LocalRuntime } from '../../runtime/index.ts';

type Branch = NonNullable<Awaited<ReturnType<LocalRuntime['store']['check']>>>['branches'][number];

/** A batch that exists in only one of several histories. */
export interface OwnBatch {
  seq: number;
  now: number;
  events: Event[];
}

interface Line extends OwnBatch {
  prev: string;
  sum: string;
}

/** The batches that only this history has; empty if the journal is unreadable. */
export function ownBatches({ project }: LocalRuntime, run: string, { id, from, to }: Branch): OwnBatch[] {
  const lines = readLines(join(project.directory, 'runs', run, 'journal.jsonl'));
  const own: OwnBatch[] = [];
  let line = lines.find(({ seq, sum }) => seq === to && sum.startsWith(id));
  while (line && line.seq >= from) {
    const { seq, now, events, prev } = line;
    own.unshift({ seq, now, events });
    line = lines.find((each) => each.sum === prev && each.seq === seq - 1);
  }
  return own;
}

function readLines(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => {
      try {
        const line: unknown = JSON.parse(text);
        return isLine(line) ? [line] : [];
      } catch {
        return [];
      }
    });
}

/** Checks only the fields used here; the store has already verified the line. */
const isLine = (line: unknown): line is Line =>
  typeof line === 'object' &&
  line !== null &&
  'seq' in line &&
  'now' in line &&
  'events' in line &&
  Array.isArray(line.events) &&
  'prev' in line &&
  'sum' in line &&
  typeof line.sum === 'string';
