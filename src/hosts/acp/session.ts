import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepfastError } from '../../errors.ts';
import {
  type DrivenOptions,
  type DrivenSession,
  type HostEvent,
  sessionFileVariable,
  type TurnEnd,
  type TurnFailure,
} from '../../runtime/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../payload.ts';
import { type HostProcess, startHost } from '../process.ts';
import type { AcpAgent } from './agent.ts';
import { type Connection, connect, RpcFailure } from './connection.ts';
import { failureAt, failureOf } from './failure.ts';
import { createUpdateReader } from './updates.ts';

/** The program starts, connects its servers and loads a conversation. */
const openMs = 2 * 60_000;
const interruptWaitMs = 10_000;
/** A conversation that is loaded is told again, in some agents after the answer: it is over when nothing more comes. */
const replayMs = 250;
const longestReplayMs = 10_000;
/** Agents do not end with their input, and lose nothing by a signal. */
const graceMs = 500;

interface Turn {
  denials: Map<string, string>;
  compacted: boolean;
  /** The turn was asked to end. */
  asked: boolean;
  over: PromiseWithResolvers<void>;
}

type Outcome = { answer: Payload } | { failure: TurnFailure };

/**
 * A session that cannot be opened because of a lost login or a program that ends is returned all the same: its first
 * turn fails with the reason.
 */
export async function openSession(agent: AcpAgent, options: DrivenOptions): Promise<DrivenSession> {
  const folder = mkdtempSync(join(tmpdir(), 'stepfast-acp-'));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const { program, title } = agent;
    const host = await startHost({ program, title, cwd: options.cwd, ...agent.launch(options, folder) });
    host.finished.then(clean);
    return await drive(host, agent, options, folder).catch(async (error) => {
      await host.end(0);
      throw error;
    });
  } catch (error) {
    clean();
    throw error;
  }
}

async function drive(
  host: HostProcess,
  agent: AcpAgent,
  options: DrivenOptions,
  folder: string,
): Promise<DrivenSession> {
  const { onEvent } = options;
  const reader = createUpdateReader(agent.toolName);
  let turn: Turn | undefined;
  let tokens = 0;
  let lastUpdateAt = 0;

  const emit = (event: HostEvent): void => {
    if (event.type === 'compacted' && turn) turn.compacted = true;
    onEvent(event);
  };

  /** ACP has no place for a reason: the model reads that the call was rejected. */
  const answerPermission = (question: Payload): object => {
    const call = partIn(question, 'toolCall') ?? {};
    const isOwn = agent.isOwn(question);
    const option = optionOf(question, isOwn ? 'allow' : 'reject');
    if (isOwn) for (const event of reader.begin(call)) emit(event);
    else {
      const tool = agent.toolName(call);
      turn?.denials.set(textIn(call, 'toolCallId') ?? randomUUID(), tool);
      for (const event of [...reader.flush(), { type: 'denied', tool } as const]) emit(event);
    }
    const outcome =
      option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option };
    return { outcome };
  };

  const connection = connect(host, {
    onLine: () => onEvent({ type: 'activity' }),
    // Files are the agent's own affair: the client offers no others.
    onRequest: (method, params) =>
      method === 'session/request_permission' ? answerPermission(params) : undefined,
    onNotification: (method, params) => {
      const update = method === 'session/update' ? partIn(params, 'update') : undefined;
      if (update) lastUpdateAt = Date.now();
      if (update && turn) for (const event of reader.read(update)) emit(event);
      else if (update?.sessionUpdate === 'usage_update') reader.read(update);
    },
  });

  const exited = async (): Promise<Outcome> => {
    const { code, signal } = await host.finished;
    return { failure: { kind: 'exit', code, signal, text: host.stderr().trim().slice(-2_000) } };
  };
  /** What the host answers, unless it ends first. */
  const outcomeOf = async (answer: Promise<Payload>): Promise<Outcome> =>
    await Promise.race([answer.then((value) => ({ answer: value }), refused), exited()]);

  const late = setTimeout(() => void host.end(0), openMs);
  const opened = await outcomeOf(open(connection, agent, options, folder));
  clearTimeout(late);
  let problem = 'failure' in opened ? opened : undefined;
  // The driver opens another one once the first turn has failed.
  if (problem) void host.end(0);
  const session = ('answer' in opened ? textIn(opened.answer, 'session') : options.resume) ?? randomUUID();
  await options.onSession?.(session);
  if (options.resume !== undefined && !problem) await replayed(() => lastUpdateAt);
  const costBefore = reader.cost() ?? 0;

  const prompted = async (text: string): Promise<Outcome> => {
    const failed = problem;
    problem = undefined;
    if (failed || host.isFinished()) return failed ?? (await exited());
    const prompt = [{ type: 'text', text }];
    return await outcomeOf(connection.request('session/prompt', { sessionId: session, prompt }));
  };

  const run = async (prompt: string): Promise<{ end: TurnEnd; compacted: boolean }> => {
    if (turn) throw new StepfastError('busy', 'The last prompt has no result yet. Wait for it.');
    const over = Promise.withResolvers<void>();
    const current: Turn = { denials: new Map(), compacted: false, asked: false, over };
    turn = current;
    reader.reset();
    const outcome = await prompted(prompt);
    for (const event of reader.close()) emit(event);
    turn = undefined;
    over.resolve();
    const answer = 'answer' in outcome ? outcome.answer : {};
    const failed = 'failure' in outcome ? outcome.failure : failureAt(textIn(answer, 'stopReason'));
    // An agent may report the interrupted request as its failure.
    const interrupted =
      answer.stopReason === 'cancelled' || (current.asked && failed !== undefined && failed.kind !== 'exit');
    const failure = interrupted ? undefined : failed;
    tokens += agent.tokens(answer);
    const cost = reader.cost();
    return {
      compacted: current.compacted,
      end: {
        lastMessage: failure === undefined ? reader.lastMessage() : '',
        spent: { tokens, ...(cost === undefined ? {} : { cost: Math.max(0, cost - costBefore) }) },
        denials: [...current.denials.values()],
        ...(interrupted ? { interrupted: true } : {}),
        ...(failure === undefined ? {} : { failure }),
      },
    };
  };

  return {
    session,
    pid: host.pid,
    send: async (prompt) => (await run(prompt)).end,
    compact: async (instructions = '') => {
      if (agent.compact === undefined) return false;
      const { end, compacted } = await run(`${agent.compact} ${instructions}`.trim());
      return compacted && end.failure === undefined;
    },
    interrupt: async () => {
      const current = turn;
      if (!current || host.isFinished()) return;
      current.asked = true;
      connection.notify('session/cancel', { sessionId: session });
      const waited = setTimeout(current.over.resolve, interruptWaitMs);
      await current.over.promise;
      clearTimeout(waited);
    },
    end: async (wait = graceMs) => await host.end(wait),
    exited: host.finished.then(() => {}),
  };
}

