import { StepfastError } from '../../errors.ts';
import { type Command, type Definition, dueArtifacts, ended, type Text } from '../../machine/index.ts';
import {
  type BeginBody,
  type CommandBody,
  type CredentialAnswer,
  etagOf,
  type IdsAnswer,
  maxPage,
  maxWatchMs,
  type Once,
  type OpeningCommand,
  ownKeyPrefix,
  type PublishAnswer,
  paths,
  preferenceOf,
  type SignInAnswer,
  type TokenAnswer,
  type WhoamiAnswer,
} from '../../schema/index.ts';
import { isRunId, type Loaded, type RunInfo, type StoredEntry } from '../../store/index.ts';
import type { Circumstances, Engine, Executed, WatchOptions } from '../engine.ts';
import { newRun } from '../new-run-id.ts';
import type { Answer } from './outcome.ts';
import { createAsking, type Question, type RemoteOptions } from './request.ts';
import type { EntriesAnswer, ExecutedAnswer, ListedRun, RunAnswer, RunsAnswer, WatchAnswer } from './wire.ts';

/** The runs of one project on a server. */
export interface RemoteEngine extends Engine {
  readonly url: string;
  /** The server's clock. */
  now(): number;
  whoami(): Promise<WhoamiAnswer>;
  /** Lets a workflow start in the project. */
  publish(definition: Definition): Promise<PublishAnswer>;
  /** A token for one session of this runner. */
  makeToken(name: string, seconds: number): Promise<TokenAnswer>;
  /** How a person gets a credential. */
  signIn(): Promise<SignInAnswer>;
  /** With the passphrase of the login's person. */
  credential(passphrase: string): Promise<CredentialAnswer>;
  /** With an invitation: sets a passphrase, and returns a token for agents. */
  join(passphrase: string): Promise<TokenAnswer>;
  /** All runs of the project without their states, newest first. */
  list(): Promise<ListedRun[]>;
}

const mostKnown = 32;
/** Commands whose effects follow from the run, whichever call was first. */
const reported: ReadonlySet<Command['type']> = new Set(['gatesFinished', 'todo']);
/** Ten thousand runs; more need a query, not a list. */
const mostPages = 50;

/**
 * The engine over HTTP. The server decides; a call whose reply was lost is retried with the same key.
 * Throws the errors of an engine, and `server_unreachable`, `server_failed`, `server_refused`.
 */
