import { commandName } from '../command-name.ts';
import { StepfastError } from '../errors.ts';
import {
  type Command,
  type Cursor,
  type Definition,
  type DueArtifact,
  dueArtifacts,
  type Effect,
  type Event,
  ended,
  hasConditions,
  type LongText,
  type Notification,
  notificationsOf,
  type Prepare,
  type Reply,
  type Response,
  respond,
  type State,
  suffixOf,
  type Text,
} from '../machine/index.ts';
import type { Once, OpeningCommand, SentCircumstances } from '../schema/index.ts';
import {
  describeText,
  type Entry,
  type Loaded,
  longTextBytes,
  type Repeated,
  type RunInfo,
  type Store,
  type StoredEntry,
} from '../store/index.ts';
import { fingerprintOf } from './call-fingerprint.ts';

/** What a caller sends in addition to the command. */
export interface Circumstances extends SentCircumstances {
  /** The authenticated caller of a server, to whom keys belong. Absent without a server. */
  principal?: string;
}

export interface Executed {
  run: string;
  reply: Reply;
  /** For the process that has the files: gates to start or stop, a to-do list to write. */
  effects: Effect[];
  /** False for a repeated call. */
  changed: boolean;
  /** Nothing that the command says was kept, because its position waits. */
  ignored?: true;
  /** The key of this call was used before, so the reply is the first call's. */
  repeated?: true;
  /** This call discarded running gates. */
  interrupted: boolean;
  /** Critical artifacts that the caller's session must be shown now. */
  due: DueArtifact[];
  /** What the user wants to be told of this change; absent if nothing. Only the call that made the change has them. */
  notifications?: Notification[];
  /** The run after this call, if it is known without another load. */
  view?: Loaded | undefined;
}

export interface WatchOptions {
  /** The id of a gate run: returns once it has ended, not at every other change of the run. */
  check?: string;
  /** Ends the wait. */
  signal?: AbortSignal;
}

type Opening = Extract<Command, { type: 'start' | 'adopt' | 'import' }>;

/**
 * The seam: everything above speaks to a run through it, in process or over HTTP; only here are stores known.
 * Throws StepfastError: `no_run`, `busy`, `key_reused`, and what a store throws.
 */
export interface Engine {
  /** Pins the definition by its hash, whatever the command says. With `once` a repeated call begins nothing new. */
  begin(
    definition: Definition,
    command: OpeningCommand,
    circumstances?: Circumstances,
    once?: Once,
  ): Promise<Executed>;
  /** A repeated key gets the answer of the first call. */
  execute(run: string, command: Command, key?: string, circumstances?: Circumstances): Promise<Executed>;
  view(run: string): Promise<Loaded | undefined>;
  /** Ids of all runs, or of those that are `name` or end with `-name`; in no order; cheap. */
  ids(name?: string): Promise<string[]>;
  /** Runs on a server that have ended may be left out, unless `ended` asks for them. */
  runs(wanted?: { ended?: boolean }): Promise<RunInfo[]>;
  entries(run: string, after?: number, most?: number): Promise<StoredEntry[]>;
  text(run: string, text: Text): Promise<string>;
  /** The run once it is beyond `seq`, or after `ms`; undefined where there is none. */
  watch(run: string, seq: number, ms: number, options?: WatchOptions): Promise<Loaded | undefined>;
  remove(run: string): Promise<void>;
  /** The server of a run; undefined for a run in files. Absent without a server. */
  serverOf?(run: string): string | undefined;
  /** Makes the run a candidate for calls from this project that name no run. */
  know?(run: Loaded): void;
}

interface EngineOptions {
  store: Store;
  /** A run id that is new with high probability; asked again where it is taken. */
  newRun(workflow: string, now: number): string;
  hashOf(definition: Definition): string;
}

const maxConflicts = 64;
const maxTaken = 8;
/** The limit of the machine. */
const maxWords = 256 * 1024;

