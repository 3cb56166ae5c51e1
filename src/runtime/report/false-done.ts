import { type Event, opening, parseHandle } from '../../machine/index.ts';
import type { StoredEntry } from '../../store/index.ts';
import type { FalseDone } from './report.ts';

export type HistoryEntry = Pick<StoredEntry, 'now' | 'actor' | 'events'>;

/** Reports of completion by agents whose gates were red. */
export function falseDoneIn(entries: readonly HistoryEntry[]): FalseDone[] {
  const reported = new Map<string, Extract<Event, { type: 'gates.requested' }>>();
  const found: FalseDone[] = [];
  for (const { now, events, actor } of entries)
    for (const event of events) {
      if (event.type === 'gates.requested' && !isExcused(event, actor)) reported.set(event.id, event);
      const request = event.type === 'gates.finished' && !event.pass ? reported.get(event.id) : undefined;
      if (event.type !== 'gates.finished' || !request) continue;
      found.push({
        path: parseHandle(request.at)?.path ?? '',
        now: new Date(now).toISOString(),
        said: opening(request.output),
        red: event.receipts.flatMap(({ pass, what, role }) => (pass || role === 'until' ? [] : [what])),
      });
    }
  return found;
}

/** Gates after a person's own advance or approval, and commands of the engine, do not check an agent's report. */
const isExcused = (
  { approval, gates }: Extract<Event, { type: 'gates.requested' }>,
  actor: HistoryEntry['actor'],
): boolean =>
  approval !== undefined ||
  actor?.kind === 'person' ||
  gates.some(({ role }) => role === 'run' || role === 'baseline');
