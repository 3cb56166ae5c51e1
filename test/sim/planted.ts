import type { Engine } from '../../src/engine/engine.ts';
import {
  createFileStore,
  createFileTransfer,
  type FileStore,
  type Files,
  type FileTransfer,
} from '../../src/store/index.ts';

/** Bugs that the simulator has to find: the product's own code, wrapped so that one of its promises is broken. */
export const plants = [
  'no-sync',
  'no-sync-on-read',
  'no-directory-sync',
  'torn-newline',
  'no-read-back',
  'no-version-check',
  'no-replay',
  'transfer-no-sync',
  'transfer-copies',
  'transfer-no-last-look',
  'transfer-no-lock',
] as const;
export type Plant = (typeof plants)[number];

interface Build {
  store(files: Files, name: string): FileStore;
  transfer(files: Files, name: string): FileTransfer;
  engine(engine: Engine): Engine;
}

const optionsOf = (files: Files, name: string) => {
  let asked = 0;
  const nonce = (): string => {
    asked += 1;
    return `${name}x${asked}`;
  };
  return { directory: '/project/runs', files: withFixedPid(files), machine: 'sim', nonce };
};

const open = (files: Files, name: string): FileStore => createFileStore(optionsOf(files, name));
const carry = (files: Files, name: string): FileTransfer => createFileTransfer(optionsOf(files, `${name}t`));

const realPid = `"pid":${process.pid},`;
const fixedPid = '"pid":1,';

/** A lock names the process that holds it: the one thing of this process that would get into a history. */
const withFixedPid = (files: Files): Files => ({
  ...files,
  create: (path, bytes) => files.create(path, isLock(path) ? replaced(bytes, realPid, fixedPid) : bytes),
  read: async (path, from) => {
    const bytes = await files.read(path, from);
    return bytes && isLock(path) ? replaced(bytes, fixedPid, realPid) : bytes;
  },
});

const isLock = (path: string): boolean => path.endsWith('/lock') || path.endsWith('/replacing.lock');

const replaced = (bytes: Uint8Array, from: string, to: string): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString('latin1').replace(from, to), 'latin1');

const sound: Build = { store: open, transfer: carry, engine: (engine) => engine };

const builds: Record<Plant, Build> = {
  'no-sync': { ...sound, store: (files, name) => open({ ...files, sync: async () => {} }, name) },
  'no-sync-on-read': { ...sound, store: (files, name) => open(syncingOwn(files), name) },
  'no-directory-sync': {
    ...sound,
    store: (files, name) => open({ ...files, syncDirectory: async () => {} }, name),
  },
  'torn-newline': { ...sound, store: (files, name) => open(takingTornLines(files), name) },
  'no-read-back': { ...sound, store: (files, name) => open(believing(files), name) },
  'no-version-check': { ...sound, store: (files, name) => careless(open(files, name)) },
  'no-replay': { ...sound, engine: withoutHandles },
  'transfer-no-sync': {
    ...sound,
    transfer: (files, name) => carry({ ...files, sync: async () => {} }, name),
  },
  'transfer-copies': { ...sound, transfer: (files, name) => carry(copying(files), name) },
  'transfer-no-last-look': { ...sound, transfer: (files, name) => carry(lookingOnce(files), name) },
  'transfer-no-lock': { ...sound, transfer: (files, name) => carry(unlocked(files), name) },
};

export const planted = (plant: Plant | undefined): Build => (plant ? builds[plant] : sound);

/** Who did not write does not sync: answers are made from what another has not made durable yet. */
function syncingOwn(files: Files): Files {
  const written = new Set<string>();
  return {
    ...files,
    append: (path, bytes, only) => {
      written.add(path);
      return files.append(path, bytes, only);
    },
    sync: async (path) => {
      if (written.delete(path) || !path.endsWith('.jsonl')) await files.sync(path);
    },
  };
}

/** Lines as `line\n`, and one that is whole but for its newline counts: it merges with its successor. */
const takingTornLines = (files: Files): Files => ({
  ...files,
  append: async (path, bytes, only) => {
    const leading = bytes[0] === 0x0a ? 1 : 0;
    const taken = await files.append(path, bytes.subarray(leading), only);
    return taken < 0 ? taken : leading + taken;
  },
  read: async (path, from) => {
    const bytes = await files.read(path, from);
    const torn = bytes && path.endsWith('.jsonl') && bytes.at(-1) !== 0x0a;
    return torn ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
  },
});

/** After an append the writer sees its own line where it expected it, even if another writer was first. */
function believing(files: Files): Files {
  const seen = new Map<string, number>();
  const written = new Map<string, Uint8Array>();
  return {
    ...files,
    read: async (path, from = 0) => {
      const bytes = await files.read(path, from);
      const mine = written.get(path);
      const end = seen.get(path) ?? 0;
      written.delete(path);
      if (!bytes) return bytes;
      if (!mine || from > end) {
        seen.set(path, from + bytes.length);
        return bytes;
      }
      return Buffer.concat([bytes.subarray(0, end - from), mine]);
    },
    append: async (path, bytes, only) => {
      const taken = await files.append(path, bytes, only);
      if (taken >= 0) written.set(path, bytes);
      return taken;
    },
  };
}

/** Appends what was decided on an older version. */
const careless = (store: FileStore): FileStore => ({
  ...store,
  append: async (loaded, entry, state) => {
    const version = await store.append(loaded, entry, state);
    const newer = version === 'conflict' ? await store.load(loaded.run) : undefined;
    return newer ? await store.append(newer, entry, state) : version;
  },
});

/** Every call is a new one. */
function withoutHandles(engine: Engine): Engine {
  return {
    ...engine,
    execute: (run, command, _key, circumstances) => {
      const { at: _at, ...rest } = { at: undefined, ...command };
      // Every command may come without its handle.
      return engine.execute(run, rest as typeof command, undefined, circumstances);
    },
  };
}

/** What is set aside is what was there then: later appends stay with a file that has no name. */
const copying = (files: Files): Files => ({
  ...files,
  link: async (from, to) => {
    await files.create(to, (await files.read(from)) ?? new Uint8Array());
    await files.sync(to);
  },
});

/** A pull that never sees what was accepted since it read the journal. */
function lookingOnce(files: Files): Files {
  let size = 0;
  return {
    ...files,
    read: async (path, from) => {
      const bytes = await files.read(path, from);
      if (path.includes('.aside-')) return bytes?.subarray(0, size);
      if (path.endsWith('/journal.jsonl') && from === undefined) size = bytes?.length ?? 0;
      return bytes;
    },
    size: async (path) => (path.endsWith('/journal.jsonl') ? size : await files.size(path)),
  };
}

const unlocked = (files: Files): Files => ({
  ...files,
  create: async (path, bytes) => (isLock(path) ? bytes.length : await files.create(path, bytes)),
});
