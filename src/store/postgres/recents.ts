import type { State } from '../../machine/index.ts';
import type { Version } from '../store.ts';
import { ownCopy } from './own-copy.ts';

/** A run as this process last saw it. Others move runs as well: it is good for a guess that the database checks. */
export interface Recent {
  version: Version;
  /** The hash of its definition. */
  definition: string;
  /** Kept as a frozen copy: whoever was answered may hold parts of what was given. */
  state: State;
  /** Characters of its JSON, which say how much room it takes. */
  size: number;
}

export interface Recents {
  get(project: number, run: string): Recent | undefined;
  set(project: number, run: string, recent: Recent): void;
  forget(project: number, run: string): void;
}

const mostCharacters = 64 * 1024 * 1024;

/** As many as fit, those that were used last. */
export function createRecents(most = mostCharacters): Recents {
  const known = new Map<string, Recent>();
  let characters = 0;

  function take(name: string): Recent | undefined {
    const recent = known.get(name);
    if (!recent) return undefined;
    known.delete(name);
    characters -= recent.size;
    return recent;
  }

  function put(name: string, recent: Recent): void {
    known.set(name, recent);
    characters += recent.size;
    for (const oldest of known.keys()) {
      if (characters <= most) return;
      take(oldest);
    }
  }

  return {
    get(project, run) {
      const name = nameOf(project, run);
      const recent = take(name);
      if (recent) put(name, recent);
      return recent;
    },
    set(project, run, recent) {
      const name = nameOf(project, run);
      take(name);
      put(name, { ...recent, state: ownCopy(recent.state) });
    },
    forget(project, run) {
      take(nameOf(project, run));
    },
  };
}

const nameOf = (project: number, run: string): string => `${project} ${run}`;
