import { ended, hasBudget, own } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';
import type { HookEvent } from './hook-event.ts';

/**
 * Tells a run with a budget what the session has spent on it so far, and returns the run as it is then. `at` is the
 * position that it was spent on, where the run has moved meanwhile. A turn counts where it ends.
 */
export async function reportSpending(
  { host, input, context, key, session }: HookEvent,
  view: Loaded,
  at?: string,
  { midTurn = false } = {},
): Promise<Loaded> {
  const { transcript } = input;
  const { run, definition, state } = view;
  const since = own(state.sessions, session)?.startedAt;
  if (!host.spending || !hasBudget(definition) || ended(state)) return view;
  if (transcript === undefined || since === undefined) return view;
  const { turns, cost: told, ...spent } = await host.spending(transcript, since);
  const over = midTurn ? Math.max(0, turns - 1) : turns;
  const cost = told ?? (await context.bindings.get(key))?.cost?.spent ?? 0;
  const command = {
    type: 'spend',
    now: context.now(),
    session,
    source: session,
    turns: over,
    ...spent,
    cost,
  } as const;
  await context.engine.execute(run, { ...command, ...(at === undefined ? {} : { at }) });
  return (await context.engine.view(run)) ?? view;
}
