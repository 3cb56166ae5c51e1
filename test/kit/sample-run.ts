import { type Command, type Definition, type Event, type State, settle } from '../../src/machine/index.ts';
import type { Entry, Loaded, Store, Version } from '../../src/store/store.ts';

/** Its id in tests that use only one. */
export const sampleRun = 'sample-1-abcd';

/** A workflow for store tests with the real machine. */
export const sampleDefinition: Definition = {
  name: 'sample',
  description: 'A run that goes round and round',
  type: 'implementation',
  required_reading: ['@docs/plan.md'],
  key_reminders: ['Run the tests'],
  variables: { plan_id: 1 },
  steps: [
    { id: 'design', type: 'action', instructions: 'Design it' },
    { id: 'build', type: 'ralph', n: 1000, instructions: 'Build it' },
  ],
};

export const samplePinned = { definition: sampleDefinition, hash: 'sha256:sample' };

const began = Date.UTC(2026, 10, 15);

export function settled(state: State | null, command: Command): { events: Event[]; state: State } {
  const { events, state: next } = settle(sampleDefinition, state, command);
  if (!next) throw new Error('the run has not started');
  return { events, state: next };
}

/** Starts a run; `age` moves its start into the past. */
export async function begin(
  store: Store,
  run: string,
  { age = 0, session = 'A' } = {},
): Promise<Version | 'taken'> {
  const now = began - age;
  const { events, state } = settled(null, { type: 'start', now, run, session, summary: 'Sample', facts: {} });
  return store.create(run, samplePinned, { now, session, events }, state);
}

/** Appends the batch of a command to the loaded run. */
export async function send(
  store: Store,
  loaded: Loaded,
  command: Command,
  answered: Pick<Entry, 'key' | 'fingerprint' | 'reply'> = {},
): Promise<Version | 'conflict'> {
  const { events, state } = settled(loaded.state, command);
  return store.append(loaded, { now: command.now, events, ...answered }, state);
}

export async function mustLoad(store: Store, run: string, key?: string): Promise<Loaded> {
  const loaded = await store.load(run, key);
  if (!loaded) throw new Error(`there is no run ${run}`);
  return loaded;
}

/** Loads the run and appends a note. */
export async function note(
  store: Store,
  run: string,
  text: string,
  answered: Pick<Entry, 'key' | 'fingerprint' | 'reply'> = {},
): Promise<Version | 'conflict'> {
  const loaded = await mustLoad(store, run);
  return send(store, loaded, noteCommand(loaded, text), answered);
}

/** A note one second after the last change. */
export const noteCommand = ({ state }: Loaded, text: string): Command => ({
  type: 'note',
  kind: 'variable',
  key: 'said',
  text,
  now: state.updatedAt + 1000,
});
