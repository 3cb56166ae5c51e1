import type { Note } from './state.ts';

/** Notes that share their room, and replace each other by key. */
export const pool = (kind: Note['kind']): string =>
  kind === 'decision' || kind === 'rejection' || kind === 'correction' ? 'lasting' : kind;

/** A key replaces the note of the same kind that has it, and any note of the pool whose id it is. */
export const supersedes = (
  { kind, key }: { kind: Note['kind']; key?: string | undefined },
  other: Note,
): boolean =>
  key !== undefined &&
  pool(other.kind) === pool(kind) &&
  (other.id === key || (other.kind === kind && other.key === key));

/** As a briefing shows it; what a note costs is counted on this. */
export const noteLine = ({ kind, key, id, text }: Pick<Note, 'kind' | 'key' | 'id' | 'text'>): string =>
  `- ${kind} ${key ?? id}: ${text}`;
