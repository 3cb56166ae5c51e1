import { checkingIn } from '../engine/index.ts';
import { ended, handleOf, startedIn, startsCommands } from '../machine/index.ts';
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
  const seen = new Set<string>();
  for (;;) {
    const began = await checkOf(event, binding.run, seen);
    if (!began) return {};
    seen.add(began.id);
    const view = await settled(event, began);
    if (!view || record.inTurn) return {};
    // Otherwise the stop has delivered it; a command of the engine may follow.
    const mayFollow = startsCommands(view.definition);
    if (!(await waitUntil(() => record.takeFromWake(began.id), handoverMs))) {
      if (mayFollow) continue;
      return {};
    }
    // In the middle of a turn the result is left to the stop of that turn.
    if (record.inTurn) record.leaveToWake(began.id);
    const now = await context.bindings.get(key);
    if (now?.run !== view.run || now.endedAt !== undefined || ended(view.state) || record.inTurn) return {};
    // What waits for the person is shown at their next prompt: from here it cannot be.
    if (view.state.status !== 'running') return {};
    const { block } = await afterCheck(event, view, began);
    if (block !== undefined) return { wake: block };
    if (!mayFollow) return {};
  }
}

/** The reset that the run has asked for is done, and the briefing delivered: the person need not type "continue". */
async function afterReset({ input, record }: HookEvent): Promise<HookOutput> {
  const mayGo = await waitUntil(() => record.takeFromWake(startedAs(input)), startMs);
  return mayGo && !record.inTurn ? { wake: continueText } : {};
}

/** A check that this session's stop has started, or a command of the engine that it has left. */
async function checkOf({ context, session, record }: HookEvent, run: string, seen: ReadonlySet<string>) {
  let found: { run: string; id: string; at: string; command: string | undefined } | undefined;
  await waitUntil(async () => {
    const state = (await context.engine.view(run))?.state;
    for (const cursor of Object.values(state?.cursors ?? {})) {
      const { checking, lease } = cursor;
      const command = startedIn(cursor);
      const isOwn =
        command === undefined
          ? checking?.onPass && checking.session === session
          : lease === undefined || lease.holder === session;
      if (state && checking && isOwn && !seen.has(checking.id))
        found = { run, id: checking.id, at: handleOf(state, cursor), command };
    }
    // A quick one may have ended already.
    const left = record.leftToWake.find((id) => !seen.has(id) && id.includes('!'));
    if (!found && left !== undefined)
      found = { run, id: left, at: left.slice(0, left.lastIndexOf('!')), command: undefined };
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
