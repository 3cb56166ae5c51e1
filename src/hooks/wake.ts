import { checkingIn } from '../engine/index.ts';
import { ended, handleOf } from '../machine/index.ts';
import { continueText } from '../messages/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { afterCheck } from './check-stop.ts';
import type { HookEvent } from './hook-event.ts';
import { startedAs } from './session-start.ts';
import { waitUntil } from './wait-until.ts';

/** A check starts while the hook of the stop runs. */
const startMs = 5_000;
/** The hook of the stop gives up on a check a moment before or after it ends. */
const handoverMs = 3_000;

/**
 * Runs beside the hook of a stop or a session start. After a stop it waits for a check that the stop did not wait for,
 * and starts a turn with its result: only in the session that was checked, and never while another turn runs.
 */
export async function wake(event: HookEvent): Promise<HookOutput> {
  const { context, key, record, input } = event;
  if (input.source !== undefined) return await afterReset(event);
  const binding = await context.bindings.get(key);
  if (!binding || input.agent) return {};
  const began = await checkOf(event, binding.run);
  if (!began) return {};
  const view = await settled(event, began);
  if (!view || record.inTurn || !(await waitUntil(() => record.takeFromWake(began.id), handoverMs)))
    return {};
  // In the middle of a turn the result is left to the stop of that turn.
  if (record.inTurn) record.leaveToWake(began.id);
  const now = await context.bindings.get(key);
  if (now?.run !== view.run || now.endedAt !== undefined || ended(view.state) || record.inTurn) return {};
  const { block } = await afterCheck(event, view, { at: began.at });
  return block === undefined ? {} : { wake: block };
}

/** The reset that the run has asked for is done, and the briefing delivered: the person need not type "continue". */
async function afterReset({ input, record }: HookEvent): Promise<HookOutput> {
  const mayGo = await waitUntil(() => record.takeFromWake(startedAs(input)), startMs);
  return mayGo && !record.inTurn ? { wake: continueText } : {};
}

/** The check that this session's stop has started. */
async function checkOf({ context, session }: HookEvent, run: string) {
  let found: { run: string; id: string; at: string } | undefined;
  await waitUntil(async () => {
    const state = (await context.engine.view(run))?.state;
    for (const cursor of Object.values(state?.cursors ?? {})) {
      const { checking } = cursor;
      if (state && checking?.onPass && checking.session === session)
        found = { run, id: checking.id, at: handleOf(state, cursor) };
    }
    return found !== undefined;
  }, startMs);
  return found;
}

async function settled(
  { context }: HookEvent,
  { run, id }: { run: string; id: string },
): Promise<Loaded | undefined> {
  for (;;) {
    const view = await context.engine.view(run);
    const checking = view && checkingIn(view.state, id);
    if (!checking) return view;
    if (context.now() > checking.deadline) return undefined;
    await context.engine.watch(run, view.version.seq, 10_000, { check: id });
  }
}
