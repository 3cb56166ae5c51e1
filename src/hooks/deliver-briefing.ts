import { ended } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { recordCompaction } from './compaction.ts';
import { briefingFor, recordLoads } from './compile-briefing.ts';
import { findDelivery } from './find-delivery.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { preparedFor } from './prepared-briefing.ts';
import { endOf } from './session-files.ts';
import { type Delivery, pendingReason, watchTools } from './session-record.ts';

const maxTries = 3;

interface DeliveryOptions {
  at?: string | undefined;
  source: Delivery['source'];
  tries?: number;
  /** For the log. */
  why: string;
  /** Added after the briefing, where it fits. */
  more?: string | undefined;
}

/** Injects the briefing of a run, and stores it until its arrival is proven. */
export async function deliver(
  event: HookEvent,
  view: Loaded,
  { at, source, tries = 1, why, more }: DeliveryOptions,
): Promise<HookOutput> {
  const { host, session, context, record, key } = event;
  const { contextCharacters } = host.limits;
  const prepared = source === 'compact' && tries === 1 ? preparedFor(event, view) : undefined;
  if (prepared) await recordLoads(view, context, session, prepared.loads);
  const {
    id,
    text,
    at: position,
  } = prepared ?? (await briefingFor(view, context, { session, at }, contextCharacters));
  const whole =
    more !== undefined && text.length + more.length + 2 <= contextCharacters ? `${text}\n\n${more}` : text;
  record.setDelivery({
    run: view.run,
    source,
    id,
    text: whole,
    tries,
    since: context.now(),
    ...(position === undefined ? {} : { at: position }),
  });
  watchTools(context.project, key);
  const what = tries > 1 ? 'repaired' : 'injected';
  log(context.project, context.now(), { what, run: view.run, session, briefing: id, why });
  return { context: whole };
}

export const forgetPending = ({ context, key }: Pick<HookEvent, 'context' | 'key'>): void =>
  context.marks.drop(pendingReason(key));

/**
 * Searches the transcript for the last delivery, and delivers again what did not arrive in full: three times at most.
 * Where the transcript gives no answer, the third search is the last.
 */
export async function repair(event: HookEvent): Promise<HookOutput> {
  const { host, input, record, context } = event;
  const { delivery } = record;
  if (!delivery || delivery.proven || !isWritten(event, delivery)) return {};
  const arrival = delivery.text === undefined ? 'missing' : findDelivery(host, input.transcript, delivery);
  if (arrival === 'whole') {
    await prove(event, 'transcript');
    return {};
  }
  if (arrival === 'unknown' || isTooEarly(event, delivery)) {
    const looked = (delivery.looked ?? 0) + 1;
    record.setDelivery({ ...delivery, looked });
    if (arrival === 'unknown' && looked >= maxTries) await prove(event, 'none');
    return {};
  }
  const binding = await context.bindings.get(event.key);
  const view = await context.engine.view(delivery.run);
  if (!view || ended(view.state) || (binding && binding.run !== delivery.run)) {
    forgetPending(event);
    return {};
  }
  const tries = delivery.text === undefined ? delivery.tries : delivery.tries + 1;
  if (tries > maxTries) {
    await prove(event, 'none');
    return {};
  }
  return await deliver(event, view, { at: delivery.at, source: delivery.source, tries, why: arrival });
}

/** How long a host may take to write what happened. */
export const lateMs = 10_000;

/** Whether the transcript can show what became of the delivery. */
function isWritten({ host, input, context }: HookEvent, { since = 0, text }: Delivery): boolean {
  if (!host.writtenUntil || input.transcript === undefined || text === undefined) return true;
  return host.writtenUntil(endOf(input.transcript) ?? '') > since || context.now() - since >= lateMs;
}

/** At the first prompt after a start, the host has not yet written what was injected before it. */
const isTooEarly = ({ input }: HookEvent, { source, looked, text }: Delivery): boolean =>
  input.kind === 'prompt' && text !== undefined && !looked && (source === 'startup' || source === 'resume');

/** Recorded once per delivery, where the run knows the session. `none`: it is not tried again. */
export async function prove(event: HookEvent, proven: NonNullable<Delivery['proven']>): Promise<void> {
  const { record, context, session } = event;
  const { delivery } = record;
  if (!delivery || delivery.proven || delivery.id === undefined) return;
  const { run, id: briefing } = delivery;
  const now = context.now();
  record.setDelivery({ ...delivery, proven });
  forgetPending(event);
  if (proven === 'none') log(context.project, now, { what: 'gave_up', run, session, briefing, why: 'tries' });
  else log(context.project, now, { what: 'proven', run, session, briefing, by: proven });
  if (delivery.source === 'compact') await recordCompaction(event);
  // The run refuses this for a session that it does not know: that one is bound by its first call.
  const delivered = { type: 'delivered', briefing, proven } as const;
  await context.engine.execute(run, { now, session, type: 'session', event: delivered });
}