/** Answers with the id of the session. */
async function open(
  connection: Connection,
  { name }: AcpAgent,
  { resume, cwd, command, env }: DrivenOptions,
  folder: string,
): Promise<Payload> {
  await connection.request('initialize', {
    protocolVersion: 1,
    clientInfo: { name: 'stepfast', version: '1' },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { compaction: {} },
    },
  });
  const [program = '', ...args] = command;
  const file = join(folder, 'session.json');
  // Some agents pass only a part of their environment on.
  const passed = Object.entries(env).filter(([key]) => /^(?:STEPFAST|XDG)_/.test(key));
  const variables = [...passed, [sessionFileVariable, file] as const];
  const server = {
    name: 'stepfast',
    command: program,
    args: [...args, 'mcp'],
    env: variables.map(([key, value = '']) => ({ name: key, value })),
  };
  const parts = { cwd, mcpServers: [server] };
  const answer =
    resume === undefined
      ? await connection.request('session/new', parts)
      : await connection.request('session/load', { ...parts, sessionId: resume });
  const session = resume ?? textIn(answer, 'sessionId');
  if (session === undefined) throw new RpcFailure({ message: 'The agent named no session.' });
  writeFileSync(file, JSON.stringify({ host: name, session }), { mode: 0o600 });
  return { session };
}

async function replayed(lastUpdateAt: () => number): Promise<void> {
  const from = Date.now();
  const isQuiet = (): boolean => Date.now() - Math.max(from, lastUpdateAt()) >= replayMs;
  while (!isQuiet() && Date.now() - from < longestReplayMs)
    await new Promise((resolve) => setTimeout(resolve, replayMs / 5));
}

function refused(error: unknown): Outcome {
  if (!(error instanceof RpcFailure)) throw error;
  return { failure: failureOf(error) };
}

/** Once rather than always: what is always allowed outlives the session in some agents. */
function optionOf({ options }: Payload, kind: 'allow' | 'reject'): string | undefined {
  const all = Array.isArray(options) ? options.filter(isPayload) : [];
  const found = ['once', 'always']
    .map((often) => all.find((option) => option.kind === `${kind}_${often}`))
    .find(Boolean);
  return textIn(found, 'optionId');
}
