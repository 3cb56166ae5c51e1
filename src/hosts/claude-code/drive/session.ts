import { randomUUID } from 'node:crypto';
import { StepfastError } from '../../../errors.ts';
import type {
  DrivenOptions,
  DrivenSession,
  HostEvent,
  TurnEnd,
  TurnFailure,
} from '../../../runtime/index.ts';
import { type Payload, partIn, textIn } from '../../payload.ts';
import { type Exit, type HostProcess, startHost } from '../../process.ts';
import { programName } from '../program.ts';
import { claudeTools } from '../tool-names.ts';
import { createBackground } from './background.ts';
import { argumentsFor, environmentFor } from './command-line.ts';
import { createEventReader, parseLine, wasInterrupted } from './stream.ts';
import { denialsIn, failureIn, spentAfter } from './turn-end.ts';

/** Read by the model. */
const denialMessage =
  'Nobody is here to allow this. Do it in a way that needs no permission, or report what you could not do.';

const interruptWaitMs = 10_000;
const graceMs = 10_000;

export async function openSession(options: DrivenOptions): Promise<DrivenSession> {
  const session = options.resume ?? randomUUID();
  const args = argumentsFor(options, session);
  // The first hook runs while the program starts.
  await options.onSession?.(session);
  const env = environmentFor(options.env);
  const host = await startHost({ program: programName, title: 'Claude Code', args, env, cwd: options.cwd });
  return drive(host, session, options);
}

interface Turn {
  uuid: string;
  /** The host's answer to this prompt; later results are of what ran in the background. */
  answered: boolean;
  compacted: boolean;
  denials: Map<string, string>;
  last: Payload | undefined;
  timer: NodeJS.Timeout | undefined;
  over(failure?: TurnFailure): void;
}

function drive(host: HostProcess, session: string, { onEvent }: DrivenOptions): DrivenSession {
  const reader = createEventReader();
  const background = createBackground();
  const replies = new Map<string, () => void>();
  const known = new Set<string>();
  let spent: TurnEnd['spent'] = { tokens: 0, cost: 0 };
  let turn: Turn | undefined;

  const emit = (event: HostEvent): void => {
    if (event.type === 'compacted' && event.trigger === 'manual' && turn) turn.compacted = true;
    onEvent(event);
  };

  const answerRequest = (line: Payload): void => {
    const request = partIn(line, 'request');
    const id = textIn(line, 'request_id');
    if (id === undefined) return;
    const tool = textIn(request, 'tool_name');
    if (request?.subtype !== 'can_use_tool' || tool === undefined) {
      const error = 'Not supported.';
      return host.write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
    }
    // A person's own rule may ask even for the tools of Stepfast.
    const own = claudeTools.own.test(tool);
    const response = own
      ? { behavior: 'allow', updatedInput: partIn(request, 'input') ?? {} }
      : { behavior: 'deny', message: denialMessage };
    host.write({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
    if (own) return;
    turn?.denials.set(textIn(request, 'tool_use_id') ?? id, tool);
    known.add(textIn(request, 'tool_use_id') ?? id);
    emit({ type: 'denied', tool });
  };

  const readResult = (line: Payload): void => {
    spent = spentAfter(line, spent);
    if (!turn) return;
    for (const { id, tool } of denialsIn(line)) {
      // The list may repeat those of earlier turns.
      if (known.has(id)) continue;
      known.add(id);
      turn.denials.set(id, tool);
    }
    const uuids = line.user_message_uuids;
    const answers =
      line.user_message_uuid === turn.uuid || (Array.isArray(uuids) && uuids.includes(turn.uuid));
    turn.answered ||= answers;
    if (!turn.answered) return;
    turn.last = line;
    if (background.isIdle() || line.is_error === true) turn.over();
    else waitForBackground(turn);
  };

  const waitForBackground = (waiting: Turn): void => {
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(waiting.over, background.waitMs());
  };

  const readLine = (text: string): void => {
    const line = parseLine(text);
    if (!line) return onEvent({ type: 'activity' });
    for (const event of reader.read(line)) emit(event);
    if (line.type === 'control_request') answerRequest(line);
    if (line.type === 'control_response')
      replies.get(textIn(partIn(line, 'response'), 'request_id') ?? '')?.();
    background.read(line);
    if (line.type === 'result') readResult(line);
    else if (turn?.answered) waitForBackground(turn);
  };

  const ended = ({ code, signal }: Exit): void =>
    turn?.over({ kind: 'exit', code, signal, text: host.stderr().trim().slice(-2_000) });

  host.onLine(readLine);
  host.finished.then(ended);

  const run = async (prompt: string): Promise<{ end: TurnEnd; compacted: boolean }> => {
    if (turn) throw new StepfastError('busy', 'The last prompt has no result yet. Wait for it.');
    const uuid = randomUUID();
    const { promise, resolve } = Promise.withResolvers<TurnFailure | undefined>();
    const current: Turn = {
      uuid,
      answered: false,
      compacted: false,
      denials: new Map(),
      last: undefined,
      timer: undefined,
      over: resolve,
    };
    turn = current;
    background.startTurn();
    if (host.isFinished()) ended(await host.finished);
    else host.write({ type: 'user', uuid, message: { role: 'user', content: prompt } });
    const exit = await promise;
    clearTimeout(current.timer);
    turn = undefined;
    const { last } = current;
    const failure = last ? failureIn(last, reader.resetAt()) : exit;
    return {
      compacted: current.compacted,
      end: {
        lastMessage: last && failure === undefined ? (textIn(last, 'result') ?? '') : '',
        spent,
        denials: [...current.denials.values()],
        ...(last && wasInterrupted(last) ? { interrupted: true } : {}),
        ...(failure === undefined ? {} : { failure }),
      },
    };
  };

  return {
    session,
    pid: host.pid,
    send: async (prompt) => (await run(prompt)).end,
    compact: async (instructions = '') => {
      const { end, compacted } = await run(`/compact ${instructions}`.trim());
      return compacted && end.failure === undefined;
    },
    interrupt: async () => {
      if (host.isFinished()) return;
      const id = randomUUID();
      const { promise, resolve } = Promise.withResolvers<void>();
      replies.set(id, resolve);
      const late = setTimeout(resolve, interruptWaitMs);
      host.write({ type: 'control_request', request_id: id, request: { subtype: 'interrupt' } });
      await Promise.race([promise, host.finished]);
      clearTimeout(late);
      replies.delete(id);
    },
    end: async (wait = graceMs) => await host.end(wait),
    exited: host.finished.then(() => {}),
  };
}
