import { type ContextAction, type Event, parseHandle, pathOf } from '../../machine/index.ts';
import { mergeFailedText } from '../../messages/index.ts';
import type { HistoryEntry } from './false-done.ts';
import type {
  BoundaryReport,
  DecisionReport,
  FailureReport,
  QuestionReport,
  Report,
  SpentReport,
} from './report.ts';

type FromHistory = Pick<Report, 'failures' | 'retries' | 'boundaries' | 'decisions' | 'questions' | 'spent'>;

/** What only the events tell. */
export function readHistory(entries: readonly HistoryEntry[]): FromHistory {
  const failures: FailureReport[] = [];
  const decisions: DecisionReport[] = [];
  const boundaries = new Map<string, BoundaryReport>();
  const questions = new Map<string, QuestionReport>();
  const contexts = new Map<string, ContextAction>();
  const spent = { turns: 0, tokens: 0, cost: 0, active_ms: 0 };
  let retries = 0;

  function read(event: Event, { actor }: HistoryEntry, now: string): void {
    switch (event.type) {
      case 'position.entered':
        if (event.context) contexts.set(`${pathOf(event)}#${event.visit}`, event.context);
        if (event.why !== 'next' && event.why !== 'claim') retries += 1;
        return;
      case 'position.prepared':
        if (event.context) contexts.set(placeOf(event.at), event.context);
        return;
      case 'boundary.requested': {
        const { at, policy, downgraded } = event;
        const action = contexts.get(placeOf(at));
        boundaries.set(at, { path: pathIn(at), action, policy, downgraded });
        return;
      }
      case 'boundary.reset': {
        const boundary = boundaries.get(event.at);
        if (boundary) Object.assign(boundary, { performed: event.saw, observed_by: event.by });
        return;
      }
      case 'boundary.released': {
        const boundary = boundaries.get(event.at);
        if (boundary) boundary.released = event.how;
        break;
      }
      case 'budget.spent':
        spent.turns += event.turns;
        spent.tokens += event.tokens;
        spent.active_ms += event.activeMs;
        spent.cost += event.cost ?? 0;
        return;
      case 'question.asked':
        questions.set(event.id, { id: event.id, path: pathIn(event.at), text: event.text });
        return;
      case 'question.answered': {
        const question = questions.get(event.id);
        if (question) Object.assign(question, { answer: event.answer, by: actor?.name });
        return;
      }
    }
    const failure = failureIn(event);
    if (failure) failures.push({ ...failure, now });
    const decision = actor?.kind === 'person' ? decisionIn(event) : undefined;
    if (decision) decisions.push({ now, by: actor?.name ?? 'a person', ...decision });
  }

  for (const entry of entries)
    for (const event of entry.events) read(event, entry, new Date(entry.now).toISOString());
  return {
    failures,
    retries,
    boundaries: [...boundaries.values()],
    decisions,
    questions: [...questions.values()],
    spent: known(spent),
  };
}

/** A host that does not report a figure leaves it at 0. */
function known(spent: Required<SpentReport>): SpentReport {
  return Object.fromEntries(Object.entries(spent).filter(([, amount]) => amount > 0));
}

function failureIn(event: Event): Omit<FailureReport, 'now'> | undefined {
  switch (event.type) {
    case 'position.failed':
      return { what: 'failed', path: pathIn(event.at), reason: event.reason };
    case 'position.blocked':
      return { what: 'blocked', path: pathIn(event.at), reason: event.reason };
    case 'merge.failed':
      return { what: 'not merged', path: `${event.loop}/${event.task}`, reason: mergeFailedText(event) };
    case 'run.blocked':
      return { what: 'blocked', reason: event.reason };
    case 'gates.interrupted':
      // A later call of the agent replaced the check: nothing went wrong.
      return event.why === 'advance'
        ? undefined
        : { what: 'interrupted', path: pathIn(event.id.replace(/!\d+$/, '')), reason: event.why };
    case 'cleanup.finished':
      return event.pass ? undefined : { what: 'cleanup', path: event.step, reason: event.tail ?? '' };
    default:
      return undefined;
  }
}

function decisionIn(event: Event): Omit<DecisionReport, 'now' | 'by'> | undefined {
  switch (event.type) {
    case 'review.decided':
      return {
        what: event.verdict,
        path: event.at === undefined ? undefined : pathIn(event.at),
        text: event.feedback,
      };
    case 'task.dropped':
      return { what: 'drop task', path: `${event.loop}/${event.task}`, text: event.reason };
    case 'budget.extended':
      return {
        what: 'raise budget',
        text: Object.entries(event.amount)
          .map(([unit, more]) => `${more} ${unit}`)
          .join(', '),
      };
    case 'boundary.released':
      return event.how === 'proceeded' ? { what: 'proceed', path: pathIn(event.at) } : undefined;
    case 'run.rewound':
      return { what: 'rewind', path: event.to };
    case 'run.cancelled':
      return { what: 'cancel', text: event.reason };
    default:
      return undefined;
  }
}

const placeOf = (at: string): string => at.slice(at.indexOf(':') + 1);
const pathIn = (at: string): string => parseHandle(at)?.path ?? placeOf(at);
