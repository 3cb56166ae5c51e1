import { isWithin } from '../machine/index.ts';
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
): Promise<{ view: Loaded; next: string; instructions: string | undefined }> {
  const asked = Object.values(before.state.cursors).some(
    ({ boundary }) => boundary?.state === 'requested' && isWithin(boundary.session, session),
  );
  const command = { now: context.now(), session, type: 'status' } as const;
  const view = (asked ? undefined : (await context.engine.execute(before.run, command)).view) ?? before;
  const { status } = positionOf(view, context, { session });
  const { action } = status;
  return {
    view,
    next: nextForTools(action),
    instructions: action.do === 'work' ? status.instructions : undefined,
  };
}
