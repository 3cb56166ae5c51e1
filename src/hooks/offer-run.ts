import { phaseOf } from '../machine/index.ts';
import { offerForAgentText, offerText } from '../messages/index.ts';
import type { HookOutput, Source } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { cancelCommand } from './cancel-command.ts';
import type { HookEvent } from './hook-event.ts';
import { personNotice } from './notify-person.ts';

/** A session that starts without a part in an unfinished run is told of it; a person or a call takes it up. */
export function offerRun(event: HookEvent, view: Loaded, source: Source): HookOutput {
  const { context, record, host } = event;
  const { run, definition, state } = view;
  record.setDelivery({ run, source, tries: 1, proven: 'none', offered: true });
  const waits = state.status === 'waiting' ? personNotice(view, event, { again: true }) : undefined;
  const cancel = cancelCommand(host);
  const offer = { ...state, phase: phaseOf(definition, state), now: context.nowOf(run), waits, cancel };
  // The person has seen it when the session started.
  const say = source === 'compact' ? {} : { say: offerText(offer) };
  return { context: offerForAgentText(offer), ...say };
}
