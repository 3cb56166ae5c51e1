import { ended } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { briefingFor } from './compile-briefing.ts';
import { log } from './hook-log.ts';
import { pendingReason, type Sent, watchTools } from './session-record.ts';
import { arrivalOf } from './transcript.ts';
import type { Visit } from './visit.ts';

const mostTries = 3;

/** Injects the briefing of a run, and remembers it until it is known to have arrived. */
export async function deliver(
  visit: Visit,
  view: Loaded,
  { at, source, tries = 1, why, more }: Pick<Sent, 'source'> & Delivery,
): Promise<HookOutput> {
  const { host, session, place, notebook, key } = visit;
  const { id, text, at: position } = await briefingFor(view, place, { session, at }, host.budget);
  const whole =
    more !== undefined && text.length + more.length + 2 <= host.budget ? `${text}\n\n${more}` : text;
  notebook.send({
    run: view.run,
    source,
    id,
    text: whole,
    tries,
    ...(position === undefined ? {} : { at: position }),
  });
  watchTools(place.project, key);
  const what = tries > 1 ? 'repaired' : 'injected';
  log(place.project, place.now(), { what, run: view.run, session, briefing: id, why });
  return { context: whole };
}

interface Delivery {
  at?: string | undefined;
  tries?: number;
  /** For the log. */
  why: string;
  /** Told after the briefing, where it has room. */
  more?: string | undefined;
}

export const forgetPending = ({ place, key }: Pick<Visit, 'place' | 'key'>): void =>
  place.marks.drop(pendingReason(key));

/**
 * The fallback: what was injected is looked for in the conversation, and injected again where it did not arrive, or
 * arrived cut. Three times at most, and as often where there is nothing to look at.
 */
export async function repair(visit: Visit): Promise<HookOutput> {
  const { host, input, notebook, place } = visit;
  const { sent } = notebook;
  if (!sent || sent.proven) return {};
  const arrival = sent.text === undefined ? 'missing' : arrivalOf(host, input.transcript, sent);
  if (arrival === 'whole') {
    await prove(visit, 'transcript');
    return {};
  }
  if (arrival === 'unknown' || tooEarly(visit, sent)) {
    const looked = (sent.looked ?? 0) + 1;
    notebook.send({ ...sent, looked });
    if (arrival === 'unknown' && looked >= mostTries) await prove(visit, 'none');
    return {};
  }
  const bound = await place.bindings.get(visit.key);
  const view = await place.engine.view(sent.run);
  if (!view || ended(view.state) || (bound && bound.run !== sent.run)) {
    forgetPending(visit);
    return {};
  }
  const tries = sent.text === undefined ? sent.tries : sent.tries + 1;
  if (tries > mostTries) {
    await prove(visit, 'none');
    return {};
  }
  return await deliver(visit, view, { at: sent.at, source: sent.source, tries, why: arrival });
}

/** With the first prompt after a start the host has not yet written down what was injected before it. */
const tooEarly = ({ input }: Visit, { source, looked, text }: Sent): boolean =>
  input.kind === 'prompt' && text !== undefined && !looked && (source === 'startup' || source === 'resume');

/** Recorded once for each injection, where the run knows the session. `none`: nobody tries any more. */
export async function prove(visit: Visit, proven: NonNullable<Sent['proven']>): Promise<void> {
  const { notebook, place, session } = visit;
  const { sent } = notebook;
  if (!sent || sent.proven || sent.id === undefined) return;
  const { run, id: briefing } = sent;
  const now = place.now();
  notebook.send({ ...sent, proven });
  forgetPending(visit);
  if (proven === 'none') log(place.project, now, { what: 'gave_up', run, session, briefing, why: 'tries' });
  else log(place.project, now, { what: 'proven', run, session, briefing, by: proven });
  const event = { type: 'delivered', briefing, proven } as const;
  // A session that the run does not know is refused, and known with its first call.
  await place.engine.execute(run, { now, session, type: 'session', event });
}
