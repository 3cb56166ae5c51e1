import { type Definition, type Event, parseHandle } from '../../machine/index.ts';
import { enteredPath, eventSentence, senderText } from '../../messages/index.ts';
import type { Loaded, StoredEntry } from '../../store/index.ts';
import type { JournalRequest } from './page-source.ts';
import type { JournalEntry, JournalPage } from './pages.ts';

/** The history of a run in sentences. Events that say nothing to people are left out. Secrets are not redacted. */
export async function journalPage(
  { definition, version }: Pick<Loaded, 'definition' | 'version'>,
  { after, before = Number.POSITIVE_INFINITY, limit }: JournalRequest,
  read: (after: number, most: number) => Promise<StoredEntry[]>,
  onServer: boolean,
): Promise<JournalPage> {
  // Batches are numbered without gaps.
  const end = Math.min(version.seq, before - 1);
  const start = after ?? Math.max(0, end - limit);
  const most = after === undefined ? end - start : limit;
  const shown = most > 0 ? await read(start, most) : [];
  if (after === undefined) shown.reverse();
  const last = shown.at(-1);
  const hasMore = last && (after === undefined ? last.seq > 1 : last.seq < version.seq);
  return {
    entries: shown
      .map((entry) => journalEntry(definition, entry, onServer))
      .filter(({ events }) => events.length > 0),
    ...(hasMore ? { next: last.seq } : {}),
  };
}

function journalEntry(
  definition: Definition,
  { seq, now, actor, session, events }: StoredEntry,
  onServer: boolean,
): JournalEntry {
  const isProven = onServer || actor?.principal !== undefined;
  const by = isProven ? senderText({ actor }, { onServer }) : (actor?.name ?? actor?.kind);
  return {
    seq,
    now,
    ...(by === undefined ? {} : { by }),
    ...(session === undefined ? {} : { session }),
    events: eventSentences(definition, events),
  };
}

export const eventSentences = (definition: Definition, events: readonly Event[]): JournalEntry['events'] =>
  events.flatMap((event) => {
    const text = eventSentence(event, definition);
    if (text === undefined) return [];
    const at = placeOf(event);
    if (at === undefined) return [{ type: event.type, text }];
    const path = parseHandle(at)?.path ?? at;
    // The page shows the path beside the sentence.
    const short = text.replace(` (${at.slice(at.indexOf(':') + 1)})`, '');
    return [{ type: event.type, text: short, path }];
  });

function placeOf(event: Event): string | undefined {
  if ('at' in event && event.at !== undefined) return event.at;
  return event.type === 'position.entered' ? enteredPath(event) : undefined;
}
