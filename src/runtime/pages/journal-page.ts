import { withoutSecrets } from '../../context/index.ts';
import { type Definition, type Event, parseHandle } from '../../machine/index.ts';
import { enteredPath, eventSentence } from '../../messages/index.ts';
import type { StoredEntry } from '../../store/index.ts';
import type { JournalRequest } from './page-source.ts';
import type { JournalEntry, JournalPage } from './pages.ts';

/** The history of a run in sentences. Events that say nothing to people are left out. */
export function journalPage(
  definition: Definition,
  entries: readonly StoredEntry[],
  { after, before = Number.POSITIVE_INFINITY, limit }: JournalRequest,
): JournalPage {
  const left =
    after === undefined
      ? entries.filter(({ seq }) => seq < before).reverse()
      : entries.filter(({ seq }) => seq > after);
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  return withoutSecrets({
    entries: shown.map((entry) => journalEntry(definition, entry)).filter(({ events }) => events.length > 0),
    ...(last && left.length > limit ? { next: last.seq } : {}),
  });
}

function journalEntry(
  definition: Definition,
  { seq, now, actor, session, events }: StoredEntry,
): JournalEntry {
  const by = actor?.name ?? actor?.kind;
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
