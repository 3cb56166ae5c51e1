import { actions, formatHandle, isWithin } from '../machine/index.ts';
import { noticeForPerson } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';
import { decisionCode } from './decision-code.ts';
import type { HookEvent } from './hook-event.ts';

/**
 * The notice for a person when a turn ends and the run needs them: for a command that no model can type, or for a
 * decision. The model may not have mentioned it. Once per request.
 */
export function personNotice(
  { run, definition, state }: Loaded,
  { input, record, session }: HookEvent,
): string | undefined {
  if (input.agent) return undefined;
  for (const cursor of Object.values(state.cursors)) {
    const { boundary, lease } = cursor;
    if (lease && lease.holder !== session) continue;
    const [action] = actions(definition, state, { cursor, session });
    const asked = boundary?.state === 'requested' && isWithin(boundary.session, session);
    const text =
      action.do === 'reset_context' && !asked
        ? undefined
        : noticeForPerson(action, decisionCode(run, cursor));
    if (text === undefined) continue;
    const at = formatHandle(run, cursor.path, cursor.visit);
    if (record.notifyOnce(`${at} ${text}`)) return `Stepfast: ${cursor.path} ${text}`;
  }
  return undefined;
}
