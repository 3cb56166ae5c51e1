import type { State } from '../../machine/index.ts';
import type { FileWatch } from '../../watch-file.ts';
import { isRunId, matchesRunName, requireRunId } from '../run-id.ts';
import { infoOf, newestFirst } from '../run-list.ts';
import type { Entry, Loaded, Pinned, RunInfo, Store, Version } from '../store.ts';
import { emptyTail, entryOf, isSound, type JournalTail, requireSound, tailOf } from './accept-lines.ts';
import { checkRun, type RunCheck } from './check-run.ts';
import type { Files } from './files.ts';
import { encodeLine, parseLines, type ValidLine } from './journal.ts';
import { withLock } from './lock.ts';
import { keepText, readText } from './long-text-files.ts';
import { createNodeFiles } from './node-files.ts';
import { type RepairResult, repairRun } from './repair.ts';
import { createRunFiles, emptyHeader, encodeWorkflowFile, extendSnapshot, headerOf } from './run-files.ts';
import { parseStateFile } from './state-file.ts';
import { wrapFileErrors } from './wrap-file-errors.ts';
import { makeDirectories } from './write-file.ts';

export interface FileStoreOptions {
  /** `<project>/.stepfast/runs`; created with its parents when the first run starts. */
  directory: string;
  files?: Files;
  /** Identifies this machine among others that may write the same run. */
  machine: string;
  /** Returns a unique string of letters and digits. */
  nonce: () => string;
  /** Called before every write; throws if the directory must not be written. */
  guard?(): void;
}

export interface FileStore extends Store {
  /** The size of each run's journal, which grows with every change; cheap. */
  sizes(): Promise<Map<string, number>>;
  /** Verifies the whole run; undefined if there is no such run. */
  check(run: string): Promise<RunCheck | undefined>;
  /** Keeps one branch of a fork (`keep`: its id), or the intact batches of a damaged journal, and a backup of the old journal. */
  repair(run: string, options?: { keep?: string }): Promise<RepairResult>;
}

interface Watching {
  ms: number;
  signal: AbortSignal | undefined;
  reports: FileWatch | undefined;
}

const writeAttempts = 3;
const shortestPoll = 20;
const longestPoll = 200;
/** Only for changes that the platform doesn't report. */
const watchedPoll = 1_000;

