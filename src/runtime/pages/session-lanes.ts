import {
  type Definition,
  type Event,
  ended,
  handleOf,
  parseHandle,
  type State,
} from '../../machine/index.ts';
import type { StoredEntry } from '../../store/index.ts';
import { pathTitle } from '../summary/position-title.ts';
import type { SessionLane } from './pages.ts';
import { sessionWaits } from './session-waits.ts';

type HistoryEntry = Pick<StoredEntry, 'now' | 'session' | 'actor' | 'events'>;
type Mark = SessionLane['marks'][number];

/** The sessions of a run over time, the oldest first. */
export function sessionLanes(
  definition: Definition,
  state: State,
  entries: readonly HistoryEntry[],
): SessionLane[] {
  const lanes = new Map<string, SessionLane>();
  /** The session that asked for gates, by their id. */
  const askedBy = new Map<string, string | undefined>();
  const titleOf = (at: string): { path: string; title: string } => {
    const path = parseHandle(at)?.path ?? at;
    return { path, title: pathTitle(definition, state, path) };
  };

  for (const { now, session, events } of entries) {
    for (const event of events) read(event, session);
    const lane = session === undefined ? undefined : lanes.get(session);
    if (lane) reach(lane, now);
  }
  const last = entries.at(-1)?.now ?? state.updatedAt;
  const waits = sessionWaits(state, entries);
  for (const [id, lane] of lanes) {
    lane.waits = waits.get(id) ?? [];
    const open = openAt(id);
    if (open && lane.waits.every(({ to }) => to !== undefined)) work(id, open, lastSeen(lane));
    const endedAt = state.sessions[id]?.endedAt ?? (ended(state) ? lastSeen(lane) : undefined);
    if (endedAt === undefined) reach(lane, last);
    else lane.to = endedAt;
  }
  return [...lanes.values()];

  function read(event: Event, by: string | undefined): void {
    const { now } = event;
    switch (event.type) {
      case 'session.started': {
        const lane: SessionLane = lanes.get(event.session) ?? {
          id: event.session,
          ...(event.host === undefined ? {} : { host: event.host }),
          from: now,
          stretches: [{ from: now, to: now, opened: 'start' as const }],
          work: [],
          waits: [],
          marks: [],
        };
        lanes.set(event.session, lane);
        return;
      }
      case 'session.reset':
        lanes.get(event.session)?.stretches.push({ from: now, to: now, opened: event.saw });
        return;
      case 'gates.requested': {
        const session = event.session ?? by;
        askedBy.set(event.id, session);
        work(session, event.at, now);
        return;
      }
      case 'gates.finished':
        mark(askedBy.get(event.id), {
          now,
          kind: event.pass ? 'green' : 'red',
          text: event.pass ? 'gates passed' : `red: ${red(event.receipts)}`,
        });
        return;
      case 'position.failed':
      case 'position.completed':
        work(event.session ?? by, event.at, now);
        return;
      case 'boundary.requested':
        mark(event.session ?? by, { now, kind: 'boundary', text: titleOf(event.at).title });
        return;
      case 'note.added':
        mark(by, { now, kind: 'note', text: event.text.slice(0, 120) });
        return;
      case 'question.asked':
        work(by, event.at, now);
        mark(by, { now, kind: 'person', text: event.text.slice(0, 120) });
        return;
      case 'review.requested':
        work(event.session ?? by, event.at, now);
        mark(event.session ?? by, { now, kind: 'person', text: `review of ${titleOf(event.at).title}` });
    }
  }

  /** What a session works on now: the task that it holds, or the only position of the run. */
  function openAt(id: string): string | undefined {
    const cursors = Object.values(state.cursors);
    const [newest] = [...lanes.values()].sort((a, b) => lastSeen(b) - lastSeen(a));
    const only = cursors.length === 1 && newest?.id === id ? cursors[0] : undefined;
    const cursor = cursors.find(({ lease }) => lease?.holder === id) ?? only;
    return cursor && handleOf(state, cursor);
  }

  /** The session has worked on it since its last piece of work, or since it began. */
  function work(session: string | undefined, at: string, now: number): void {
    const lane = session === undefined ? undefined : lanes.get(session);
    if (!lane) return;
    const of = titleOf(at);
    const before = lane.work.at(-1);
    if (before?.path === of.path) before.to = now;
    else lane.work.push({ from: before?.to ?? lane.from, to: now, ...of });
  }

  function mark(session: string | undefined, each: Mark): void {
    if (session !== undefined) lanes.get(session)?.marks.push(each);
  }
}

function reach(lane: SessionLane, now: number): void {
  const stretch = lane.stretches.at(-1);
  if (stretch) stretch.to = Math.max(stretch.to, now);
}

const lastSeen = ({ stretches, from }: SessionLane): number => stretches.at(-1)?.to ?? from;

const red = (receipts: readonly { pass: boolean; what: string }[]): string =>
  receipts
    .filter(({ pass }) => !pass)
    .map(({ what }) => what)
    .join(', ')
    .slice(0, 120);
