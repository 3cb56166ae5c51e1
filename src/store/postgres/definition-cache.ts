import type { Definition } from '../../machine/index.ts';
import { createBoundedCache } from './bounded-cache.ts';
import type { Query } from './database.ts';
import { frozenCopy } from './frozen-copy.ts';
import { statements } from './statements.ts';

/** A definition never changes under its hash, so its text is read once. */
export interface DefinitionCache {
  /** Those that the database does not have are not in the answer. */
  texts(query: Query, project: number, hashes: Iterable<string>): Promise<ReadonlyMap<string, string>>;
  has(project: number, hash: string): boolean;
  add(project: number, hash: string, text: string): void;
  /** One object for everybody, frozen; undefined where its text is not known here. */
  shared(project: number, hash: string): Definition | undefined;
  /** Whether its workflow keeps a run that has ended. */
  keeps(project: number, hash: string, text: string): boolean | undefined;
}

/** Of texts; what was parsed takes about as much again. */
const maxCharacters = 32 * 1024 * 1024;

export function createDefinitionCache(): DefinitionCache {
  const known = createBoundedCache<{ text: string; size: number; parsed?: Definition }>(maxCharacters);

  function add(project: number, hash: string, text: string): void {
    if (!known.has(project, hash)) known.set(project, hash, { text, size: text.length });
  }

  return {
    async texts(query, project, hashes) {
      const found = new Map<string, string>();
      const unknown = new Set<string>();
      for (const hash of hashes) {
        const text = known.get(project, hash)?.text;
        if (text === undefined) unknown.add(hash);
        else found.set(hash, text);
      }
      if (unknown.size === 0) return found;
      for (const [hash, text] of await query(statements.definitions, [project, [...unknown]])) {
        found.set(String(hash), String(text));
        add(project, String(hash), String(text));
      }
      return found;
    },
    has: known.has,
    add,
    shared,
    keeps: (project, hash, text) => (shared(project, hash) ?? (JSON.parse(text) as Definition)).keep,
  };

  function shared(project: number, hash: string): Definition | undefined {
    const entry = known.get(project, hash);
    if (!entry) return undefined;
    entry.parsed ??= frozenCopy(JSON.parse(entry.text) as Definition);
    return entry.parsed;
  }
}
