import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { lastKnownRun } from '../../hooks/index.ts';
import type { Definition, Event, State } from '../../machine/index.ts';
import type { Project } from '../../workspace/index.ts';

/** A run as its last writer left it, not verified against the journal. */
export interface RunSummary {
  phase: { current: number; total: number; name: string };
  state: State;
  definition: Definition | undefined;
}

export interface LastGate {
  pass: boolean;
  /** The failed gate, else the last one. */
  what: string;
  at: number;
}

/** How much of the journal's end is read. */
const tailBytes = 96 * 1024;

export function readRun(project: Project, run: string): RunSummary | undefined {
  try {
    const read = JSON.parse(readFileSync(fileOf(project, run, 'state.json'), 'utf8'));
    // Only the store writes this file.
    return { phase: read.phase, state: read.snapshot.state as State, definition: definitionOf(project, run) };
  } catch {
    // A run on a server has no such file; hooks cache its last known state.
    const known = lastKnownRun(project, run);
    return known && { phase: known.phase, state: known.view.state, definition: known.view.definition };
  }
}

function definitionOf(project: Project, run: string): Definition | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(project, run, 'workflow.json'), 'utf8')).definition;
  } catch {
    return undefined;
  }
}

/** The last gate result in the journal's end. */
export function lastGate(project: Project, run: string): LastGate | undefined {
  const lines = tailOf(fileOf(project, run, 'journal.jsonl'))
    .split('\n')
    .reverse();
  for (const line of lines.filter((each) => each.includes('"gates.finished"'))) {
    const finished = eventsIn(line).findLast(
      (event) => event.type === 'gates.finished' && !isBaseline(event),
    );
    if (finished?.type !== 'gates.finished') continue;
    const { pass, receipts, now } = finished;
    const shown = receipts.find((receipt) => !receipt.pass) ?? receipts.at(-1);
    return shown && { pass, what: shown.what, at: now };
  }
  return undefined;
}

/** It says nothing about the work. */
const isBaseline = ({ receipts }: Extract<Event, { type: 'gates.finished' }>): boolean =>
  receipts.some(({ role }) => role === 'baseline');

const fileOf = ({ directory }: Project, run: string, name: string): string =>
  join(directory, 'runs', run, name);

function tailOf(file: string): string {
  let open: number | undefined;
  try {
    open = openSync(file, 'r');
    const { size } = fstatSync(open);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    const length = readSync(open, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, length);
  } catch {
    return '';
  } finally {
    if (open !== undefined) closeSync(open);
  }
}

/** Empty for a torn or partially read line. */
function eventsIn(line: string): Event[] {
  try {
    const { events } = JSON.parse(line);
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}
