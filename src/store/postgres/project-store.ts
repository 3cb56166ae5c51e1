import { StepfastError } from '../../errors.ts';
import { type Definition, ended, replay, type State } from '../../machine/index.ts';
import { turnFor } from '../../turn-for.ts';
import { newerError, stateFileVersion } from '../journal-version.ts';
import { describeText, digestHex } from '../long-text.ts';
import { isRunId, requireRunId } from '../run-id.ts';
import type { Entry, Loaded, Pinned, RunInfo, Store, StoredEntry, Version } from '../store.ts';
import {
  answerOf,
  type Batch,
  beforeFirst,
  corrupt,
  decodeBatches,
  encodeBatch,
  keyDigest,
} from './batch.ts';
import type { Query } from './database.ts';
import type { DefinitionCache } from './definition-cache.ts';
import { frozenCopy } from './frozen-copy.ts';
import { isMissingMonth, wrapErrors } from './postgres-errors.ts';
import type { RecentRun, RecentRuns } from './recent-runs.ts';
import type { RunPages } from './run-pages.ts';
import { statements } from './statements.ts';
import type { ProjectUsage } from './usage.ts';

export interface StoreParts {
  project: number;
  query: Query;
  definitions: DefinitionCache;
  pages: RunPages;
  /** Absent within a transaction, which may be rolled back. */
  recents?: RecentRuns | undefined;
  usage: ProjectUsage;
  nonce(): string;
  /** Called after a batch was written; it is durable unless `query` belongs to a transaction. */
  moved(run: string, seq: number): void;
  watch(run: string, seq: number, ms: number): Promise<void>;
  /** Absent within a transaction. */
  inTurn?: Store['inTurn'];
  locked?: Store['locked'];
}

const listPage = 50;
/** Limited, because every call reads and writes the whole state. */
const maxStateBytes = 4 * 2 ** 20;
const monthsAhead = 3;

