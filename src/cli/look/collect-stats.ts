import { type HookLogEntry, hookLogEntries } from '../../hooks/index.ts';
import { type Event, ended } from '../../machine/index.ts';
import { falseDoneIn, type LocalRuntime, refusalsIn } from '../../runtime/index.ts';

/** Counts from the journals and hook logs of a project. */
export interface Stats {
  /** Time of the first event; undefined if there is none. */
  since: number | undefined;
  runs: { all: number; live: number; complete: number; unreadable: number };
  /** An agent claimed completion, and gates failed. */
  falseDone: number;
  /** Completed positions, and those with a green gate. */
  completed: number;
  verified: number;
  /** Refused calls for another position, and refused verdicts on the agent's own work. */
  skipsRefused: number;
  verdictsRefused: number;
  compactions: number;
  clears: number;
  /** Facts that compaction summaries were asked to keep, and those they lost. */
  factsAsked: number;
  factsLost: number;
  injected: number;
  proven: number;
  repaired: number;
  /** Repaired because the briefing arrived truncated. */
  cut: number;
  gaveUp: number;
  stopsHeld: number;
  toolsDenied: number;
  approvals: number;
  rejections: number;
  answers: number;
  hookErrors: number;
}

export async function collectStats({
  engine,
  project,
}: Pick<LocalRuntime, 'engine' | 'project'>): Promise<Stats> {
  const stats = nothing();
  const seen = (now: number): void => {
    stats.since = Math.min(stats.since ?? now, now);
  };
  for (const { run, state } of await engine.runs({ ended: true })) {
    stats.runs.all += 1;
    if (!state) {
      stats.runs.unreadable += 1;
      continue;
    }
    if (!ended(state)) stats.runs.live += 1;
    if (state.status === 'complete') stats.runs.complete += 1;
    const entries = await engine.entries(run).catch(() => []);
    stats.falseDone += falseDoneIn(entries).length;
    for (const { now, events, actor } of entries)
      for (const event of events) {
        seen(now);
        countEvent(stats, event, actor?.kind === 'person');
      }
  }
  for (const { now, code } of refusalsIn(project.directory)) {
    seen(now);
    if (code === 'own_work' || code === 'person_only') stats.verdictsRefused += 1;
    else stats.skipsRefused += 1;
  }
  for (const entry of hookLogEntries(project)) {
    seen(entry.now);
    countHook(stats, entry);
  }
  return stats;
}

const nothing = (): Stats => ({
  since: undefined,
  runs: { all: 0, live: 0, complete: 0, unreadable: 0 },
  falseDone: 0,
  completed: 0,
  verified: 0,
  skipsRefused: 0,
  verdictsRefused: 0,
  compactions: 0,
  clears: 0,
  factsAsked: 0,
  factsLost: 0,
  injected: 0,
  proven: 0,
  repaired: 0,
  cut: 0,
  gaveUp: 0,
  stopsHeld: 0,
  toolsDenied: 0,
  approvals: 0,
  rejections: 0,
  answers: 0,
  hookErrors: 0,
});

function countEvent(stats: Stats, event: Event, person: boolean): void {
  switch (event.type) {
    case 'position.completed':
      stats.completed += 1;
      if (event.receipts.some(({ pass }) => pass)) stats.verified += 1;
      break;
    case 'session.reset':
      if (event.saw === 'compact') stats.compactions += 1;
      else stats.clears += 1;
      break;
    case 'compaction.recorded':
      stats.factsAsked += event.asked;
      stats.factsLost += event.asked - event.found;
      break;
    case 'stop.held':
      stats.stopsHeld += 1;
      break;
    case 'review.decided':
      if (!person) break;
      if (event.verdict === 'approve') stats.approvals += 1;
      else stats.rejections += 1;
      break;
    case 'question.answered':
      stats.answers += 1;
      break;
  }
}

function countHook(stats: Stats, entry: HookLogEntry): void {
  switch (entry.what) {
    case 'injected':
      stats.injected += 1;
      break;
    case 'repaired':
      stats.repaired += 1;
      if (entry.why === 'cut') stats.cut += 1;
      break;
    case 'proven':
      stats.proven += 1;
      break;
    case 'gave_up':
      stats.gaveUp += 1;
      break;
    case 'held':
      // Stops of a run are counted from its journal.
      if (entry.run === '') stats.stopsHeld += 1;
      break;
    case 'denied':
      stats.toolsDenied += 1;
      break;
    case 'error':
      stats.hookErrors += 1;
      break;
  }
}
