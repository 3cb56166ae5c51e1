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

/** A run after reading. */
export interface OpenedRun extends Pinned {
  snapshot: Snapshot;
}

/** A snapshot without the state. */
export type SnapshotHeader = Omit<Snapshot, 'state'>;

/** A replace lock held longer than this was left by a crash. */
const replacingMs = 15_000;

/** Reads the files of runs and writes the projections of the journal. */
export interface RunFiles {
  at(run: string): RunPaths;
  /** The whole journal; empty if it does not exist. */
  journal(run: string): Promise<Chain>;
  /** The end of the journal, starting with a known line, or the whole journal. */
  chainFrom(run: string, tail: JournalTail): Promise<Chain>;
  /** Opens a run and makes it durable; undefined if there is no such run. */
  open(run: string): Promise<OpenedRun | undefined>;
  /** The earlier use of a key. */
  repeated(run: string, key: string, keys: KeyUse[]): Promise<Repeated | undefined>;
  /** Syncs the directories of a run and its parents. */
  makeNamesDurable(run: string): Promise<void>;
  /** Writes `state.json`. Never fails, because the file can be recreated. */
  projectState(run: string, opened: OpenedRun): Promise<void>;
  /** Writes `state.json` and `workflow.json`. */
  projectAll(run: string, opened: OpenedRun): Promise<void>;
  /** Lets one process at a time replace the journal; throws `busy` after waiting. */
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
  const lastSeen = new Map<string, SnapshotHeader>();
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
    // The run may have been removed, repaired or replaced meanwhile.
    const now = await files.read(at(run).state);
    if (!now || !bytes || bufferOf(now).compare(bytes) !== 0) return open(run);
    if (!snapshot || !(await isSetAside(files, at(run).root, snapshot)))
      throw corrupt(run, `its journal no longer has batch ${snapshot?.seq}, which state.json refers to`);
    const reopened = await openWhole(run, undefined);
    return typeof reopened === 'string' ? open(run) : remember(run, reopened);
  }

  function remember(run: string, opened: OpenedRun | undefined): OpenedRun | undefined {
    if (opened) lastSeen.set(run, headerOf(opened.snapshot));
    return opened;
  }

  async function openFrom(run: string, snapshot: Snapshot): Promise<OpenedRun | undefined> {
    const workflow = await files.read(at(run).workflow);
    if (!workflow || digestOf(workflow) !== snapshot.pinned) return undefined;
    const end = await files.read(at(run).journal, snapshot.offset);
    const chain = end && resumeChain(end, snapshot);
    if (!chain) return undefined;
    // The digest shows that `encodeWorkflowFile` wrote it.
    const { hash, definition } = JSON.parse(bufferOf(workflow).toString('utf8')) as Pinned;
    const later = chain.accepted.slice(1);
    if (later.length === 0) return { hash, definition, snapshot };
    const tail = tailOf(run, chain);
    if (lastSeen.get(run)?.hash !== tail.hash) {
      await files.sync(at(run).journal);
      if (!(await isInJournal(run, tail))) return undefined;
    }
    const state = replay(definition, snapshot.state, eventsOf(later));
    const opened = { hash, definition, snapshot: extendSnapshot(snapshot, later, state) };
    await projectState(run, opened);
    return opened;
  }

  /** `lost`: the journal lacks the snapshot's batch, which was durable before the snapshot was written. */
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

  /** Whether the synced file is the one that was read: another file may have replaced it. */
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
      // The next reader recreates it.
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
      // The journal was replaced meanwhile, or it is damaged.
      const again = await open(run);
      const moved = again?.snapshot.keys.find((each) => each.key === key);
      if (again && moved?.offset !== use.offset) return repeated(run, key, again.snapshot.keys);
      throw corrupt(run, `batch ${use.seq} of its journal cannot be read`);
    }
    // Most keys are new, so a search for the bytes of the key avoids parsing.
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
    lastSeen,
  };
}

/** Deterministic, so that the digest detects a swapped file. */
export const encodeWorkflowFile = ({ hash, definition }: Pinned): Uint8Array =>
  Buffer.from(`${JSON.stringify({ hash, definition }, null, 2)}\n`);

/** The header before the first batch. */
export const emptyHeader = (run: string, pinned: Pinned): SnapshotHeader => ({
  ...emptyTail(run),
  pinned: digestOf(encodeWorkflowFile(pinned)),
  keys: [],
});

export const headerOf = ({ state: _, ...header }: Snapshot): SnapshotHeader => header;

const eventsOf = (lines: ValidLine[]) => lines.flatMap((found) => found.line.events);

/** The snapshot after further batches. */
export function extendSnapshot(base: SnapshotHeader, lines: ValidLine[], state: State): Snapshot {
  const last = lines.at(-1);
  const uses = lines.map(({ line: { key, seq }, offset }) => ({ key, seq, offset }));
  return {
    seq: last?.line.seq ?? base.seq,
    hash: last?.hash ?? base.hash,
    offset: last?.offset ?? base.offset,
    pinned: base.pinned,
    keys: rememberedKeys([...base.keys, ...uses]),
    state,
  };
}
