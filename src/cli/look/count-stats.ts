import { type HookEvent, hookEvents } from '../../hooks/index.ts';
import { type Event, ended } from '../../machine/index.ts';
import { type LocalRuntime, refusalsIn } from '../../runtime/index.ts';

/** What Stepfast did in a project, counted from its journals and from what its hooks wrote down. */
export interface Tally {
  /** undefined: nothing ever happened. */
  since: number | undefined;
  runs: { all: number; live: number; complete: number; unreadable: number };
  /** Somebody said "done", and the gates were red. */
  falseDone: number;
  /** Positions that were completed, and those of them with a green gate. */
  completed: number;
  verified: number;
  /** A call from where the run did not stand, and a verdict on one's own work. */
  skipsRefused: number;
  verdictsRefused: number;
  compactions: number;
  clears: number;
  /** Of what the summaries were asked to keep. */
  factsAsked: number;
  factsLost: number;
  injected: number;
  proven: number;
  repaired: number;
  /** Repaired because they had arrived cut. */
  cut: number;
  gaveUp: number;
  stopsHeld: number;
  toolsDenied: number;
  approvals: number;
  rejections: number;
  answers: number;
  hookErrors: number;
}

export async function tallyOf({ engine, project }: Pick<LocalRuntime, 'engine' | 'project'>): Promise<Tally> {
  const tally = nothing();
  const seen = (now: number): void => {
    tally.since = Math.min(tally.since ?? now, now);
  };
  for (const { run, state } of await engine.runs({ ended: true })) {
    tally.runs.all += 1;
    if (!state) {
      tally.runs.unreadable += 1;
      continue;
    }
    if (!ended(state)) tally.runs.live += 1;
    if (state.status === 'complete') tally.runs.complete += 1;
    const approvals = new Set<string>();
    for (const { now, events, actor } of await engine.entries(run).catch(() => []))
      for (const event of events) {
        seen(now);
        countEvent(tally, event, { approvals, person: actor?.kind === 'person' });
      }
  }
  for (const { now, code } of refusalsIn(project.directory)) {
    seen(now);
    if (code === 'own_work' || code === 'person_only') tally.verdictsRefused += 1;
    else tally.skipsRefused += 1;
  }
  for (const entry of hookEvents(project)) {
    seen(entry.now);
    countHook(tally, entry);
  }
  return tally;
}

const nothing = (): Tally => ({
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

function countEvent(
  tally: Tally,
  event: Event,
  { approvals, person }: { approvals: Set<string>; person: boolean },
): void {
  switch (event.type) {
    case 'gates.requested':
      // What a person says or approves is no agent's claim.
      if (event.approval || person) approvals.add(event.id);
      break;
    case 'gates.finished':
      if (!event.pass && !approvals.has(event.id)) tally.falseDone += 1;
      break;
    case 'position.completed':
      tally.completed += 1;
      if (event.receipts.some(({ pass }) => pass)) tally.verified += 1;
      break;
    case 'session.reset':
      if (event.saw === 'compact') tally.compactions += 1;
      else tally.clears += 1;
      break;
    case 'compaction.recorded':
      tally.factsAsked += event.asked;
      tally.factsLost += event.asked - event.found;
      break;
    case 'stop.held':
      tally.stopsHeld += 1;
      break;
    case 'review.decided':
      if (!person) break;
      if (event.verdict === 'approve') tally.approvals += 1;
      else tally.rejections += 1;
      break;
    case 'question.answered':
      tally.answers += 1;
      break;
  }
}

function countHook(tally: Tally, entry: HookEvent): void {
  switch (entry.what) {
    case 'injected':
      tally.injected += 1;
      break;
    case 'repaired':
      tally.repaired += 1;
      if (entry.why === 'cut') tally.cut += 1;
      break;
    case 'proven':
      tally.proven += 1;
      break;
    case 'gave_up':
      tally.gaveUp += 1;
      break;
    case 'held':
      // A run's own are in its journal.
      if (entry.run === '') tally.stopsHeld += 1;
      break;
    case 'denied':
      tally.toolsDenied += 1;
      break;
    case 'error':
      tally.hookErrors += 1;
      break;
  }
}