/** The runs of one project. */
export function createProjectStore(parts: StoreParts): Store {
  const { project, query, definitions, pages, recents, usage, nonce, moved, watch, inTurn, locked } = parts;

  async function create(run: string, pinned: Pinned, entry: Entry, state: State): Promise<Version | 'taken'> {
    const batch = encodeBatch(beforeFirst(run), entry, nonce());
    const source = JSON.stringify(pinned.definition);
    const isNew = await checkQuotas(pinned.hash);
    const text = stateText(run, state);
    const values = (full: boolean): unknown[] => [
      project,
      run,
      pinned.hash,
      withoutNul(pinned.definition.name),
      full ? source : null,
      ...batchColumns(batch, entry.key),
      ...stateColumns(state, text, state.createdAt),
    ];
    const first = await query(statements.create, values(!definitions.has(project, pinned.hash)));
    const result = first[0]?.[0] === 'body' ? await query(statements.create, values(true)) : first;
    if (result[0]?.[0] === 'taken') return 'taken';
    definitions.add(project, pinned.hash, source);
    usage.wrote({ runs: 1, definitions: isNew ? 1 : 0, bytes: isNew ? source.length : 0 });
    return accepted(run, batch, pinned.hash, state, text.length);
  }

  /** Whether this process does not know the workflow. */
  async function checkQuotas(hash: string): Promise<boolean> {
    await usage.check(['runs', 'bytes']);
    if (definitions.has(project, hash)) return false;
    const known = await definitions.texts(query, project, [hash]);
    if (known.has(hash)) return false;
    await usage.check(['definitions']);
    return true;
  }

  /** Servers create partitions ahead of time; if none did, this call creates them. */
  async function createWithMonth(
    run: string,
    pinned: Pinned,
    entry: Entry,
    state: State,
  ): Promise<Version | 'taken'> {
    try {
      return await create(run, pinned, entry, state);
    } catch (error) {
      if (!isMissingMonth(error)) throw error;
      await query(statements.makeMonths, [monthsAhead]);
      return create(run, pinned, entry, state);
    }
  }

  async function load(run: string, key?: string): Promise<Loaded | undefined> {
    const [row] = await query(statements.load, [project, run, key === undefined ? null : keyDigest(key)]);
    const [seq, hash, definitionHash, format, text, repeated] = row ?? [];
    if (typeof seq !== 'number') return undefined;
    const definition = await definitionOf(run, String(definitionHash));
    const state = await stateOf(run, definition, Number(format), String(text));
    const version = { seq, hash: String(hash) };
    const loaded: Loaded = { run, definition, hash: String(definitionHash), state, version };
    if (typeof repeated !== 'string') return loaded;
    const { key: _, ...before } = answerOf(repeated);
    return { ...loaded, repeated: before };
  }

  async function definitionOf(run: string, hash: string): Promise<Definition> {
    const text = (await definitions.texts(query, project, [hash])).get(hash);
    if (text === undefined) throw corrupt(run, 'its definition is missing');
    return JSON.parse(text);
  }

  async function stateOf(run: string, definition: Definition, format: number, text: string): Promise<State> {
    await turnFor(text.length);
    if (format === stateFileVersion) return JSON.parse(text);
    if (format > stateFileVersion) throw newerError(run, format);
    return replay(
      definition,
      null,
      (await entries(run)).flatMap(({ events }) => events),
    );
  }

  async function append(
    { run, version, hash: definition }: Loaded,
    entry: Entry,
    state: State,
  ): Promise<Version | 'conflict'> {
    const batch = encodeBatch(version, entry, nonce());
    // Ending a run is always allowed.
    if (!ended(state)) await usage.check(['bytes']);
    const text = stateText(run, state);
    const values = [
      project,
      run,
      batch.seq,
      version.hash,
      ...batchColumns(batch, entry.key),
      ...stateColumns(state, text),
    ];
    const [row] = await query(statements.append, values);
    const [done, now] = row ?? [];
    if (typeof now === 'string') await turnFor(now.length);
    if (done === true) return accepted(run, batch, definition, state, text.length);
    const [seq, hash, other, format, found] = typeof now === 'string' ? JSON.parse(now) : [];
    if (format === stateFileVersion)
      remember(run, {
        version: { seq, hash },
        definition: other,
        state: JSON.parse(found),
        size: found.length,
      });
    else recents?.forget(project, run);
    return 'conflict';
  }

  function accepted(
    run: string,
    { seq, hash, body, answered }: Batch,
    definition: string,
    state: State,
    size: number,
  ): Version {
    const version = { seq, hash };
    usage.wrote({ bytes: body.length + (answered?.length ?? 0) });
    remember(run, { version, definition, state, size });
    moved(run, seq);
    return version;
  }

  /** Ended runs are not cached, because they rarely change. */
  function remember(run: string, recent: RecentRun): void {
    if (ended(recent.state)) recents?.forget(project, run);
    else recents?.set(project, run, { ...recent, state: frozenCopy(recent.state) });
  }

  function recent(run: string): Loaded | undefined {
    const seen = recents?.get(project, run);
    const definition = seen && definitions.shared(project, seen.definition);
    if (!definition) return undefined;
    return { run, definition, hash: seen.definition, state: seen.state, version: seen.version };
  }

  async function entries(run: string, after = 0, most?: number): Promise<StoredEntry[]> {
    const [head, ...rows] = await query(statements.entries, [project, run, after, most ?? null]);
    const [seq, hash, , before] = head ?? [];
    if (typeof seq !== 'number' || after >= seq) return [];
    if (after > 0 && typeof before !== 'string') throw corrupt(run, `batch ${after} is missing`);
    const batches = rows.map(
      ([number, sum, body, reply]): Batch => ({
        seq: Number(number),
        hash: String(sum),
        body: String(body),
        answered: typeof reply === 'string' ? reply : null,
      }),
    );
    return decodeBatches(run, batches, {
      from: after === 0 ? beforeFirst(run) : { seq: after, hash: String(before) },
      last: batches.length === most ? undefined : { seq, hash: String(hash) },
    });
  }

  async function ids(name?: string): Promise<string[]> {
    if (name !== undefined && !isRunId(name)) return [];
    const end = name === undefined ? null : [...name].reverse().join('');
    // The range of ids that start with the reversed name and a hyphen: `.` follows the hyphen in ASCII.
    const range = end === null ? [null, null] : [`${end}-`, `${end}.`];
    const rows = await query(statements.ids, [project, name ?? null, ...range]);
    return rows.map(([run]) => String(run));
  }

  async function list(): Promise<RunInfo[]> {
    const infos: RunInfo[] = [];
    for (let after: string | undefined; ; ) {
      const { runs, next } = await pages.page(query, project, { limit: listPage, after });
      infos.push(...runs);
      if (next === undefined) return infos;
      after = next;
    }
  }

  const of = (run: string): string => `run '${run}'`;
  const store: Store = {
    async create(run, pinned, entry, state) {
      requireRunId(run);
      return wrapErrors(of(run), () => createWithMonth(run, pinned, entry, state));
    },
    async load(run, key) {
      return isRunId(run) ? wrapErrors(of(run), () => load(run, key)) : undefined;
    },
    recent,
    append: (loaded, entry, state) => wrapErrors(of(loaded.run), () => append(loaded, entry, state)),
    async entries(run, after, most) {
      return isRunId(run) ? wrapErrors(of(run), () => entries(run, after, most)) : [];
    },
    ids: (name) => wrapErrors('the runs', () => ids(name)),
    list: () => wrapErrors('the runs', list),
    async remove(run) {
      if (!isRunId(run)) return;
      await wrapErrors(of(run), () => query(statements.remove, [project, run]));
      recents?.forget(project, run);
      moved(run, Number.POSITIVE_INFINITY);
    },
    async keep(run, text) {
      requireRunId(run);
      const { bytes, kept } = describeText(text);
      await usage.check(['bytes']);
      await wrapErrors(of(run), () => query(statements.keep, [project, run, kept.digest, bytes]));
      usage.wrote({ bytes: bytes.length });
      return kept;
    },
    async text(run, digest) {
      if (!isRunId(run) || digestHex(digest) === undefined) return undefined;
      const [[body] = []] = await wrapErrors(of(run), () => query(statements.text, [project, run, digest]));
      return Buffer.isBuffer(body) ? body.toString('utf8') : undefined;
    },
    async watch(run, seq, ms) {
      if (isRunId(run)) await watch(run, seq, ms);
    },
  };
  return inTurn && locked ? { ...store, inTurn, locked } : store;
}

const batchColumns = ({ hash, body, answered }: Batch, key: string | undefined): unknown[] => [
  hash,
  body,
  key === undefined ? null : keyDigest(key),
  answered,
];

function stateColumns(state: State, text: string, created?: number): unknown[] {
  const times = created === undefined ? [state.updatedAt] : [created, state.updatedAt];
  return [state.status, !ended(state), ...times.map(Math.trunc), stateFileVersion, text];
}

function stateText(run: string, state: State): string {
  const text = JSON.stringify(state);
  // Ending a run is always allowed.
  if (!ended(state) && Buffer.byteLength(text) > maxStateBytes) throw tooLarge(run);
  return text;
}

const tooLarge = (run: string): StepfastError =>
  new StepfastError(
    'state_too_large',
    `the state of run '${run}' exceeds ${maxStateBytes / 2 ** 20} MB, so nothing was done: cancel it, and start another run for the remaining work`,
    { data: { run } },
  );

/** A text column cannot store NUL. */
const withoutNul = (text: string): string => text.replaceAll('\0', '');
