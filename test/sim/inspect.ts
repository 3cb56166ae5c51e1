import { type Event, replay, type Text } from '../../src/machine/index.ts';
import { type Files, projectState, type Store } from '../../src/store/index.ts';
import type { Finding, Ledger } from './ledger.ts';

interface Scene {
  files: Files;
  store: Store;
  directory: string;
  run: string | undefined;
  ledger: Ledger;
}

/** What is found after the last power loss, held against what was answered. */
export async function inspect({ files, store, directory, run, ledger }: Scene) {
  const findings: Finding[] = [];
  const wrong = (what: string): void => {
    findings.push({ kind: 'wrong', what });
  };
  if (run === undefined) return { batches: 0, findings };
  const loaded = await store.load(run);
  if (!loaded) return { batches: 0, findings: [{ kind: 'lost' as const, what: `${run} is gone` }] };
  const entries = await store.entries(run);
  const events = entries.flatMap((entry) => entry.events);
  findings.push(...ledger.audit(entries));
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

const textsIn = (events: readonly Event[]): Text[] =>
  events.flatMap((event) => {
    if (event.type === 'position.completed') return [event.output];
    return event.type === 'todo.replaced' ? [event.content] : [];
  });
