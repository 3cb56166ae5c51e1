import { join } from 'node:path';
import { handlesIn } from './handles-in-text.ts';
import { names, readJson, short, timeOf, unlinkQuietly, writeWhole } from './session-files.ts';

/** What subagents are told: the hook before the call knows it, the one at their start does not. */
export interface HandedWords {
  /** A subagent is about to be started with these words. */
  add(id: string, handed: Handed): void;
  /**
   * The words of the one of this type that was not taken yet. Of several that name different positions the oldest, if
   * their order is known, else none.
   */
  take(agent: string | undefined): Handed | undefined;
  /** A turn ended or began: what was denied is started no more. */
  drop(): void;
}

export interface Handed {
  agent: string | undefined;
  prompt: string;
}

/** Subagents that are called further apart than this start in that order, and within this time if at all. */
const togetherMs = 250;
const startMs = 20_000;

export function createHanded(folder: string): HandedWords {
  return {
    add: (id, handed) => writeWhole(join(folder, `handed-${short(id)}.json`), JSON.stringify(handed)),
    take,
    drop() {
      for (const file of files()) unlinkQuietly(join(folder, file));
    },
  };

  function take(agent: string | undefined): Handed | undefined {
    const waiting = files().flatMap((file) => {
      // Only `add` writes them.
      const handed = readJson(join(folder, file)) as Handed | undefined;
      const other = agent !== undefined && handed?.agent !== undefined && handed.agent !== agent;
      return handed && !other ? [{ file, handed, at: timeOf(join(folder, file)) }] : [];
    });
    waiting.sort((a, b) => a.at - b.at);
    const [first, ...others] = waiting;
    if (!first) return undefined;
    unlinkQuietly(join(folder, first.file));
    const positions = ({ prompt }: Handed): string => handlesIn(prompt).join(' ');
    const alike = others.every(({ handed }) => positions(handed) === positions(first.handed));
    const apart = others.every(({ at }, index) => at - (waiting[index]?.at ?? 0) >= togetherMs);
    if (alike || (apart && Date.now() - first.at < startMs)) return first.handed;
    // Calls that are made together start in any order, and one that was denied starts never.
    for (const { file, handed } of others)
      writeWhole(join(folder, file), JSON.stringify({ ...handed, prompt: '' }));
    return undefined;
  }

  function files(): string[] {
    return names(folder).filter((file) => file.startsWith('handed-') && file.endsWith('.json'));
  }
}
