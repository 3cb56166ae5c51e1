import { type Event, ended, type State, usedUp } from '../machine/index.ts';
import type { Reminded } from './queues.ts';

type Began = Omit<Reminded, 'count'>;

/** The waits started by these events that a person may have to resolve. */
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

/** Whether this wait is still open and needs a person. */
export function stillWaits(state: State, { of, since }: Began): boolean {
  if (ended(state)) return false;
  if (of === 'run') return usedUp(state) !== undefined || state.blocked !== undefined;
  return Object.values(state.cursors).some(({ waiting }) => {
    if (!waiting) return false;
    const escalated = waiting.kind === 'review' && waiting.escalated !== undefined;
    if (of === 'escalation') return escalated && waiting.since <= since;
    const needsPerson = waiting.kind !== 'review' || waiting.by === 'human';
    return needsPerson && !escalated && waiting.since === since;
  });
}
