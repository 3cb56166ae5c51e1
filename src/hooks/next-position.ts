import type { Action } from '../machine/index.ts';
import { nextForTools } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';
import { positionOf } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';

/**
 * Opens the session's position after a transition, and requests its context action where it has one and no call has
 * done so: under `prefer`, a second request would skip it.
 */
export async function openNextPosition(
  { context, session }: HookEvent,
  before: Loaded,
): Promise<{
  view: Loaded;
  action: Action;
  next: string;
  instructions: string | undefined;
  /** Of the person who sent the work back. */
  feedback: string | undefined;
}> {
  const view = await opened();
  const { status } = positionOf(view, context, { session });
  const { action } = status;
  return {
    view,
    action,
    next: nextForTools(action),
    instructions: action.do === 'work' ? status.instructions : undefined,
    feedback: status.feedback,
  };

  async function opened(): Promise<Loaded> {
    // The transition may have requested it. To ask for the status again would skip it.
    if (positionOf(before, context, { session }).cursor?.boundary?.state === 'requested') return before;
    const command = { now: context.now(), session, type: 'status' } as const;
    return (await context.engine.execute(before.run, command)).view ?? before;
  }
}