export function createEngine({ store, newRun, hashOf }: EngineOptions): Engine {
  return {
    begin,
    execute,
    view: (run) => store.load(run),
    ids: (name) => store.ids(name),
    runs: () => store.list(),
    entries: (...asked) => store.entries(...asked),
    text,
    watch,
    remove: (run) => store.remove(run),
  };

  async function begin(
    definition: Definition,
    command: OpeningCommand,
    { facts, values, principal }: Circumstances = {},
    once?: Once,
  ): Promise<Executed> {
    const hash = hashOf(definition);
    if (once) await requireOwnEnd(once.run);
    const prepare = await prepareFor(definition, null, async ({ opening }) => opening);
    for (let tries = 0; tries < maxTaken; tries += 1) {
      const run = once?.run ?? newRun(definition.name, command.now);
      // A distributive Omit loses the link between `type` and the rest.
      const opening = { ...command, hash, run, ...(facts ? { facts } : {}) } as Opening;
      const { events, state, reply, effects } = respond(definition, null, opening, values, prepare);
      const begun = { run, reply, effects, changed: state !== null, interrupted: false };
      if (state === null) return { ...begun, due: [] };
      const entry = entryOf(opening, events);
      const fingerprint = once && fingerprintOf(opening, principal);
      if (once) Object.assign(entry, { key: once.key, fingerprint, reply });
      const created = await store.create(run, { definition, hash }, entry, state);
      if (created !== 'taken') {
        const view = { run, definition, hash, state, version: created };
        const due = dueFor(opening, definition, state);
        // What was imported happened elsewhere.
        return { ...begun, due, view, ...(command.type === 'import' ? {} : toldOf(definition, null, state)) };
      }
      if (!once) continue;
      const first = await store.load(run, once.key);
      if (!first?.repeated) break;
      return {
        ...begun,
        reply: replyTo(fingerprint, first.repeated),
        changed: false,
        repeated: true,
        due: [],
      };
    }
    throw new StepfastError('busy', 'No free run id was found. Try again.');
  }

  /** Runs are named by the suffix of their ids, so a chosen id must not reuse one. */
  async function requireOwnEnd(run: string): Promise<void> {
    const other = (await store.ids(suffixOf(run))).find((id) => id !== run);
    if (other === undefined) return;
    const message = `The id '${run.slice(0, 80)}' ends as '${other}' does. Try again with another id.`;
    throw new StepfastError('busy', message);
  }

  async function execute(
    run: string,
    command: Command,
    key?: string,
    circumstances: Circumstances = {},
  ): Promise<Executed> {
    const words = longWords(command);
    const given = words ? withWords(command, words) : command;
    const fingerprint = key === undefined ? undefined : fingerprintOf(command, circumstances.principal);
    // Readers do not queue behind writers.
    const read = command.type === 'status' ? await attempt(store) : 'conflict';
    if (read !== 'conflict') return read;
    return store.inTurn ? await store.inTurn(run, write) : await write();

    async function write(shared = false): Promise<Executed> {
      let executed = shared ? await alone() : ((await guess()) ?? (await attempt(store)));
      // Another process was first: its state is decided on if the append returned it, otherwise the run is locked.
      if (executed === 'conflict') executed = (await guess()) ?? (await alone());
      for (let tries = 2; executed === 'conflict'; tries += 1) {
        if (tries === maxConflicts)
          throw new StepfastError('busy', `${run} was changed by others ${maxConflicts} times. Try again.`);
        executed = await alone();
      }
      return executed;
    }

    /** Decides on the last known state without a load; undefined if that writes nothing, because it may be outdated. */
    async function guess(): Promise<Executed | 'conflict' | undefined> {
      const seen = words || command.type === 'status' ? undefined : store.recent?.(run);
      if (!seen) return undefined;
      const decided = await decide(seen);
      // Only a load with the key can show whether the run has this call's own output. Such a call may bind its session.
      const isUnsure = decided.events.length === 0 || (key !== undefined && !isTaken(decided));
      return isUnsure ? undefined : await commit(store, seen, decided).catch(unlessTooLarge);
    }

    function alone(): Promise<Executed | 'conflict'> {
      return store.locked ? store.locked(run, attempt) : attempt(store);
    }

    async function attempt(within: Store): Promise<Executed | 'conflict'> {
      const found = await within.load(run, key);
      if (!found) throw noRun(run);
      const { repeated, ...loaded } = found;
      if (!repeated) return await commit(within, loaded, await decide(loaded));
      const reply = replyTo(fingerprint, repeated);
      const unchanged = { effects: [], changed: false, interrupted: false, due: [], view: loaded };
      return { run, reply, repeated: true, ...unchanged };
    }

    async function decide(loaded: Loaded): Promise<Answered> {
      const prepare = await prepareFor(loaded.definition, loaded.state, (each) => text(run, each), words);
      return answer(loaded, given, circumstances, prepare);
    }

    async function commit(
      within: Store,
      loaded: Loaded,
      { events, state, ...executed }: Answered,
    ): Promise<Executed | 'conflict'> {
      const { reply } = executed;
      if (events.length === 0) return executed;
      // Before the batch that names them, and only where there is one.
      if (words) await within.keep(run, words.text);
      const entry = entryOf(given, events);
      // An output that was beaten or ignored gets its answer from the state each time, even if it bound a session.
      if (key !== undefined && isTaken(executed))
        Object.assign(entry, { key, fingerprint, reply: { ...reply, replayed: true } });
      const version = await within.append(loaded, entry, state);
      if (version === 'conflict') return 'conflict';
      const told = toldOf(loaded.definition, loaded.state, state);
      return { ...executed, view: { ...loaded, state, version }, ...told };
    }
  }

  async function watch(
    run: string,
    seq: number,
    ms: number,
    { check, signal }: WatchOptions = {},
  ): Promise<Loaded | undefined> {
    const until = performance.now() + ms;
    for (let after = seq; ; ) {
      await store.watch(run, after, Math.max(0, until - performance.now()), signal);
      const view = await store.load(run);
      const goesOn = view && check !== undefined && view.version.seq > after && checkingIn(view.state, check);
      if (!goesOn || signal?.aborted || performance.now() >= until) return view;
      after = view.version.seq;
    }
  }

  async function text(run: string, words: Text): Promise<string> {
    if (typeof words === 'string') return words;
    return (await store.text(run, words.digest)) ?? `${words.opening}…`;
  }
}

