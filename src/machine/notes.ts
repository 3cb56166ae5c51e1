import type { Note } from './state.ts';

/** Kinds of notes that share one size limit and can replace each other by key. */
export const pool = (kind: Note['kind']): string =>
  kind === 'decision' || kind === 'rejection' || kind === 'correction' ? 'lasting' : kind;

/** A key replaces the note of the same kind with that key, and any note of the pool with that id. */
export const supersedes = (
  { kind, key }: { kind: Note['kind']; key?: string | undefined },
  other: Note,
): boolean =>
  key !== undefined &&
  pool(other.kind) === pool(kind) &&
  (other.id === key || (other.kind === kind && other.key === key));

/** The line of a note in a briefing. The size of a note is counted on this line. */
export const noteLine = ({ kind, key, id, text }: Pick<Note, 'kind' | 'key' | 'id' | 'text'>): string =>
  `- ${kind} ${key ?? id}: ${text}`;