export function createRemoteEngine(options: RemoteOptions): RemoteEngine {
  const { ask, now, url } = createAsking(options);
  const known = new Map<string, { etag: string; view: Loaded }>();
  const looks = new Map<string, Promise<Loaded | undefined>>();
  return {
    url,
    now,
    whoami,
    publish,
    makeToken,
    signIn,
    credential,
    join,
    begin,
    execute,
    view,
    ids,
    list,
    runs,
    entries,
    text,
    watch,
    remove,
  };

  async function begin(
    definition: Definition,
    command: OpeningCommand,
    circumstances?: Circumstances,
    once: Once = onceFor(definition.name, now()),
  ): Promise<Executed> {
    const body: BeginBody = { definition, command, once, circumstances };
    const answer = await act({ method: 'POST', path: paths.runs, body, prefer: preferenceOf() });
    const executed = withView(bodyOf<ExecutedAnswer>(answer), definition);
    const repeated = !executed.changed && !('code' in executed.reply);
    return repeated && isOwn(once.key) ? await asFirst(executed, command) : executed;
  }

  async function execute(
    run: string,
    command: Command,
    key: string = ownKey(),
    circumstances?: Circumstances,
  ): Promise<Executed> {
    const body: CommandBody = { command, key, circumstances };
    const definition = known.get(run)?.view.definition;
    const prefer = definition && preferenceOf();
    const answer = await act({ method: 'POST', path: paths.commands(run), body, prefer });
    const executed = withView(bodyOf<ExecutedAnswer>(answer), definition);
    // `replayed` isn't enough for an output: another call may have completed the position. Older servers don't send
    // `repeated`.
    const isFirst = executed.repeated || ('replayed' in executed.reply && reported.has(command.type));
    const lost = isFirst && isOwn(key) && !('code' in executed.reply);
    return lost ? await asFirst(executed, command) : executed;
  }

  /** Views from before an action or a wait are stale, so they are dropped. */
  async function act(question: Question): Promise<Answer> {
    try {
      return await ask(question);
    } finally {
      looks.clear();
    }
  }

  /** Rebuilds the lost first reply, with its effects as far as they follow from the run. */
  async function asFirst(
    { repeated: _, ...executed }: Executed,
    command: Command | OpeningCommand,
  ): Promise<Executed> {
    const { run } = executed;
    const { replayed, ...reply } = { replayed: undefined, ...executed.reply };
    const loaded = await view(run).catch(() => undefined);
    const checking = 'checking' in reply ? reply.checking : undefined;
    const cursor = Object.values(loaded?.state.cursors ?? {}).find(
      (each) => checking !== undefined && each.checking?.id === checking.id,
    );
    const { session } = command;
    return {
      ...executed,
      // Only `replayed` was removed.
      reply: reply as Executed['reply'],
      changed: true,
      effects: [
        ...(cursor?.checking && 'at' in reply && reply.at !== undefined
          ? [{ type: 'runGates' as const, at: reply.at, ...cursor.checking }]
          : []),
        // Another call may have replaced it since.
        ...(command.type === 'todo'
          ? [{ type: 'writeTodo' as const, content: loaded?.state.todo ?? command.content }]
          : []),
      ],
      due:
        loaded && session !== undefined && !ended(loaded.state)
          ? dueArtifacts(loaded.definition, loaded.state, session)
          : [],
    };
  }

  function withView({ view: seen, ...executed }: ExecutedAnswer, definition?: Definition): Executed {
    const { run } = executed;
    if (!seen || !definition) return executed;
    return { ...executed, view: keep({ run, definition, ...seen }) };
  }

  async function view(run: string): Promise<Loaded | undefined> {
    const looked = looks.get(run) ?? loadView(run);
    if (options.together) looks.set(run, looked);
    looked.catch(() => looks.delete(run));
    return await looked;
  }

  async function loadView(run: string): Promise<Loaded | undefined> {
    if (!isRunId(run)) return undefined;
    const before = known.get(run);
    const answer = await orNone(() => ask({ path: paths.run(run), etag: before?.etag }));
    if (answer?.status === 304 && before) return before.view;
    known.delete(run);
    return answer && keep(bodyOf<RunAnswer>(answer));
  }

  function keep(found: Loaded): Loaded {
    if (options.together) looks.set(found.run, Promise.resolve(found));
    known.delete(found.run);
    known.set(found.run, { etag: etagOf(found.version), view: found });
    const [oldest] = known.keys();
    if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
    return found;
  }

  async function ids(name?: string): Promise<string[]> {
    if (name === undefined) return (await list()).map(({ run }) => run);
    // Cannot be an id or a suffix.
    if (!isRunId(name)) return [];
    return bodyOf<IdsAnswer>(await ask({ path: paths.runs, query: { name } })).ids;
  }

  async function list(): Promise<ListedRun[]> {
    const found: ListedRun[] = [];
    let after: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const answer = await ask({ path: paths.runs, query: { after, limit: maxPage } });
      const { runs: more, next } = bodyOf<RunsAnswer>(answer);
      found.push(...more);
      if (next === undefined || more.length === 0) break;
      after = next;
    }
    return found;
  }

  /** One request for each: a list has no states. */
  async function runs(): Promise<RunInfo[]> {
    const found: RunInfo[] = [];
    for (const { run, problem } of await list()) {
      const state = problem === undefined ? (await view(run))?.state : undefined;
      if (state) found.push({ run, state });
      else if (problem !== undefined) found.push({ run, problem });
    }
    return found;
  }

  async function entries(run: string, after?: number, most?: number): Promise<StoredEntry[]> {
    if (!isRunId(run)) return [];
    const answer = await orNone(() => ask({ path: paths.entries(run), query: { after } }));
    return answer ? bodyOf<EntriesAnswer>(answer).entries.slice(0, most) : [];
  }

  async function text(run: string, words: Text): Promise<string> {
    if (typeof words === 'string') return words;
    const answer = await orNone(() => ask({ path: paths.text(run, words.digest), plain: true }), isMissing);
    return answer ? String(answer.body) : `${words.opening}…`;
  }

  async function watch(
    run: string,
    seq: number,
    ms: number,
    { check, signal }: WatchOptions = {},
  ): Promise<Loaded | undefined> {
    const until = performance.now() + ms;
    const definition = known.get(run)?.view.definition;
    const prefer = definition && preferenceOf(check);
    for (let left = ms; left > 0; left = until - performance.now()) {
      const holdMs = Math.ceil(Math.min(left, maxWatchMs));
      const query = { after: seq, ms: holdMs };
      const answer = await orNone(() => act({ path: paths.watch(run), query, holdMs, prefer, signal }));
      if (!answer) return undefined;
      const { seq: now, view: seen } = bodyOf<WatchAnswer>(answer);
      if (seen && definition) return keep({ run, definition, ...seen });
      if (now > seq) break;
    }
    return await view(run);
  }

  async function remove(run: string): Promise<void> {
    known.delete(run);
    await orNone(() => act({ method: 'DELETE', path: paths.run(run) }));
  }

  async function whoami(): Promise<WhoamiAnswer> {
    return bodyOf<WhoamiAnswer>(await ask({ path: paths.whoami }));
  }

  async function publish(definition: Definition): Promise<PublishAnswer> {
    return bodyOf<PublishAnswer>(await ask({ method: 'POST', path: paths.workflows, body: { definition } }));
  }

  async function makeToken(name: string, seconds: number): Promise<TokenAnswer> {
    const body = { name, seconds };
    return bodyOf<TokenAnswer>(await ask({ method: 'POST', path: paths.tokens, body }));
  }

  async function signIn(): Promise<SignInAnswer> {
    return bodyOf<SignInAnswer>(await ask({ path: paths.signIn }));
  }

  async function credential(passphrase: string): Promise<CredentialAnswer> {
    const body = { passphrase };
    return bodyOf<CredentialAnswer>(await ask({ method: 'POST', path: paths.credentials, body }));
  }

  async function join(passphrase: string): Promise<TokenAnswer> {
    return bodyOf<TokenAnswer>(await ask({ method: 'POST', path: paths.people, body: { passphrase } }));
  }
}

/** Web Crypto: hooks load no other. */
const ownKey = (): string => `${ownKeyPrefix}${globalThis.crypto.randomUUID()}`;

export const onceFor = (workflow: string, now: number): Once => ({
  run: newRun(workflow, now),
  key: ownKey(),
});
const isOwn = (key: string): boolean => key.startsWith(ownKeyPrefix);

/** The server is trusted. */
const bodyOf = <T>({ body }: Answer): T => body as T;

async function orNone(
  asked: () => Promise<Answer>,
  isNone: (error: unknown) => boolean = isNoRun,
): Promise<Answer | undefined> {
  try {
    return await asked();
  } catch (error) {
    if (isNone(error)) return undefined;
    throw error;
  }
}

const isNoRun = (error: unknown): boolean => error instanceof StepfastError && error.code === 'no_run';

/** The run or only the text is missing. */
const isMissing = (error: unknown): boolean =>
  isNoRun(error) ||
  (error instanceof StepfastError &&
    // Set by `answerOf`.
    (error.data as { status?: number } | undefined)?.status === 404);
