import { nextForTools } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';
import { positionOf } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';

/** Opens the session's position after a transition, and requests its context action where it has one. */
export async function openNextPosition(
  { context, session }: HookEvent,
  before: Loaded,
): Promise<{ view: Loaded; next: string; instructions: string | undefined }> {
  const command = { now: context.now(), session, type: 'status' } as const;
  const view = (await context.engine.execute(before.run, command)).view ?? before;
  const { status } = positionOf(view, context, { session });
  const { action } = status;
  return {
    view,
    next: nextForTools(action),
    instructions: action.do === 'work' ? status.instructions : undefined,
  };
}
