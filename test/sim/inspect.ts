import { StepfastError } from '../../src/errors.ts';
import { type Event, replay, type Text } from '../../src/machine/index.ts';
import { parseLines, type ValidLine } from '../../src/store/file/journal.ts';
import {
  type FileStore,
  type Files,
  projectState,
  type StoredEntry,
  type Version,
} from '../../src/store/index.ts';
import type { Finding, Ledger } from './ledger.ts';
import type { Moved } from './mover.ts';

interface Scene {
  files: Files;
  store: FileStore;
  directory: string;
  run: string | undefined;
  ledger: Ledger;
  /** What was told to have come from elsewhere. */
  moved: readonly Moved[];
}

/** What is found after the last power loss, held against what was answered. */
export async function inspect({ files, store, directory, run, ledger, moved }: Scene) {
  const findings: Finding[] = [];
  const wrong = (what: string): void => {
    findings.push({ kind: 'wrong', what });
  };
  if (run === undefined) return { batches: 0, findings };
  await repairFork(store, run);
  const loaded = await store.load(run);
  if (!loaded) return { batches: 0, findings: [{ kind: 'lost' as const, what: `${run} is gone` }] };
  const entries = await store.entries(run);
  const events = entries.flatMap((entry) => entry.events);
  const aside = await asidesOf(files, `${directory}/${run}`);
  findings.push(...ledger.audit(entries, aside));
  for (const { version } of moved) {
    const there = entries.some(({ hash }) => hash === version.hash) || aside?.(version);
    if (!there) findings.push({ kind: 'lost', what: `batch ${version.seq} came from elsewhere and is gone` });
  }
  const last = entries.at(-1);
  if (last?.seq !== loaded.version.seq || last.hash !== loaded.version.hash)
    wrong('the loaded version is that of the last batch');
  const replayed = JSON.stringify(replay(loaded.definition, null, events));
  if (replayed !== JSON.stringify(loaded.state)) wrong('a replay of the journal gives the loaded state');
  const path = `${directory}/${run}/state.json`;
  const { snapshot, ...people } = JSON.parse(
    Buffer.from((await files.read(path)) ?? []).toString('utf8') || '{}',
  );
  if (JSON.stringify(snapshot?.state) !== replayed) wrong('state.json holds the state of the last batch');
  const expected = Object.entries(projectState(loaded.definition, loaded.state));
  for (const [key, value] of expected) {
    if (JSON.stringify(people[key]) !== JSON.stringify(value)) wrong(`state.json tells ${key} as it is`);
  }
  await files.remove(path);
  const rebuilt = await store.load(run);
  if (replayed !== JSON.stringify(rebuilt?.state)) wrong('without state.json the same state is loaded');
  for (const text of textsIn(events)) {
    if (typeof text === 'string') continue;
    const whole = await store.text(run, text.digest);
    if (whole === undefined || Buffer.byteLength(whole) !== text.bytes || !whole.startsWith(text.opening))
      findings.push({ kind: 'lost', what: `the text ${text.digest} is gone` });
  }
  const listed = (await store.list()).find((info) => info.run === run);
  if (!listed || listed.problem !== undefined) wrong(`${run} is listed: ${JSON.stringify(listed?.problem)}`);
  return { batches: entries.length, findings };
}

/** A batch that was accepted at the moment of a pull makes two histories: a person chooses one. */
export async function repairFork(store: FileStore, run: string): Promise<void> {
  try {
    await store.load(run);
  } catch (error) {
    if (!(error instanceof StepfastError) || error.code !== 'store_forked') throw error;
    const [branch] = (await store.check(run))?.branches ?? [];
    if (branch) await store.repair(run, { keep: branch.id });
  }
}

/** Histories that another took the place of. */
async function asidesOf(files: Files, root: string) {
  const known = new Map<string, ValidLine>();
  for (const name of (await files.names(root)).filter((each) => /^journal\..+\.jsonl$/.test(each))) {
    const lines = parseLines((await files.read(`${root}/${name}`)) ?? new Uint8Array());
    for (const found of lines) if (found.kind === 'line') known.set(found.hash, found);
  }
  if (known.size === 0) return undefined;
  return (version: Version): StoredEntry[] | undefined => {
    const history: StoredEntry[] = [];
    for (let found = known.get(version.hash); found; found = known.get(found.line.prev))
      history.unshift({ ...found.line, hash: found.hash });
    return history[0]?.seq === 1 ? history : undefined;
  };
}

const textsIn = (events: readonly Event[]): Text[] =>
  events.flatMap((event) => {
    if (event.type === 'position.completed') return [event.output];
    return event.type === 'todo.replaced' ? [event.content] : [];
  });
