import { createEngine } from '../../src/engine/engine.ts';
import {
  createFileStore,
  createFileTransfer,
  type Files,
  type FileTransfer,
  type RunHistory,
  type Store,
  type Version,
} from '../../src/store/index.ts';
import type { Dice } from '../properties/dice.ts';
import { createDisk, type Disk, systemError } from './disk.ts';
import type { Ledger, Wish } from './ledger.ts';

/** Another machine, on which nothing fails, that works on the same run. */
export interface Elsewhere {
  /** Their history: the first `common` batches of this one, and further ones of their own. */
  goOn(mine: RunHistory, common: number, further: number): Promise<RunHistory>;
}

export interface Moved {
  run: string;
  version: Version;
}

const directory = '/there/runs';

export function createElsewhere(ledger: Ledger, next: () => number, now: () => number): Elsewhere {
  return {
    async goOn(mine, common, further) {
      const disk = createDisk();
      disk.makeDirectory('/there');
      disk.makeDirectory(directory);
      const files = filesOf(disk);
      let asked = 0;
      const nonce = (): string => {
        asked += 1;
        return `e${next()}x${asked}`;
      };
      const options = { directory, files, machine: 'elsewhere', nonce };
      const transfer = createFileTransfer(options);
      await transfer.receive({ ...mine, lines: mine.lines.slice(0, common) }, new Map());
      const store = createFileStore(options);
      for (let count = 0; count < further; count += 1) await noted(store, mine.run);
      const theirs = await transfer.read(mine.run);
      if (!theirs) throw new Error('nothing was received');
      return theirs;
    },
  };

  async function noted(store: Store, run: string): Promise<void> {
    const id = next();
    const wish: Wish = {
      id,
      key: `k${id}`,
      command: { now: now(), session: 'away', type: 'note', kind: 'decision', text: `note ${id}` },
    };
    const watched = ledger.watched(store, wish);
    const engine = createEngine({ store: watched.store, newRun: () => run, hashOf: () => 'sha256:test' });
    await engine.execute(run, wish.command, wish.key);
  }
}

/** A person who pulls: what goes on is received, what parted is exchanged; some pull the same as another one. */
export async function move(
  transfer: FileTransfer,
  run: string,
  { elsewhere, dice, shared }: { elsewhere: Elsewhere; dice: Dice; shared: Map<string, RunHistory> },
): Promise<Moved | undefined> {
  const mine = await transfer.read(run);
  if (!mine) return undefined;
  const same = dice.one(3) ? shared.get(run) : undefined;
  const apart = dice.one(2);
  const common = apart ? 1 + dice.roll(mine.lines.length) : mine.lines.length;
  const theirs = same ?? (await elsewhere.goOn(mine, common, 1 + dice.roll(3)));
  shared.set(run, theirs);
  const tail = mine.lines.at(-1)?.hash ?? '';
  if (apart) await transfer.replace(theirs, new Map(), tail);
  else await transfer.receive(theirs, new Map());
  const last = theirs.lines.at(-1);
  return last && { run, version: { seq: last.seq, hash: last.hash } };
}

/** At once and without a fault. */
function filesOf(disk: Disk): Files {
  return {
    read: async (path, from = 0) => {
      const file = disk.file(path);
      return file?.room.subarray(Math.min(from, file.length), file.length);
    },
    size: async (path) => disk.file(path)?.length,
    append: async (path, bytes) => {
      disk.write(disk.file(path) ?? disk.make(path), bytes);
      return bytes.length;
    },
    create: async (path, bytes) => {
      disk.write(disk.make(path), bytes);
      return bytes.length;
    },
    sync: async () => {},
    syncDirectory: async () => {},
    rename: async (from, to) => disk.rename(from, to),
    link: async (from, to) => disk.link(from, to),
    makeDirectory: async (path) => disk.makeDirectory(path),
    names: async (path) => disk.names(path) ?? [],
    remove: async (path) => {
      if (disk.names(path)) throw systemError('EISDIR', path);
      if (disk.file(path)) disk.remove(path);
    },
    sleep: async () => {},
  };
}
