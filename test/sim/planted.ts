import type { Engine } from '../../src/runtime/engine.ts';
import type { Files } from '../../src/store/index.ts';
import { createFileStore, type Store } from '../../src/store/index.ts';

/** Bugs that the simulator has to find: the product's own code, wrapped so that one of its promises is broken. */
export const plants = [
  'no-sync',
  'no-sync-on-read',
  'no-directory-sync',
  'torn-newline',
  'no-read-back',
  'no-version-check',
  'no-replay',
] as const;
export type Plant = (typeof plants)[number];

interface Build {
  store(files: Files, name: string): Store;
  engine(engine: Engine): Engine;
}

function open(files: Files, name: string): Store {
  let asked = 0;
  const nonce = (): string => {
    asked += 1;
    return `${name}x${asked}`;
  };
  return createFileStore({ directory: '/project/runs', files: withFixedPid(files), machine: 'sim', nonce });
}

const realPid = `"pid":${process.pid},`;
const fixedPid = '"pid":1,';

/** A lock names the process that holds it: the one thing of this process that would get into a history. */
const withFixedPid = (files: Files): Files => ({
  ...files,
  create: (path, bytes) =>
    files.create(path, path.endsWith('/lock') ? replaced(bytes, realPid, fixedPid) : bytes),
  read: async (path, from) => {
    const bytes = await files.read(path, from);
    return bytes && path.endsWith('/lock') ? replaced(bytes, fixedPid, realPid) : bytes;
  },
});

const replaced = (bytes: Uint8Array, from: string, to: string): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString('latin1').replace(from, to), 'latin1');

const sound: Build = { store: open, engine: (engine) => engine };

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
};

export const planted = (plant: Plant | undefined): Build => (plant ? builds[plant] : sound);

/** Who did not write does not sync: answers are made from what another has not made durable yet. */
function syncingOwn(files: Files): Files {
  const written = new Set<string>();
  return {
    ...files,
    append: (path, bytes) => {
      written.add(path);
      return files.append(path, bytes);
    },
    sync: async (path) => {
      if (written.delete(path) || !path.endsWith('.jsonl')) await files.sync(path);
    },
  };
}

/** Lines as `line\n`, and one that is whole but for its newline counts: it merges with its successor. */
const takingTornLines = (files: Files): Files => ({
  ...files,
  append: async (path, bytes) => {
    const leading = bytes[0] === 0x0a ? 1 : 0;
    return leading + (await files.append(path, bytes.subarray(leading)));
  },
  read: async (path, from) => {
    const bytes = await files.read(path, from);
    const torn = bytes && path.endsWith('.jsonl') && bytes.at(-1) !== 0x0a;
    return torn ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
  },
});

/** After an append the writer sees its own line where it expected it, whoever was first. */
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
    append: async (path, bytes) => {
      const taken = await files.append(path, bytes);
      written.set(path, bytes);
      return taken;
    },
  };
}

/** Appends what was decided on an older version. */
const careless = (store: Store): Store => ({
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
