import { cursorAt, ended, hasBudget, isFenced, own, type State, usedUp } from '../machine/index.ts';
import type { TurnEnd } from '../runtime/index.ts';
import type { Stretch } from './stretch.ts';
import { type DriverContext, delay, load } from './worker-context.ts';

const never = new AbortController().signal;
/** How long a person who stops the driver waits for a turn. */
const stopMs = 5_000;

/** How a turn ended. `lost`: the host did not react any more, so its session must be replaced. */
export type Turn = TurnEnd & { lost?: true };

/** Sends one prompt and watches the clocks until the turn has ended. */
export async function takeTurn(
  context: DriverContext,
  stretch: Stretch,
  { worker, at, prompt }: { worker: string; at: string; prompt: string },
): Promise<Turn> {
  const { timing, clock, report, signal } = context;
  let over = false;
  const turn = stretch.send(prompt).finally(() => {
    over = true;
  });
  /** When the turn was asked to end. */
  let asked: number | undefined;
  let doneAt: number | undefined;
  while (!over) {
    // A signal that was given already would end the pause at once.
    await Promise.race([turn.catch(() => {}), delay(timing.tickMs, asked === undefined ? signal : never)]);
    if (over) break;
    const now = clock();
    const why = await reasonToEnd(now);
    if (asked === undefined && why) {
      asked = now;
      if (why !== 'stopped') report({ type: 'interrupted', worker, why });
      await stretch.interrupt();
    }
    const graceMs = signal.aborted ? Math.min(stopMs, timing.graceMs) : timing.graceMs;
    if (asked !== undefined && clock() - asked > graceMs) {
      await stretch.end(0);
      return { ...(await turn), lost: true };
    }
  }
  return await turn;

  async function reasonToEnd(now: number): Promise<'idle' | 'done' | 'budget' | 'stopped' | undefined> {
    if (signal.aborted) return 'stopped';
    const idleMs = stretch.inTool ? timing.idleInToolMs : timing.idleMs;
    if (now - stretch.lastEventAt > idleMs) return 'idle';
    await tellSoFar(context, stretch, at);
    const { state } = await load(context);
    if (usedUp(state)) return 'budget';
    doneAt = hasMore(state, stretch.session, at) ? undefined : (doneAt ?? now);
    return doneAt !== undefined && now - doneAt > timing.graceMs ? 'done' : undefined;
  }
}

/** Whether the session still has work that needs no reset, no person and no other agent. */
function hasMore(state: State, session: string, at: string): boolean {
  if (ended(state)) return false;
  if (cursorAt(state, at)) return !cursorAt(state, at)?.waiting;
  return Object.values(state.cursors).some(({ lease, waiting, boundary }) => {
    const isMine = lease === undefined || lease.holder === session;
    const isOpen = !boundary || (boundary.state === 'released' && !isFenced(boundary, session));
    return isMine && isOpen && !waiting;
  });
}

/**
 * Reports what the session has spent so far. After the gates: work that passes counts, even if it used up the budget. A
 * turn that the model service refused is none.
 */
export async function tellSpending(
  { runtime, run, clock }: DriverContext,
  { session }: Stretch,
  at: string,
  { spent, failure }: TurnEnd,
): Promise<void> {
  const view = await runtime.engine.view(run);
  if (!view) return;
  const before = own(view.state.told, session) ?? nothingTold;
  const { startedAt = clock() } = own(view.state.sessions, session) ?? {};
  const turns = before.turns + (failure?.kind === 'model_service' ? 0 : 1);
  await runtime.call(
    {
      type: 'spend',
      source: session,
      at,
      turns,
      tokens: spent.tokens,
      cost: spent.cost,
      activeMs: hasBudget(view.definition) ? Math.max(before.activeMs, clock() - startedAt) : 0,
    },
    { session },
    { run },
  );
}

const nothingTold = { turns: 0, tokens: 0, activeMs: 0, cost: 0 };

/** What the session has spent in a turn that goes on, where no hook tells it in time. */
async function tellSoFar(context: DriverContext, { session, spent }: Stretch, at: string): Promise<void> {
  if (!spent) return;
  const { definition, state } = await load(context);
  if (!hasBudget(definition)) return;
  const before = own(state.told, session) ?? nothingTold;
  const { tokens, cost } = await spent();
  if (tokens <= before.tokens) return;
  const { runtime, run } = context;
  await runtime.call({ ...before, type: 'spend', source: session, at, tokens, cost }, { session }, { run });
}
