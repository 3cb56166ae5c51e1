import type { Definition } from '../../machine/index.ts';
import { createBoundedCache } from './bounded-cache.ts';
import type { Query } from './database.ts';
import { frozenCopy } from './frozen-copy.ts';
import { statements } from './statements.ts';

/** Caches definitions by hash: a hash never changes its definition. */
export interface DefinitionCache {
  /** Definitions that the database lacks are missing in the result. */
  texts(query: Query, project: number, hashes: Iterable<string>): Promise<ReadonlyMap<string, string>>;
  has(project: number, hash: string): boolean;
  add(project: number, hash: string, text: string): void;
  /** One frozen object for all callers; undefined if its text is not cached. */
  shared(project: number, hash: string): Definition | undefined;
  /** Whether the workflow keeps ended runs. */
  keeps(project: number, hash: string, text: string): boolean | undefined;
}

/** Limit of the texts; parsed definitions take about as much again. */
const maxCharacters = 32 * 1024 * 1024;

export function createDefinitionCache(): DefinitionCache {
  const cache = createBoundedCache<{ text: string; size: number; parsed?: Definition }>(maxCharacters);

  function add(project: number, hash: string, text: string): void {
    if (!cache.has(project, hash)) cache.set(project, hash, { text, size: text.length });
  }

  return {
    async texts(query, project, hashes) {
      const found = new Map<string, string>();
      const unknown = new Set<string>();
      for (const hash of hashes) {
        const text = cache.get(project, hash)?.text;
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
    has: cache.has,
    add,
    shared,
    keeps: (project, hash, text) => (shared(project, hash) ?? (JSON.parse(text) as Definition)).keep,
  };

  function shared(project: number, hash: string): Definition | undefined {
    const entry = cache.get(project, hash);
    if (!entry) return undefined;
    entry.parsed ??= frozenCopy(JSON.parse(entry.text) as Definition);
    return entry.parsed;
  }
}
