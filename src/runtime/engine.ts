import { StepfastError } from '../errors.ts';
import {
  type Command,
  type Effect,
  type Event,
  type Reply,
  type Response,
  respond,
  type SessionFacts,
  type State,
  type Text,
} from '../machine/index.ts';
import type { Entry, Loaded, Pinned, RunInfo, Store, StoredEntry } from '../store/index.ts';

/** What a caller tells beside the command. */
export interface Circumstances {
  /** Binds the command's session to the run with its first call. */
  facts?: SessionFacts;
  /** Placeholders that only the caller knows, such as `project_root`. */
  values?: Record<string, string>;
}

export interface Executed {
  run: string;
  reply: Reply;
  /** For whoever has the tree: gates to run or to stop, a list to write. */
  effects: Effect[];
}

type Opening = Extract<Command, { type: 'start' | 'adopt' | 'import' }>;
export type OpeningCommand = Opening extends infer C ? (C extends unknown ? Omit<C, 'run'> : never) : never;

/**
 * The seam: everything above speaks to a run through it, in process or over HTTP; only here are stores known.
 * Throws StepfastError: `no_run`, `busy`, and what a store throws.
 */
export interface Engine {
  begin(pinned: Pinned, command: OpeningCommand, circumstances?: Circumstances): Promise<Executed>;
  /** A repeated key gets the answer of the first call. */
  execute(run: string, command: Command, key?: string, circumstances?: Circumstances): Promise<Executed>;
  view(run: string): Promise<Loaded | undefined>;
  /** Ids of all runs, in no order; cheap. */
  ids(): Promise<string[]>;
  runs(): Promise<RunInfo[]>;
  entries(run: string, after?: number): Promise<StoredEntry[]>;
  text(run: string, text: Text): Promise<string>;
  watch(run: string, seq: number, ms: number): Promise<void>;
  remove(run: string): Promise<void>;
}

interface EngineOptions {
  store: Store;
  /** A run id that is new with high probability; asked again where it is taken. */
  newRun(workflow: string, now: number): string;
}

const maxConflicts = 64;
const maxTaken = 8;
const longText = 1024;
const maxOutput = 256 * 1024;

export function createEngine({ store, newRun }: EngineOptions): Engine {
  return { begin, execute, view, ids, runs, entries, text, watch, remove };

  async function begin(
    pinned: Pinned,
    command: OpeningCommand,
    { facts, values }: Circumstances = {},
  ): Promise<Executed> {
    for (let tries = 0; tries < maxTaken; tries += 1) {
      const run = newRun(pinned.definition.name, command.now);
      // A distributive Omit loses the link between `type` and the rest.
      const opening = { ...command, run, ...(facts ? { facts } : {}) } as Opening;
      const { events, state, reply, effects } = respond(pinned.definition, null, opening, values);
      if (state === null) return { run, reply, effects };
      const created = await store.create(run, pinned, entryOf(opening, events), state);
      if (created !== 'taken') return { run, reply, effects };
    }
    throw new StepfastError('busy', `No free run id was found in ${maxTaken} tries. Try again.`);
  }

  async function execute(
    run: string,
    command: Command,
    key?: string,
    circumstances: Circumstances = {},
  ): Promise<Executed> {
    const given = await shortened(run, command);
    for (let tries = 0; tries < maxConflicts; tries += 1) {
      const loaded = await store.load(run, key);
      if (!loaded) throw noRun(run);
      // What was stored under a key is what was answered.
      if (loaded.repeated) return { run, reply: loaded.repeated.reply as Reply, effects: [] };
      const { events, state, reply, effects } = answer(loaded, given, circumstances);
      if (state === null || events.length === 0) return { run, reply, effects };
      const entry = entryOf(given, events);
      if (key !== undefined) Object.assign(entry, { key, reply: { ...reply, replayed: true } });
      const version = await store.append(loaded, entry, state);
      if (version !== 'conflict') return { run, reply, effects };
    }
    throw new StepfastError('busy', `${run} was changed by others ${maxConflicts} times. Try again.`);
  }

  /** The session's binding and the command, as one batch. */
  function answer(
    { definition, state }: { definition: Pinned['definition']; state: State },
    command: Command,
    { facts, values }: Circumstances,
  ): Response {
    const { session, now } = command;
    if (session === undefined || !facts || Object.hasOwn(state.sessions, session))
      return respond(definition, state, command, values);
    const binding = { now, session, type: 'session', event: { type: 'started', ...facts } } as const;
    const bound = respond(definition, state, binding, values);
    const response = respond(definition, bound.state, command, values);
    return { ...response, events: [...bound.events, ...response.events] };
  }

  /** Long words are kept before the batch that names them; what is too long is left for the machine to refuse. */
  async function shortened(run: string, command: Command): Promise<Command> {
    const keep = async (words: Text): Promise<Text> => {
      if (typeof words !== 'string') return words;
      const bytes = Buffer.byteLength(words);
      return bytes <= longText || bytes > maxOutput ? words : await store.keep(run, words);
    };
    if (command.type === 'advance') return { ...command, output: await keep(command.output) };
    if (command.type === 'todo') return { ...command, content: await keep(command.content) };
    return command;
  }

  async function view(run: string): Promise<Loaded | undefined> {
    return await store.load(run);
  }

  async function ids(): Promise<string[]> {
    return await store.ids();
  }

  async function runs(): Promise<RunInfo[]> {
    return await store.list();
  }

  async function entries(run: string, after?: number): Promise<StoredEntry[]> {
    return await store.entries(run, after);
  }

  async function text(run: string, words: Text): Promise<string> {
    if (typeof words === 'string') return words;
    return (await store.text(run, words.digest)) ?? `${words.opening}…`;
  }

  async function watch(run: string, seq: number, ms: number): Promise<void> {
    await store.watch(run, seq, ms);
  }

  async function remove(run: string): Promise<void> {
    await store.remove(run);
  }
}

function entryOf({ now, actor, session }: Command, events: Event[]): Entry {
  return { now, ...(actor ? { actor } : {}), ...(session === undefined ? {} : { session }), events };
}

export const noRun = (run: string): StepfastError =>
  new StepfastError('no_run', `There is no run '${run.slice(0, 80)}'. See: stepfast runs`);
