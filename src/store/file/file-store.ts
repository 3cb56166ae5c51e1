import { StepfastError } from '../../errors.ts';
import type { State } from '../../machine/index.ts';
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
import { makeDirectories } from './write-file.ts';

export interface FileStoreOptions {
  /** `<project>/.stepfast/runs`; made with its parents when the first run begins. */
  directory: string;
  files?: Files;
  /** Tells this machine from others that may write the same run. */
  machine: string;
  /** Random letters and digits, never the same twice. */
  nonce: () => string;
}

export interface FileStore extends Store {
  /** The whole run, line by line and text by text; undefined where there is no such run. */
  check(run: string): Promise<RunCheck | undefined>;
  /** Keeps one branch of a fork (`keep`: its id), or what is whole of a damaged journal; the old one stays beside it. */
  repair(run: string, options?: { keep?: string }): Promise<RepairResult>;
}

const writeAttempts = 3;
const shortestPoll = 20;
const longestPoll = 200;

export function createFileStore(options: FileStoreOptions): FileStore {
  const { directory, machine, nonce, files = createNodeFiles() } = options;
  const runs = createRunFiles({ directory, files, nonce });
  const { at, lastSeen: known } = runs;
  const locked = <T>(run: string, action: () => Promise<T>): Promise<T> =>
    withLock(files, at(run).lock, JSON.stringify({ pid: process.pid, machine, nonce: nonce() }), action);

  /** Writes a batch after a known one; its place, where it was the first of its sequence. */
  async function write(
    run: string,
    tail: JournalTail,
    entry: Entry & { pinned?: Pinned },
  ): Promise<ValidLine | 'conflict'> {
    const { journal } = at(run);
    const before = await runs.chainFrom(run, tail);
    requireSound(run, before);
    const found = tailOf(run, before);
    // At another place it stands in another file, whose name may not be durable yet.
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
   * What a short write leaves is a bad line, so the whole is written again. `moved`: another journal took the place of
   * the one with the line before; in that one it would be a line of nowhere.
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
    return new Error(`${journal}: the line cannot be written in one piece`);
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
      known.set(run, headerOf(snapshot));
      await runs.projectAll(run, { definition, hash, snapshot });
      return written;
    });
    return mine ? { seq: mine.line.seq, hash: mine.hash } : 'taken';
  }

  async function append(loaded: Loaded, entry: Entry, state: State): Promise<Version | 'conflict'> {
    const { run, version, definition, hash } = loaded;
    if (known.get(run)?.hash !== version.hash) await runs.open(run);
    const base = known.get(run);
    if (base?.hash !== version.hash) return 'conflict';
    return locked(run, async () => {
      const written = await write(run, base, entry);
      if (written === 'conflict') return 'conflict';
      const snapshot = extendSnapshot(base, [written], state);
      known.set(run, headerOf(snapshot));
      await runs.projectState(run, { definition, hash, snapshot });
      return { seq: written.line.seq, hash: written.hash };
    });
  }

  /** One that was cut off in its making may be among them. */
  async function ids(name?: string): Promise<string[]> {
    const found: string[] = [];
    const isMeant = (run: string): boolean =>
      isRunId(run) && (name === undefined || matchesRunName(run, name));
    for (const run of (await files.names(directory)).filter(isMeant)) {
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

  async function watch(run: string, seq: number, ms: number): Promise<void> {
    const { journal } = at(run);
    let seen: number | undefined;
    for (let waited = 0, pause = shortestPoll; ; pause = Math.min(pause * 2, longestPoll)) {
      const size = await files.size(journal);
      if (size === undefined) return;
      if (size !== seen) {
        const chain = await runs.chainFrom(run, known.get(run) ?? emptyTail(run));
        if (tailOf(run, chain).seq > seq) return;
        seen = size;
      }
      if (waited >= ms) return;
      const sleep = Math.min(pause, ms - waited);
      await files.sleep(sleep);
      waited += sleep;
    }
  }

  /** The journal goes first, alone: without it there is no run. */
  async function remove(run: string): Promise<void> {
    const paths = at(run);
    known.delete(run);
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

  /** Whatever the file system says becomes one error that tells what to do. */
  async function told<T>(what: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (error instanceof StepfastError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new StepfastError(
        'store_failed',
        `${what} could not be read or written (${why}): mend that, then send the same call again`,
        { cause: error },
      );
    }
  }

  return {
    async create(run, pinned, entry, state) {
      requireRunId(run);
      return told(`run '${run}'`, () => create(run, pinned, entry, state));
    },
    async load(run, key) {
      return isRunId(run) ? told(`run '${run}'`, () => load(run, key)) : undefined;
    },
    append: (loaded, entry, state) => told(`run '${loaded.run}'`, () => append(loaded, entry, state)),
    async entries(run, after = 0) {
      if (!isRunId(run)) return [];
      return told(`run '${run}'`, async () => {
        const chain = await runs.journal(run);
        requireSound(run, chain);
        // What it tells must be durable, as what `open` tells is.
        if (chain.accepted.length > 0 && known.get(run)?.hash !== tailOf(run, chain).hash)
          await runs.open(run);
        return chain.accepted.slice(after).map(entryOf);
      });
    },
    ids: (name) => told(directory, () => ids(name)),
    list: () => told(directory, list),
    async remove(run) {
      if (isRunId(run)) await told(`run '${run}'`, () => remove(run));
    },
    async keep(run, text) {
      requireRunId(run);
      return told(`run '${run}'`, () => keepText(files, at(run), text, nonce()));
    },
    async text(run, digest) {
      return isRunId(run) ? told(`run '${run}'`, () => readText(files, run, at(run), digest)) : undefined;
    },
    async watch(run, seq, ms) {
      if (isRunId(run)) await told(`run '${run}'`, () => watch(run, seq, ms));
    },
    async check(run) {
      return isRunId(run)
        ? told(`run '${run}'`, () => checkRun(files, run, at(run), encodeWorkflowFile))
        : undefined;
    },
    async repair(run, { keep } = {}) {
      requireRunId(run);
      known.delete(run);
      return told(`run '${run}'`, () =>
        runs.withReplaceLock(run, machine, () =>
          locked(run, () => repairRun(files, run, at(run), { keep, nonce: nonce() })),
        ),
      );
    },
  };
}
