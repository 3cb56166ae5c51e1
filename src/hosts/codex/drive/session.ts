import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions, DrivenSession, TurnEnd, TurnFailure } from '../../../runtime/index.ts';
import { type Payload, partIn, textIn } from '../../payload.ts';
import { type AppServer, startAppServer } from '../app-server.ts';
import { failureIn, itemEvents, resetIn, statusOf, tokensIn } from './notifications.ts';
import { environmentFor, openThread, overrides } from './thread.ts';

const graceMs = 10_000;
const interruptWaitMs = 10_000;

interface Turn {
  id: string | undefined;
  compacted: boolean;
  lastMessage: string;
  denials: string[];
  over(end: Payload | TurnFailure): void;
}

export async function openSession(options: DrivenOptions): Promise<DrivenSession> {
  let session = '';
  let turn: Turn | undefined;
  let tokens = 0;
  let resetAt: number | undefined;
  const server = await startAppServer({
    args: overrides(options),
    env: environmentFor(options.env),
    cwd: options.cwd,
    onNotification,
    onRequest,
  });
  const { host } = server;
  try {
    session = await openThread(server, options);
    // Its first hook runs with its first turn.
    await options.onSession?.(session);
  } catch (error) {
    await host.end(0);
    throw error;
  }
  host.finished.then(({ code, signal }) =>
    turn?.over({ kind: 'exit', code, signal, text: host.stderr().trim().slice(-2_000) }),
  );
  return {
    session,
    pid: host.pid,
    send: async (prompt) => {
      const input = [{ type: 'text', text: prompt, text_elements: [] }];
      return (await run('turn/start', { input })).end;
    },
    compact: async () => {
      const { end, compacted } = await run('thread/compact/start', {});
      return compacted && end.failure === undefined;
    },
    interrupt,
    end: async (wait = graceMs) => await host.end(wait),
    exited: host.finished.then(() => {}),
  };

  function onNotification(method: string, params: Payload): void {
    options.onEvent({ type: 'activity' });
    const item = partIn(params, 'item');
    if (method === 'thread/tokenUsage/updated' && turn) tokens += tokensIn(params);
    if (method === 'account/rateLimits/updated') resetAt = resetIn(params);
    if (method === 'error' && params.willRetry === true) {
      const status = statusOf(partIn(params, 'error'));
      options.onEvent({ type: 'retry', ...(status === undefined ? {} : { status }) });
    }
    if (item) readItem(params, item, method === 'item/started');
    // Subagents have threads of their own.
    const ended = partIn(params, 'turn');
    if (textIn(params, 'threadId') !== session || !turn || !ended) return;
    if (method === 'turn/started') turn.id = textIn(ended, 'id');
    if (method === 'turn/completed' && textIn(ended, 'id') === turn.id) turn.over(ended);
  }

  function readItem(params: Payload, item: Payload, open: boolean): void {
    const isMain = textIn(params, 'threadId') === session;
    for (const event of itemEvents(item, open)) {
      if (event.type === 'text' && !isMain) continue;
      if (event.type === 'text' && turn) turn.lastMessage = event.text;
      if (event.type === 'denied') turn?.denials.push(event.tool);
      if (event.type === 'compacted' && isMain && turn) turn.compacted = true;
      options.onEvent(event);
    }
  }

  /** Nobody is here to allow anything. */
  function onRequest(method: string): object {
    if (method === 'item/tool/requestUserInput') return { answers: {} };
    if (method === 'mcpServer/elicitation/request') return { action: 'decline', content: null };
    if (method === 'item/permissions/requestApproval') return { permissions: {}, scope: 'turn' };
    const tool = method.includes('fileChange') ? 'apply_patch' : 'Bash';
    turn?.denials.push(tool);
    options.onEvent({ type: 'denied', tool });
    return { decision: 'decline' };
  }

  async function run(method: string, params: object): Promise<{ end: TurnEnd; compacted: boolean }> {
    if (turn) throw new StepfastError('busy', 'The last prompt has no result yet. Wait for it.');
    const { promise, resolve } = Promise.withResolvers<Payload | TurnFailure>();
    const current: Turn = { id: undefined, compacted: false, lastMessage: '', denials: [], over: resolve };
    turn = current;
    start(server, method, { threadId: session, ...params }, current);
    const result = await promise;
    turn = undefined;
    const failure = 'kind' in result ? (result as TurnFailure) : failureIn(result, resetAt);
    return {
      compacted: current.compacted,
      end: {
        lastMessage: failure === undefined ? current.lastMessage : '',
        spent: { tokens },
        denials: current.denials,
        ...('status' in result && result.status === 'interrupted' ? { interrupted: true } : {}),
        ...(failure === undefined ? {} : { failure }),
      },
    };
  }

  async function interrupt(): Promise<void> {
    if (!turn?.id || host.isFinished()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, interruptWaitMs);
    const asked = server.request('turn/interrupt', { threadId: session, turnId: turn.id });
    await Promise.race([asked.catch(() => {}), promise]);
    clearTimeout(late);
  }
}

/** A refusal ends the turn; the end of the process is reported elsewhere. */
function start({ host, request }: AppServer, method: string, params: object, turn: Turn): void {
  request(method, params).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    if (host.isFinished())
      host.finished.then(({ code, signal }) => turn.over({ kind: 'exit', code, signal, text }));
    else turn.over({ kind: 'limit', text });
  });
}