/** Conditions need an interpreter, which is loaded only where a workflow has some. */
async function prepareFor(
  definition: Definition,
  ...rest: [State | null, (text: LongText) => Promise<string>, { text: string; kept: LongText }?]
): Promise<Prepare | undefined> {
  if (!hasConditions(definition)) return undefined;
  const { createPrepare } = await import('./prepare-positions.ts');
  return await createPrepare(definition, ...rest);
}

/** The answer to a command that changes nothing; undefined if it would change the run. */
export function answerFrom(
  view: Loaded,
  command: Command,
  circumstances: Circumstances,
): Executed | undefined {
  const { events, state, ...executed } = answer(view, command, circumstances);
  const isPreparing = Object.values(state.cursors).some(({ preparing }) => preparing);
  return events.length === 0 && !isPreparing ? executed : undefined;
}

/** Whether what the command says was kept, or refused with a change of the run. */
const isTaken = ({ changed, ignored, reply }: Executed): boolean =>
  changed && !ignored && !('replayed' in reply);

type Answered = Executed & Pick<Response, 'events'> & { state: State };

/** Binds the session and runs the command as one batch. A refused command does not bind. */
function answer(
  view: Loaded,
  sent: Command,
  { facts, values, check }: Circumstances,
  prepare?: Prepare,
): Answered {
  const { run, definition, state } = view;
  const command = check === undefined || checkingIn(state, check) ? sent : withoutRunner(sent);
  const { session, now } = command;
  const known = session === undefined || !facts || Object.hasOwn(state.sessions, session);
  // A run that has ended takes no further session.
  if (known || ended(state)) return executedBy(respond(definition, state, command, values, prepare));
  const principal = command.actor?.principal;
  const binding = {
    ...{ now, session },
    ...(principal && { actor: { kind: 'agent', principal } as const }),
    type: 'session',
    event: { type: 'started', ...facts },
  } as const;
  const bound = respond(definition, state, binding, values);
  const response = respond(definition, bound.state, command, values, prepare);
  if ('code' in response.reply && response.events.length === 0) return executedBy(response);
  return executedBy(
    { ...response, events: [...bound.events, ...response.events] },
    response.events.length > 0,
  );

  function executedBy(
    { events, state: after, reply, effects, ignored }: Response,
    changed: boolean = events.length > 0,
  ) {
    const interrupted = events.some(({ type }) => type === 'gates.interrupted');
    const due = after === null ? [] : dueFor(command, definition, after);
    const answered = { run, reply, effects, interrupted, due, changed, view, events, state: after ?? state };
    return { ...answered, ...(ignored && { ignored }) };
  }
}

/** The text of a command that is too long for the journal. The machine refuses even longer texts. */
function longWords(command: Command): { text: string; kept: LongText } | undefined {
  const words =
    command.type === 'advance' || command.type === 'gatesFinished'
      ? (command.output ?? '')
      : command.type === 'todo'
        ? command.content
        : '';
  if (typeof words !== 'string' || words.length > maxWords) return undefined;
  const { bytes, kept } = describeText(words);
  return bytes.length > longTextBytes && bytes.length <= maxWords ? { text: words, kept } : undefined;
}

function withWords(command: Command, { text, kept }: { text: string; kept: LongText }): Command {
  if (command.type === 'advance') return { ...command, output: kept, text };
  if (command.type === 'gatesFinished') return { ...command, output: kept };
  return command.type === 'todo' ? { ...command, content: kept } : command;
}

/** The current state may be smaller than the last known one. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof StepfastError) || error.code !== 'state_too_large') throw error;
}

/** The answer of the first call with this key. Throws `key_reused` if that call was different. */
function replyTo(fingerprint: string | undefined, first: Repeated): Reply {
  if (first.fingerprint !== undefined && first.fingerprint !== fingerprint)
    throw new StepfastError(
      'key_reused',
      'This key was used for another call: another command, other content or another caller.',
    );
  // What was stored under a key is what was answered.
  return first.reply as Reply;
}

function toldOf(definition: Definition, before: State | null, after: State): Pick<Executed, 'notifications'> {
  const notifications = notificationsOf(definition, before, after);
  return notifications.length === 0 ? {} : { notifications };
}

const dueFor = ({ session }: Command, definition: Definition, state: State): DueArtifact[] =>
  session === undefined || ended(state) ? [] : dueArtifacts(definition, state, session);

function withoutRunner(command: Command): Command {
  if (!('runnerAlive' in command)) return command;
  const { runnerAlive: _, ...rest } = command;
  return rest;
}

export const checkingIn = (state: State, id: string): Cursor['checking'] =>
  Object.values(state.cursors).find((cursor) => cursor.checking?.id === id)?.checking;

function entryOf({ now, actor, session }: Command, events: Event[]): Entry {
  return { now, ...(actor ? { actor } : {}), ...(session === undefined ? {} : { session }), events };
}

export const noRun = (run: string): StepfastError =>
  new StepfastError('no_run', `There is no run '${run.slice(0, 80)}'. See: ${commandName()} runs`);
