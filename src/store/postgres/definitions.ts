import type { Definition } from '../../machine/index.ts';
import type { Query } from './database.ts';
import { ownCopy } from './own-copy.ts';
import { statements } from './statements.ts';

/** A definition never changes under its hash, so its text is read once. */
export interface Definitions {
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
const mostCharacters = 32 * 1024 * 1024;

export function createDefinitions(): Definitions {
  const known = new Map<string, { text: string; parsed?: Definition }>();
  let characters = 0;
  const nameOf = (project: number, hash: string): string => `${project} ${hash}`;

  function add(project: number, hash: string, text: string): void {
    const name = nameOf(project, hash);
    if (known.has(name)) return;
    characters += text.length;
    known.set(name, { text });
    for (const [oldest, { text: old }] of known) {
      if (characters <= mostCharacters) return;
      known.delete(oldest);
      characters -= old.length;
    }
  }

  return {
    async texts(query, project, hashes) {
      const found = new Map<string, string>();
      const unknown = new Set<string>();
      for (const hash of hashes) {
        const text = known.get(nameOf(project, hash))?.text;
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
    has: (project, hash) => known.has(nameOf(project, hash)),
    add,
    shared,
    keeps: (project, hash, text) => (shared(project, hash) ?? (JSON.parse(text) as Definition)).keep,
  };

  function shared(project: number, hash: string): Definition | undefined {
    const entry = known.get(nameOf(project, hash));
    if (!entry) return undefined;
    entry.parsed ??= ownCopy(JSON.parse(entry.text) as Definition);
    return entry.parsed;
  }
}
