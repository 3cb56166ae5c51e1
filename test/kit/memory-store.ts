import { describeText } from '../../src/store/long-text.ts';
import { matchesRunName, requireRunId } from '../../src/store/run-id.ts';
import { infoOf, newestFirst } from '../../src/store/run-list.ts';
import {
  type Entry,
  type Loaded,
  type Pinned,
  repeatedIn,
  type Store,
  type StoredEntry,
  type Version,
} from '../../src/store/store.ts';

interface MemoryRun {
  pinned: string;
  state: string;
  entries: string[];
  watchers: Set<() => void>;
}

/** Keeps everything as JSON text, so that results equal those of a file and share no objects. */
export function createMemoryStore(): Store {
  const runs = new Map<string, MemoryRun>();
  const texts = new Map<string, Map<string, string>>();

  const entriesOf = (kept: MemoryRun): StoredEntry[] => kept.entries.map((entry) => JSON.parse(entry));
  const versionOf = (kept: MemoryRun): Version => ({
    seq: kept.entries.length,
    hash: String(kept.entries.length),
  });

  function write(kept: MemoryRun, entry: Entry, state: Loaded['state']): Version {
    const seq = kept.entries.length + 1;
    const version = { seq, hash: String(seq) };
    kept.entries.push(JSON.stringify({ ...version, ...entry }));
    kept.state = JSON.stringify(state);
    for (const wake of kept.watchers) wake();
    return version;
  }

  function loaded(run: string): Loaded | undefined {
    const kept = runs.get(run);
    if (!kept) return undefined;
    const { definition, hash }: Pinned = JSON.parse(kept.pinned);
    return { run, definition, hash, state: JSON.parse(kept.state), version: versionOf(kept) };
  }

  return {
    recent: loaded,

    async create(run, pinned: Pinned, entry, state) {
      requireRunId(run);
      if (runs.has(run)) return 'taken';
      const kept: MemoryRun = { pinned: JSON.stringify(pinned), state: '', entries: [], watchers: new Set() };
      runs.set(run, kept);
      return write(kept, entry, state);
    },

    async load(run, key) {
      const found = loaded(run);
      const kept = runs.get(run);
      if (!found || !kept || key === undefined) return found;
      const keyed = entriesOf(kept).findLast((entry) => entry.key === key);
      return keyed ? { ...found, repeated: repeatedIn(keyed) } : found;
    },

    async append(loaded, entry, state) {
      const kept = runs.get(loaded.run);
      if (kept?.entries.length !== loaded.version.seq) return 'conflict';
      const isUsed = entry.key !== undefined && entriesOf(kept).some(({ key }) => key === entry.key);
      return isUsed ? 'conflict' : write(kept, entry, state);
    },

    async entries(run, after = 0, most = Number.POSITIVE_INFINITY) {
      const kept = runs.get(run);
      return kept ? entriesOf(kept).slice(after, after + most) : [];
    },

    async ids(name) {
      return [...runs.keys()].filter((run) => name === undefined || matchesRunName(run, name));
    },

    async list() {
      return newestFirst(
        [...runs].map(([run, kept]) =>
          infoOf(run, JSON.parse(kept.pinned).definition, JSON.parse(kept.state)),
        ),
      );
    },

    async remove(run) {
      for (const wake of runs.get(run)?.watchers ?? []) wake();
      runs.delete(run);
      texts.delete(run);
    },

    async keep(run, text) {
      requireRunId(run);
      const { bytes, kept } = describeText(text);
      const ofRun = texts.get(run) ?? new Map<string, string>();
      texts.set(run, ofRun.set(kept.digest, Buffer.from(bytes).toString('utf8')));
      return kept;
    },

    async text(run, digest) {
      return texts.get(run)?.get(digest);
    },

    async watch(run, seq, ms) {
      const kept = runs.get(run);
      if (!kept || kept.entries.length > seq) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          kept.watchers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        kept.watchers.add(wake);
      });
    },
  };
}
