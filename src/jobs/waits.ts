import { type Event, ended, type State } from '../machine/index.ts';
import type { Reminded } from './queues.ts';

type Began = Omit<Reminded, 'count'>;

/** The waits that began with these events and that a person may have to end. */
export function waitsBegun(events: readonly Event[]): Began[] {
  const begun = events.flatMap((event): Began[] => {
    const { now: since } = event;
    switch (event.type) {
      case 'review.requested':
      case 'position.blocked':
      case 'question.asked':
        return [{ of: 'position', since }];
      case 'review.decided':
        return event.verdict === 'escalate' ? [{ of: 'escalation', since }] : [];
      case 'budget.exhausted':
      case 'run.blocked':
        return [{ of: 'run', since }];
      default:
        return [];
    }
  });
  return begun.filter(({ of }, index) => begun.findIndex((other) => other.of === of) === index);
}

/** Whether that very wait still lasts, and is a person's. */
export function stillWaits(state: State, { of, since }: Began): boolean {
  if (ended(state)) return false;
  if (of === 'run') return state.budget.exhausted !== undefined || state.blocked !== undefined;
  return Object.values(state.cursors).some(({ waiting }) => {
    if (!waiting) return false;
    const escalated = waiting.kind === 'review' && waiting.escalated !== undefined;
    if (of === 'escalation') return escalated && waiting.since <= since;
    const persons = waiting.kind !== 'review' || waiting.by === 'human';
    return persons && !escalated && waiting.since === since;
  });
}
