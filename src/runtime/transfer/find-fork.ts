import type { Event, State } from '../../machine/index.ts';
import type { HistoryLine } from '../../store/index.ts';

/** One of two histories, from the fork on. */
export interface Side {
  /** Batches of its own. */
  batches: number;
  seq: number;
  now: number;
  /** `agent one`, `person ada`. */
  author: string;
  machine: string;
  state: State;
  /** Of its own batches. */
  events: Event[];
}

/** Two histories of one run. */
export interface Fork {
  /** The last common batch; absent if there is none. */
  common?: { seq: number; now: number };
  here: Side;
  there: Side;
}

interface History {
  lines: readonly HistoryLine[];
  state: State;
}

export function forkOf(mine: History, theirs: History, common: number): Fork {
  const last = mine.lines[common - 1];
  return {
    ...(last ? { common: { seq: last.seq, now: last.now } } : {}),
    here: sideOf(mine, common),
    there: sideOf(theirs, common),
  };
}

/** The end of a history: when, by whom and on which machine. Actions of the engine count for the caller before it. */
export function sideOf({ lines, state }: History, common: number): Side {
  const last = lines.at(-1);
  const said = lines.findLast(({ actor }) => actor?.kind !== 'engine') ?? last;
  return {
    batches: lines.length - common,
    seq: last?.seq ?? 0,
    now: last?.now ?? 0,
    author: said ? authorOf(said) : '',
    machine: said ? machineOf(said, state) : '',
    state,
    events: lines.slice(common).flatMap(({ events }) => events),
  };
}

function authorOf({ actor, session }: HistoryLine): string {
  const kind = actor?.kind ?? 'agent';
  if (kind === 'engine') return 'stepfast';
  const name = actor?.name ?? session;
  return name === undefined ? kind : `${kind} ${name}`;
}

/** The host name of the session, otherwise the machine id of the journal. */
function machineOf({ session, machine }: HistoryLine, { sessions }: State): string {
  const known = session !== undefined && Object.hasOwn(sessions, session) ? sessions[session] : undefined;
  return known?.environment?.hostname ?? known?.environment?.machine ?? machine;
}
