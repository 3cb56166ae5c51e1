import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, DrivenSession, TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';
import { type Exit, type HostProcess, startHost } from '../../process.ts';
import { programName } from '../setup.ts';
import { agentFor, environmentFor, serveArguments } from './command-line.ts';
import { findModel } from './model.ts';
import { connect, type Server } from './server.ts';
import { createTurnReader } from './turn.ts';

/** Read by the model. */
const denialMessage =
  'Nobody is here to allow this. Do it in a way that needs no permission, or report what you could not do.';

/** The host retries for hours: the driver has waits of its own. */
const maxRetries = 3;
const interruptWaitMs = 10_000;
const lastEventsMs = 10_000;

export async function openSession(options: DrivenOptions): Promise<DrivenSession> {
  const agent = agentFor(options);
  const { env, password } = environmentFor(options);
  const { cwd, resume } = options;
  const host = await startHost({ program: programName, title: 'OpenCode', args: serveArguments, env, cwd });
  try {
    const server = await connect(host, password);
    const created = resume === undefined ? await server.request('POST', '/session', {}) : undefined;
    const session = resume ?? textIn(Object(created), 'id');
    if (session === undefined) throw new StepfastError('host_failed', 'OpenCode created no session.');
    await options.onSession?.(session);
    return await drive({ host, server, session, agent, options });
  } catch (error) {
    await host.end(0);
    throw error;
  }
}

interface Drive {
  host: HostProcess;
  server: Server;
  session: string;
  agent: string | undefined;
  options: DrivenOptions;
}

interface Turn {
  denials: string[];
  /** Since it began. */
  busy: boolean;
  idle: boolean;
  /** The request that began it has its answer. */
  answered: boolean;
  failure?: TurnFailure;
  over(failure?: TurnFailure): void;
}

/**
 * After an error or an abort the host reports twice that it is idle, and loses a prompt that comes in between. Its
 * answer comes when it is done, but may be faster than the last events.
 */
function endIfDone({ busy, idle, answered, failure, over }: Turn): void {
  if (answered && busy && idle) over(failure);
}

async function drive({ host, server, session, agent, options }: Drive): Promise<DrivenSession> {
  const { onEvent } = options;
  const reader = createTurnReader(session);
  const path = `/session/${encodeURIComponent(session)}`;
  let turn: Turn | undefined;
  let compacted = 0;
  let interrupted = false;

  /** A subagent's session asks for itself. */
  const deny = (properties: Payload | undefined): void => {
    const [id, tool] = [textIn(properties, 'id'), textIn(properties, 'permission')];
    if (id === undefined) return;
    const reply = { reply: 'reject', message: denialMessage };
    server.request('POST', `/permission/${id}/reply`, reply).catch(() => {});
    turn?.denials.push(tool ?? '');
    onEvent({ type: 'denied', tool: tool ?? '' });
  };

  const onStatus = (status: Payload | undefined): void => {
    if (turn && status?.type === 'busy') Object.assign(turn, { busy: true, idle: false });
    if (status?.type !== 'retry' || (numberIn(status, 'attempt') ?? 0) < maxRetries) return;
    if (!turn || turn.failure) return;
    turn.failure = { kind: 'model_service', text: textIn(status, 'message') ?? '' };
    server.request('POST', `${path}/abort`).catch(() => {});
  };

  await server.listen((event) => {
    for (const each of reader.read(event)) onEvent(each);
    const properties = partIn(event, 'properties');
    if (event.type === 'permission.asked') deny(properties);
    if (properties?.sessionID !== session) return;
    if (event.type === 'session.compacted') compacted += 1;
    if (event.type === 'session.status') onStatus(partIn(properties, 'status'));
    if (event.type !== 'session.idle' || !turn?.busy) return;
    turn.idle = true;
    endIfDone(turn);
  });
  host.finished.then((exit) => turn?.over(failureOf(exit)));

  const failureOf = ({ code, signal }: Exit): TurnFailure => ({
    kind: 'exit',
    code,
    signal,
    text: host.stderr().trim().slice(-2_000),
  });

  /** Starts something that ends with the session being idle. */
  const run = async (start: () => Promise<unknown>): Promise<TurnEnd> => {
    if (turn) throw new StepfastError('busy', 'The last prompt has no result yet. Wait for it.');
    const { promise, resolve } = Promise.withResolvers<TurnFailure | undefined>();
    const denials: string[] = [];
    const current: Turn = { denials, busy: false, idle: false, answered: false, over: resolve };
    turn = current;
    interrupted = false;
    reader.begin();
    let late: NodeJS.Timeout | undefined;
    if (host.isFinished()) resolve(failureOf(await host.finished));
    else start().then(answered, refused);
    const given = await promise;
    clearTimeout(late);
    turn = undefined;
    const failure = given ?? (interrupted ? undefined : reader.failure());
    return {
      lastMessage: failure ? '' : reader.lastMessage(),
      spent: reader.spent(),
      denials,
      ...(interrupted && !failure ? { interrupted: true } : {}),
      ...(failure ? { failure } : {}),
    };

    function answered(): void {
      current.answered = true;
      endIfDone(current);
      late = setTimeout(() => resolve(current.failure), lastEventsMs);
    }

    /** Such as a session that does not exist, or the end of the host. */
    async function refused(error: unknown): Promise<void> {
      const isAnswer = error instanceof StepfastError;
      if (!isAnswer) await Promise.race([host.finished, delay(lastEventsMs)]);
      if (host.isFinished()) return;
      const text = error instanceof Error ? error.message : String(error);
      resolve({ kind: 'exit', code: 1, signal: null, text });
    }
  };

  const model = options.model === undefined ? undefined : await findModel(server, options.model);
  if (options.model !== undefined && !model) {
    await host.end(0);
    throw new StepfastError('host_failed', `OpenCode has no model '${options.model}': see opencode models.`);
  }
  const chosen = model ? { model } : {};
  const prompt = (text: string, more: object = {}): object => ({
    parts: [{ type: 'text', text }],
    ...chosen,
    ...(agent === undefined ? {} : { agent }),
    ...more,
  });

  return {
    session,
    pid: host.pid,
    send: async (text) =>
      await run(async () => {
        // The host accepts a prompt for any session.
        await server.request('GET', path);
        await server.request('POST', `${path}/message`, prompt(text));
      }),
    compact: async (instructions) => {
      const used = reader.model();
      if (!used) return false;
      const before = compacted;
      // There is no place for instructions but the conversation.
      if (instructions !== undefined)
        await server.request('POST', `${path}/message`, prompt(instructions, { noReply: true }));
      const { failure } = await run(async () => await server.request('POST', `${path}/summarize`, used));
      return compacted > before && failure === undefined;
    },
    interrupt: async () => {
      if (host.isFinished() || !turn) return;
      interrupted = true;
      const aborted = server.request('POST', `${path}/abort`).catch(() => {});
      await Promise.race([aborted, delay(interruptWaitMs), host.finished]);
    },
    end: async () => await host.end(0),
    exited: host.finished.then(() => {}),
  };
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
