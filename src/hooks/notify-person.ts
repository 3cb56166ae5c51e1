import {
  type Action,
  actions,
  type Cursor,
  formatHandle,
  isWithin,
  titledPath,
  usedUp,
} from '../machine/index.ts';
import { decideInTerminalText, noticeForPerson } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';
import { decidesIn } from '../workspace/index.ts';
import { decisionCode } from './decision-code.ts';
import type { HookEvent } from './hook-event.ts';

/**
 * The notice for a person when a turn ends and the run needs them: for a command that no model can type, or for a
 * decision. The model may not have mentioned it. Once per request, and at every stop where the run requires a reset.
 */
export function personNotice(
  { run, definition, state }: Loaded,
  { input, record, session, context, host }: HookEvent,
  { again = false } = {},
): string | undefined {
  if (input.agent) return undefined;
  for (const cursor of Object.values(state.cursors)) {
    const { lease } = cursor;
    if (lease && lease.holder !== session) continue;
    const [action] = actions(definition, state, { cursor, session });
    const text = noticeOf(action, cursor);
    if (text === undefined) continue;
    const at = formatHandle(run, cursor.path, cursor.visit);
    const repeated = again || (action.do === 'reset_context' && action.required);
    // More of a budget may run out as well.
    const granted = usedUp(state) ? ` ${JSON.stringify([state.budget.extra, state.total?.extra])}` : '';
    if (record.notifyOnce(`${at} ${text}${granted}`) || repeated)
      return `Stepfast: ${titledPath(definition, cursor.path)} ${text}`;
  }
  return undefined;

  function noticeOf(action: Action, cursor: Cursor): string | undefined {
    const { boundary } = cursor;
    const asked = boundary?.state === 'requested' && isWithin(boundary.session, session);
    if (action.do === 'reset_context' && !asked) return undefined;
    const typed = noticeForPerson(action, decisionCode(run, cursor));
    return typed !== undefined && action.do === 'wait' && decidesElsewhere()
      ? decideInTerminalText(action, run)
      : typed;
  }

  function decidesElsewhere(): boolean {
    const { engine, home, env } = context;
    return !host.typed || engine.serverOf?.(run) !== undefined || decidesIn(home, env) === 'terminal';
  }
}
