import type { EventOf } from '../schema/index.ts';
import type { Draft } from './draft.ts';
import { supersedes } from './notes.ts';
import { own, put, without } from './own-property.ts';

export function load(
  { root }: Draft,
  { artifacts, trigger, now, session }: EventOf<'artifacts.loaded'>,
): void {
  const { count = 0, bySession = {} } = root.loads ?? {};
  const known = { ...own(bySession, session) };
  const entries = root.entered?.count ?? 0;
  for (const { id, hash } of artifacts)
    put(known, id, { trigger, now, entries, ...(hash === undefined ? {} : { hash }) });
  const all = { ...bySession };
  put(all, session, known);
  root.loads = { count: count + 1, now, bySession: all };
}

/** The session's context was reset, so it holds no artifact any more. */
export function forgetLoads({ root }: Draft, session: string): void {
  if (root.loads)
    root.loads = { ...root.loads, bySession: without(root.loads.bySession, (id) => id === session) };
}

export function addNote(draft: Draft, event: EventOf<'note.added'>): void {
  const { type: _, ...note } = event;
  const state = draft.root;
  state.noteCount += 1;
  if (note.kind === 'variable') {
    put(draft.edit('variables'), note.key ?? '', note.text);
    return;
  }
  if (note.kind === 'artefact') {
    if (!state.artefacts.includes(note.text)) draft.edit('artefacts').push(note.text);
    if (note.key !== undefined) put(draft.edit('artifacts'), note.key, note.text);
    return;
  }
  state.notes = [...state.notes.filter((other) => !supersedes(note, other)), note];
}
