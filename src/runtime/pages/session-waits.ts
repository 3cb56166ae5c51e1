import { type Event, type EventOf, ended, parseHandle, type State } from '../../machine/index.ts';
import type { StoredEntry } from '../../store/index.ts';
import type { SessionLane } from './pages.ts';

type Wait = SessionLane['waits'][number];
interface OpenWait extends Wait {
  session: string;
  at: string;
  question?: string;
}

/** When each session waited for a person. */
export function sessionWaits(
  state: State,
  entries: readonly Pick<StoredEntry, 'now' | 'session' | 'events'>[],
): Map<string, Wait[]> {
  const waits: OpenWait[] = [];
  let open: OpenWait[] = [];
  /** The session that works at a position: a question may come without one. */
  const workers = new Map<string, string>();
  for (const { session, events } of entries)
    for (const event of events) {
      const at = 'at' in event ? event.at : undefined;
      const worker = ('session' in event ? event.session : undefined) ?? session;
      if (at !== undefined && worker !== undefined && !workers.has(at)) workers.set(at, worker);
      open = open.filter((wait) => {
        if (!endsWait(event, wait)) return true;
        wait.to = event.now;
        return false;
      });
      const begun = waitIn(event, state);
      const waiter = begun && (worker ?? workers.get(begun.at));
      if (!begun || waiter === undefined) continue;
      const wait = { ...begun, session: waiter };
      waits.push(wait);
      open.push(wait);
    }
  const bySession = new Map<string, Wait[]>();
  for (const { session, from, to = ended(state) ? state.updatedAt : undefined, kind } of waits) {
    const wait = { from, ...(to === undefined ? {} : { to }), kind };
    bySession.set(session, [...(bySession.get(session) ?? []), wait]);
  }
  return bySession;
}

function waitIn(event: Event, { sessions }: State): Omit<OpenWait, 'session'> | undefined {
  const { now: from } = event;
  switch (event.type) {
    case 'review.requested':
      return event.by === 'human' ? { from, kind: 'review', at: event.at } : undefined;
    case 'question.asked':
      return { from, kind: 'question', at: event.at, question: event.id };
    case 'position.blocked':
      return { from, kind: 'decision', at: event.at };
    case 'boundary.requested': {
      // A driver makes a fresh context by itself.
      const isDriven = sessions[event.session ?? '']?.witness === 'driver';
      return isDriven ? undefined : { from, kind: 'context', at: event.at };
    }
  }
  return undefined;
}

function endsWait(event: Event, { at, kind, question }: OpenWait): boolean {
  switch (event.type) {
    case 'question.answered':
      return event.id === question;
    case 'boundary.reset':
    case 'boundary.released':
      return event.at === at && kind === 'context';
    case 'review.decided':
    case 'position.completed':
    case 'position.failed':
      return event.at === undefined ? question === undefined : event.at === at;
    case 'position.entered':
      return parseHandle(at)?.path === pathOf(event);
    case 'run.pivoted':
    case 'run.rewound':
      return true;
  }
  return false;
}

const pathOf = ({ step, task, iteration, subStep }: EventOf<'position.entered'>): string =>
  [step, task ?? iteration, subStep].filter((part) => part !== undefined).join('/');
