import { dirname } from 'node:path';
import { replay, type State } from '../../machine/index.ts';
import { digestOf } from '../long-text.ts';
import { maxRememberedKeys, rememberedKeys } from '../remembered-keys.ts';
import { type Pinned, type Repeated, repeatedIn } from '../store.ts';
import {
  type Chain,
  corrupt,
  emptyTail,
  type JournalTail,
  readChain,
  requireSound,
  resumeChain,
  tailOf,
} from './accept-lines.ts';
import { bufferOf } from './bytes.ts';
import type { Files } from './files.ts';
import { parseLines, type ValidLine } from './journal.ts';
import { withExclusive } from './lock.ts';
import { isSetAside } from './replace-journal.ts';
import { pathsOf, type RunPaths } from './run-paths.ts';
import { encodeStateFile, type KeyUse, parseStateFile, type Snapshot } from './state-file.ts';
import { replaceFile } from './write-file.ts';

/** A run as it was read. */
export interface OpenedRun extends Pinned {
  snapshot: Snapshot;
}

/** What is known of a run's last batch without its state. */
export type SnapshotHeader = Omit<Snapshot, 'state'>;

/** Who still holds a run's journal then was cut off. */
const replacingMs = 15_000;

/** The files of runs as they are read, and what is made from the journal beside it. */
export interface RunFiles {
  at(run: string): RunPaths;
  /** The whole journal; empty where there is none. */
  journal(run: string): Promise<Chain>;
  /** The end of the journal from a known line on, or all of it. */
  chainFrom(run: string, tail: JournalTail): Promise<Chain>;
  /** Everything in it is durable; undefined where there is no such run. */
  open(run: string): Promise<OpenedRun | undefined>;
  /** What a key was used for and answered before. */
  repeated(run: string, key: string, keys: KeyUse[]): Promise<Repeated | undefined>;
  /** The names of a run and of what is above it outlast a power cut. */
  makeNamesDurable(run: string): Promise<void>;
  /** Writes `state.json`. It can be made again, so this fails nobody's call. */
  projectState(run: string, opened: OpenedRun): Promise<void>;
  /** `workflow.json` too. */
  projectAll(run: string, opened: OpenedRun): Promise<void>;
  /** The journal is put in the place of another by one process at a time; `busy` where the wait is in vain. */
  withReplaceLock<T>(run: string, machine: string, action: () => Promise<T>): Promise<T>;
  /** The last durable batch that this process saw. */
  lastSeen: Map<string, SnapshotHeader>;
}

