import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, DrivenSession, TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { numberIn, type Payload, partIn, textIn } from '../../payload.ts';
import { type Exit, type HostProcess, startHost } from '../../process.ts';
import { programName } from '../setup.ts';
import { agentFor, environmentFor, serveArguments } from './command-line.ts';
import { connect, type Server } from './server.ts';
import { createTurnReader } from './turn.ts';

/** Read by the model. */
const denialMessage =
  'Nobody is here to allow this. Do it in a way that needs no permission, or report what you could not do.';

/** The host retries for hours: the driver has waits of its own. */
const maxRetries = 3;
const interruptWaitMs = 10_000;

export async function openSession(options: DrivenOptions): Promise<DrivenSession> {
  const agent = agentFor(options);
  const { env, password } = environmentFor(options);
  const { cwd, resume } = options;
  const host = await startHost({ program: programName, title: 'OpenCode', args: serveArguments, env, cwd });
  const server = await connect(host, password);
  const created = resume === undefined ? await server.request('POST', '/session', {}) : undefined;
  const session = resume ?? textIn(Object(created), 'id');
  if (session === undefined) {
    await host.end(0);
    throw new StepfastError('host_failed', 'OpenCode created no session.');
  }
  await options.onSession?.(session);
  return await drive({ host, server, session, agent, options });
}

interface Drive {
  host: HostProcess;
  server: Server;
  session: string;
  agent: string | undefined;
  options: DrivenOptions;
}

async function drive({ host, server, session, agent, options }: Drive): Promise<DrivenSession> {
  const { onEvent } = options;
  const reader = createTurnReader(session);
  const path = `/session/${encodeURIComponent(session)}`;
  /** The host may report twice that it is idle after an abort: a turn ends only after it was busy. */
  let turn:
    | { denials: string[]; busy: boolean; failure?: TurnFailure; over(failure?: TurnFailure): void }
    | undefined;
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
    if (turn && status?.type === 'busy') turn.busy = true;
    if (status?.type !== 'retry' || (numberIn(status, 'attempt') ?? 0) < maxRetries) return;
    if (!turn || turn.failure) return;
    // The turn ends when the session is idle: it accepts the next prompt only then.
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
    if (event.type === 'session.idle' && turn?.busy) turn.over(turn.failure);
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
    turn = { denials, busy: false, over: resolve };
    interrupted = false;
    reader.begin();
    if (host.isFinished()) resolve(failureOf(await host.finished));
    else start().catch((error: unknown) => refused(error));
    const given = await promise;
    turn = undefined;
    const failure = given ?? (interrupted ? undefined : reader.failure());
    return {
      lastMessage: failure ? '' : reader.lastMessage(),
      spent: reader.spent(),
      denials,
      ...(interrupted && !failure ? { interrupted: true } : {}),
      ...(failure ? { failure } : {}),
    };

    /** Such as a session that does not exist. */
    function refused(error: unknown): void {
      if (host.isFinished()) return;
      const text = error instanceof Error ? error.message : String(error);
      resolve({ kind: 'exit', code: 1, signal: null, text });
    }
  };

  const [providerID, ...rest] = options.model?.split('/') ?? [];
  const chosen = rest.length > 0 ? { model: { providerID, modelID: rest.join('/') } } : {};
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
        await server.request('POST', `${path}/prompt_async`, prompt(text));
      }),
    compact: async (instructions) => {
      const model = reader.model();
      if (!model) return false;
      const before = compacted;
      // There is no place for instructions but the conversation.
      if (instructions !== undefined)
        await server.request('POST', `${path}/message`, prompt(instructions, { noReply: true }));
      const { failure } = await run(async () => await server.request('POST', `${path}/summarize`, model));
      return compacted > before && failure === undefined;
    },
    interrupt: async () => {
      if (host.isFinished() || !turn) return;
      interrupted = true;
      const late = AbortSignal.timeout(interruptWaitMs);
      const waited = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()));
      await Promise.race([server.request('POST', `${path}/abort`).catch(() => {}), waited, host.finished]);
    },
    end: async () => await host.end(0),
    exited: host.finished.then(() => {}),
  };
}
