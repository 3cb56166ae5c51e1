import { startedIn } from '../machine/index.ts';
import { commandLeftText } from '../messages/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import type { HookEvent } from './hook-event.ts';

/** The engine runs a step: the session may end its turn, and is woken when a step for it follows. */
export function leaveCommand({ record, session }: HookEvent, { state }: Loaded): HookOutput | undefined {
  for (const cursor of Object.values(state.cursors)) {
    const { checking, lease } = cursor;
    const command = startedIn(cursor);
    if (!checking || command === undefined || (lease && lease.holder !== session)) continue;
    record.leaveToWake(checking.id);
    return { say: commandLeftText(command) };
  }
  return undefined;
}