export function createFileStore(options: FileStoreOptions): FileStore {
  const { directory, machine, nonce, files = createNodeFiles(), guard = () => {} } = options;
  const runs = createRunFiles({ directory, files, nonce });
  const { at, lastSeen } = runs;
  const locked = <T>(run: string, action: () => Promise<T>): Promise<T> =>
    withLock(files, at(run).lock, JSON.stringify({ pid: process.pid, machine, nonce: nonce() }), action);

  /** Writes a batch after a known one; `conflict` if another batch was first. */
  async function write(
    run: string,
    tail: JournalTail,
    entry: Entry & { pinned?: Pinned },
  ): Promise<ValidLine | 'conflict'> {
    const { journal } = at(run);
    const before = await runs.chainFrom(run, tail);
    requireSound(run, before);
    const found = tailOf(run, before);
    // At another offset it is in another file, whose name may not be durable yet.
    if (found.hash !== tail.hash || found.offset !== tail.offset) return 'conflict';
    const line = { ...entry, seq: tail.seq + 1, prev: tail.hash, machine, nonce: nonce() };
    const { bytes, hash } = encodeLine(line);
    const failure = await appendLine(journal, bytes, tail);
    if (failure === 'moved') return 'conflict';
    await files.sync(journal);
    const after = await runs.chainFrom(run, tail);
    const mine = after.accepted.find((each) => each.hash === hash);
    if (mine && after.accepted.some((each) => each.hash === tail.hash && each.offset !== tail.offset))
      await runs.makeNamesDurable(run);
    if (mine) return mine;
    if (failure) throw failure;
    return 'conflict';
  }

  /**
   * A short write leaves a bad line, so the whole line is written again. `moved`: the journal was replaced, so the line
   * would have no predecessor.
   */
  async function appendLine(
    journal: string,
    bytes: Uint8Array,
    { offset, hash, seq }: JournalTail,
  ): Promise<Error | 'moved' | undefined> {
    const holds = (end: Uint8Array): boolean => {
      const [found] = parseLines(end, offset);
      return found?.kind === 'line' && found.hash === hash;
    };
    for (let attempt = 0; attempt < writeAttempts; attempt += 1) {
      try {
        const taken = await files.append(journal, bytes, seq === 0 ? undefined : { from: offset, holds });
        if (taken < 0) return 'moved';
        if (taken === bytes.length) return undefined;
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    }
    return new Error(`${journal}: the line could not be written in one piece`);
  }

  async function load(run: string, key?: string): Promise<Loaded | undefined> {
    const opened = await runs.open(run);
    if (!opened) return undefined;
    const { definition, hash, snapshot } = opened;
    const version = { seq: snapshot.seq, hash: snapshot.hash };
    const loaded: Loaded = { run, definition, hash, state: snapshot.state, version };
    const before = key === undefined ? undefined : await runs.repeated(run, key, snapshot.keys);
    return before ? { ...loaded, repeated: before } : loaded;
  }

  async function create(run: string, pinned: Pinned, entry: Entry, state: State): Promise<Version | 'taken'> {
    await makeDirectories(files, at(run).root);
    const chain = await runs.journal(run);
    const lost = parseStateFile(await files.read(at(run).state));
    if (chain.accepted.length > 0 || !isSound(chain) || lost) return 'taken';
    const { definition, hash } = pinned;
    const first = { ...entry, pinned: { hash, definition } };
    const mine = await locked(run, async () => {
      const written = await write(run, emptyTail(run), first);
      if (written === 'conflict') return undefined;
      await runs.makeNamesDurable(run);
      const snapshot = extendSnapshot(emptyHeader(run, pinned), [written], state);
      lastSeen.set(run, headerOf(snapshot));
      await runs.projectAll(run, { definition, hash, snapshot });
      return written;
    });
    return mine ? { seq: mine.line.seq, hash: mine.hash } : 'taken';
  }

  async function append(loaded: Loaded, entry: Entry, state: State): Promise<Version | 'conflict'> {
    const { run, version, definition, hash } = loaded;
    if (lastSeen.get(run)?.hash !== version.hash) await runs.open(run);
    const base = lastSeen.get(run);
    if (base?.hash !== version.hash) return 'conflict';
    return locked(run, async () => {
      const written = await write(run, base, entry);
      if (written === 'conflict') return 'conflict';
      const snapshot = extendSnapshot(base, [written], state);
      lastSeen.set(run, headerOf(snapshot));
      await runs.projectState(run, { definition, hash, snapshot });
      return { seq: written.line.seq, hash: written.hash };
    });
  }

  /** May include a run whose creation was interrupted. */
  async function ids(name?: string): Promise<string[]> {
    const found: string[] = [];
    const matches = (run: string): boolean =>
      isRunId(run) && (name === undefined || matchesRunName(run, name));
    for (const run of (await files.names(directory)).filter(matches)) {
      if ((await files.size(at(run).journal)) || (await files.size(at(run).state))) found.push(run);
    }
    return found;
  }

  async function list(): Promise<RunInfo[]> {
    const infos: RunInfo[] = [];
    for (const run of await ids()) {
      try {
        const opened = await runs.open(run);
        if (opened) infos.push(infoOf(run, opened.definition, opened.snapshot.state));
      } catch (error) {
        infos.push({ run, problem: error instanceof Error ? error.message : String(error) });
      }
    }
    return newestFirst(infos);
  }

  async function watch(run: string, seq: number, ms: number, signal?: AbortSignal): Promise<void> {
    const reports = files.watch?.(at(run).journal);
    try {
      await moved(run, seq, { ms, signal, reports });
    } finally {
      reports?.close();
    }
  }

  async function moved(run: string, seq: number, { ms, signal, reports }: Watching): Promise<void> {
    const { journal } = at(run);
    let seen: number | undefined;
    for (let waited = 0, pause = shortestPoll; ; pause *= 2) {
      const size = await files.size(journal);
      if (size === undefined) return;
      if (size !== seen) {
        const chain = await runs.chainFrom(run, lastSeen.get(run) ?? emptyTail(run));
        if (tailOf(run, chain).seq > seq) return;
        seen = size;
      }
      if (waited >= ms || signal?.aborted) return;
      const isWatched = reports?.works ?? false;
      pause = Math.min(pause, isWatched ? watchedPoll : longestPoll, ms - waited);
      const began = performance.now();
      await (isWatched ? reports?.next(pause, signal) : files.sleep(pause));
      waited += isWatched ? performance.now() - began : pause;
    }
  }

  /** Removes the state and the journal first: without them there is no run, even after a crash. */
  async function remove(run: string): Promise<void> {
    const paths = at(run);
    lastSeen.delete(run);
    if ((await files.size(paths.journal)) !== undefined) {
      await locked(run, async () => {
        await files.remove(paths.state);
        await files.syncDirectory(paths.root);
        await files.remove(paths.journal);
        await files.syncDirectory(paths.root);
      });
    }
    if ((await files.names(directory)).length === 0) return;
    await files.remove(paths.root);
    await files.syncDirectory(directory);
  }

  return {
    async create(run, pinned, entry, state) {
      requireRunId(run);
      guard();
      return wrapFileErrors(`run '${run}'`, () => create(run, pinned, entry, state));
    },
    async load(run, key) {
      return isRunId(run) ? wrapFileErrors(`run '${run}'`, () => load(run, key)) : undefined;
    },
    async append(loaded, entry, state) {
      guard();
      return wrapFileErrors(`run '${loaded.run}'`, () => append(loaded, entry, state));
    },
    async entries(run, after = 0, most = Number.POSITIVE_INFINITY) {
      if (!isRunId(run)) return [];
      return wrapFileErrors(`run '${run}'`, async () => {
        const chain = await runs.journal(run);
        requireSound(run, chain);
        // Makes the entries durable before returning them.
        if (chain.accepted.length > 0 && lastSeen.get(run)?.hash !== tailOf(run, chain).hash)
          await runs.open(run);
        return chain.accepted.slice(after, after + most).map(entryOf);
      });
    },
    ids: (name) => wrapFileErrors(directory, () => ids(name)),
    list: () => wrapFileErrors(directory, list),
    async remove(run) {
      guard();
      if (isRunId(run)) await wrapFileErrors(`run '${run}'`, () => remove(run));
    },
    async keep(run, text) {
      requireRunId(run);
      guard();
      return wrapFileErrors(`run '${run}'`, () => keepText(files, at(run), text, nonce()));
    },
    async text(run, digest) {
      return isRunId(run)
        ? wrapFileErrors(`run '${run}'`, () => readText(files, run, at(run), digest))
        : undefined;
    },
    async watch(run, seq, ms, signal) {
      if (isRunId(run)) await wrapFileErrors(`run '${run}'`, () => watch(run, seq, ms, signal));
    },
    async sizes() {
      const sizes = new Map<string, number>();
      for (const run of await wrapFileErrors('the runs', () => ids())) {
        const size = await wrapFileErrors(`run '${run}'`, () => files.size(at(run).journal));
        if (size !== undefined) sizes.set(run, size);
      }
      return sizes;
    },
    async check(run) {
      return isRunId(run)
        ? wrapFileErrors(`run '${run}'`, () => checkRun(files, run, at(run), encodeWorkflowFile))
        : undefined;
    },
    async repair(run, { keep } = {}) {
      requireRunId(run);
      guard();
      lastSeen.delete(run);
      return wrapFileErrors(`run '${run}'`, () =>
        runs.withReplaceLock(run, machine, () =>
          locked(run, () => repairRun(files, run, at(run), { keep, nonce: nonce() })),
        ),
      );
    },
  };
}
