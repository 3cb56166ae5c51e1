import { actions, isWithin } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { HookEvent } from './hook-event.ts';

/** The context action that the session has to take before it goes on, on a host that performs it. */
export async function requestedReset({
  host,
  input,
  context,
  key,
  session,
}: HookEvent): Promise<HookOutput['reset']> {
  const binding = host.resets && !input.agent ? await context.bindings.get(key) : undefined;
  const view = binding && (await context.engine.view(binding.run));
  for (const cursor of Object.values(view?.state.cursors ?? {})) {
    const { lease, boundary } = cursor;
    if (!view || (lease && lease.holder !== session)) continue;
    const [action] = actions(view.definition, view.state, { cursor, session });
    const asked = boundary?.state === 'requested' && isWithin(boundary.session, session);
    if (asked && action.do === 'reset_context' && !action.elsewhere) return action.context;
  }
  return undefined;
}