export function createRunFiles({
  directory,
  files,
  nonce,
}: {
  directory: string;
  files: Files;
  nonce: () => string;
}): RunFiles {
  const known = new Map<string, SnapshotHeader>();
  let parentsDurable = false;
  const at = (run: string): RunPaths => pathsOf(directory, run);

  async function journal(run: string): Promise<Chain> {
    return readChain(run, (await files.read(at(run).journal)) ?? new Uint8Array());
  }

  async function chainFrom(run: string, tail: JournalTail): Promise<Chain> {
    if (tail.seq > 0) {
      const end = await files.read(at(run).journal, tail.offset);
      const resumed = end && resumeChain(end, tail);
      if (resumed) return resumed;
    }
    return journal(run);
  }

  async function open(run: string): Promise<OpenedRun | undefined> {
    const bytes = await files.read(at(run).state);
    const snapshot = parseStateFile(bytes);
    const opened = (snapshot && (await openFrom(run, snapshot))) ?? (await openWhole(run, snapshot));
    if (opened === 'moved') return open(run);
    if (opened !== 'lost') return remember(run, opened);
    // Unless the run was removed, repaired or exchanged meanwhile.
    const now = await files.read(at(run).state);
    if (!now || !bytes || bufferOf(now).compare(bytes) !== 0) return open(run);
    if (!snapshot || !(await isSetAside(files, at(run).root, snapshot)))
      throw corrupt(run, `its journal no longer has batch ${snapshot?.seq}, which state.json names`);
    const anew = await openWhole(run, undefined);
    return typeof anew === 'string' ? open(run) : remember(run, anew);
  }

  function remember(run: string, opened: OpenedRun | undefined): OpenedRun | undefined {
    if (opened) known.set(run, headerOf(opened.snapshot));
    return opened;
  }

  async function openFrom(run: string, snapshot: Snapshot): Promise<OpenedRun | undefined> {
    const workflow = await files.read(at(run).workflow);
    if (!workflow || digestOf(workflow) !== snapshot.pinned) return undefined;
    const end = await files.read(at(run).journal, snapshot.offset);
    const chain = end && resumeChain(end, snapshot);
    if (!chain) return undefined;
    // Its digest says that it is what `pinnedFile` wrote.
    const { hash, definition } = JSON.parse(bufferOf(workflow).toString('utf8')) as Pinned;
    const later = chain.accepted.slice(1);
    if (later.length === 0) return { hash, definition, snapshot };
    const tail = tailOf(run, chain);
    if (known.get(run)?.hash !== tail.hash) {
      await files.sync(at(run).journal);
      if (!(await isInJournal(run, tail))) return undefined;
    }
    const state = replay(definition, snapshot.state, eventsOf(later));
    const opened = { hash, definition, snapshot: extendSnapshot(snapshot, later, state) };
    await projectState(run, opened);
    return opened;
  }

  /** `lost`: a snapshot is written after its batch was durable, so the journal must have a batch that one names. */
  async function openWhole(
    run: string,
    snapshot: Snapshot | undefined,
  ): Promise<OpenedRun | 'lost' | 'moved' | undefined> {
    const chain = await journal(run);
    requireSound(run, chain);
    const named = snapshot?.state.run === run ? snapshot : undefined;
    if (named && chain.accepted[named.seq - 1]?.hash !== named.hash) return 'lost';
    const [first] = chain.accepted;
    if (!first?.line.pinned) return undefined;
    await files.sync(at(run).journal);
    await makeNamesDurable(run);
    if (!(await isInJournal(run, tailOf(run, chain)))) return 'moved';
    const { definition, hash } = first.line.pinned;
    const state = replay(definition, null, eventsOf(chain.accepted));
    const opened = {
      definition,
      hash,
      snapshot: extendSnapshot(emptyHeader(run, first.line.pinned), chain.accepted, state),
    };
    await projectAll(run, opened);
    return opened;
  }

  /** What was made durable is the file that was read: another may have taken its name. */
  async function isInJournal(run: string, tail: JournalTail): Promise<boolean> {
    const end = await files.read(at(run).journal, tail.offset);
    const [found] = end ? parseLines(end, tail.offset) : [];
    return found?.kind === 'line' && found.hash === tail.hash;
  }

  async function withReplaceLock<T>(run: string, machine: string, action: () => Promise<T>): Promise<T> {
    const { root, replacing: path } = at(run);
    if ((await files.names(root)).length === 0) return action();
    const owner = JSON.stringify({ pid: process.pid, machine, nonce: nonce() });
    return withExclusive(files, { path, owner, what: run, patience: replacingMs }, action);
  }

  async function makeNamesDurable(run: string): Promise<void> {
    await files.syncDirectory(at(run).root);
    await files.syncDirectory(directory);
    if (parentsDurable) return;
    await files.syncDirectory(dirname(directory));
    await files.syncDirectory(dirname(dirname(directory)));
    parentsDurable = true;
  }

  async function projectState(run: string, { definition, snapshot }: OpenedRun): Promise<void> {
    await tryReplace(at(run).state, () => encodeStateFile(definition, snapshot));
  }

  async function projectAll(run: string, opened: OpenedRun): Promise<void> {
    await tryReplace(at(run).workflow, () => encodeWorkflowFile(opened));
    await projectState(run, opened);
  }

  async function tryReplace(path: string, encode: () => Uint8Array): Promise<void> {
    try {
      await replaceFile(files, { path, temporary: `${path}.${nonce()}.tmp`, durable: false }, encode());
    } catch {
      // The next reader makes it again.
    }
  }

  async function repeated(run: string, key: string, keys: KeyUse[]): Promise<Repeated | undefined> {
    const use = keys.find((each) => each.key === key);
    if (!use && keys.length < maxRememberedKeys) return undefined;
    const bytes = await files.read(at(run).journal, use?.offset);
    if (!bytes) return undefined;
    if (use) {
      const [found] = parseLines(bytes, use.offset);
      if (found?.kind === 'line' && found.line.key === key) return repeatedIn(found.line);
      // Another journal took its place meanwhile, or it is damaged.
      const again = await open(run);
      const moved = again?.snapshot.keys.find((each) => each.key === key);
      if (again && moved?.offset !== use.offset) return repeated(run, key, again.snapshot.keys);
      throw corrupt(run, `batch ${use.seq} of its journal cannot be read`);
    }
    // Without the bytes of the key nothing needs to be parsed, and a new key is the rule.
    if (!bufferOf(bytes).includes(`,"key":${JSON.stringify(key)},`)) return undefined;
    const found = readChain(run, bytes).accepted.findLast(({ line }) => line.key === key);
    return found && repeatedIn(found.line);
  }

  return {
    at,
    journal,
    chainFrom,
    open,
    repeated,
    makeNamesDurable,
    projectState,
    projectAll,
    withReplaceLock,
    lastSeen: known,
  };
}

/** The same bytes for the same definition, so that a digest tells a swapped file. */
export const encodeWorkflowFile = ({ hash, definition }: Pinned): Uint8Array =>
  Buffer.from(`${JSON.stringify({ hash, definition }, null, 2)}\n`);

/** A run before its first batch. */
export const emptyHeader = (run: string, pinned: Pinned): SnapshotHeader => ({
  ...emptyTail(run),
  pinned: digestOf(encodeWorkflowFile(pinned)),
  keys: [],
});

export const headerOf = ({ state: _, ...known }: Snapshot): SnapshotHeader => known;

const eventsOf = (lines: ValidLine[]) => lines.flatMap((found) => found.line.events);

/** What is known after further batches. */
export function extendSnapshot(base: SnapshotHeader, lines: ValidLine[], state: State): Snapshot {
  const last = lines.at(-1);
  const uses = lines.map(({ line: { key, seq }, offset }) => ({
    ...(key === undefined ? {} : { key }),
    seq,
    offset,
  }));
  return {
    seq: last?.line.seq ?? base.seq,
    hash: last?.hash ?? base.hash,
    offset: last?.offset ?? base.offset,
    pinned: base.pinned,
    keys: rememberedKeys([...base.keys, ...uses]),
    state,
  };
}
