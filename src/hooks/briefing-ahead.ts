import { ended, respond } from '../machine/index.ts';
import { type Binding, resetOf } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { compileFor, recordLoads } from './compile-briefing.ts';
import { looksIn } from './facts.ts';
import type { Ahead } from './session-record.ts';
import { begun } from './session-start.ts';
import type { Visit } from './visit.ts';

/**
 * What a bound session is told after the compaction that is about to begin, on the state as it will be then. undefined
 * where the reset opens a position: nobody is told of that before the run is.
 */
export async function compileAhead(
  { host, place, session }: Visit,
  view: Loaded,
  { binding, journal }: { binding: Binding; journal: number },
): Promise<Ahead | undefined> {
  const state = afterReset(view, binding, place.nowOf(view.run));
  if (!state) return undefined;
  const about = { session, at: binding.at };
  const { briefing, now, loads, files, worktree } = await compileFor(
    { ...view, state },
    place,
    about,
    host.budget,
  );
  const { id, text, at } = briefing;
  return {
    id,
    text,
    ...(at === undefined ? {} : { at }),
    now,
    worktree: place.project.worktree,
    files: looksIn(worktree, files),
    journal,
    loads,
  };
}

/**
 * Tells the run of a compaction after which the session was briefed without it. First of all: what the session does
 * next is done in the new context. Twice is the same as once.
 */
export async function payReset(visit: Visit): Promise<void> {
  const { notebook, place, key, session } = visit;
  const { sent } = notebook;
  if (!sent?.owes) return;
  const { owes, ...rest } = sent;
  const binding = await place.bindings.get(key);
  const view = await place.engine.view(sent.run);
  const { resetAt = 0 } = (view && known(view, session)) ?? {};
  // A context action that is waited for by now was asked for in the new context, which has seen none.
  const now = place.nowOf(sent.run);
  // When it was owed, by the clock of the run.
  const since = owes.since + now - place.now();
  const due = view && binding && resetAt < since && afterReset(view, binding, now);
  if (due) {
    const { length } = place.problems;
    await begun(visit, 'compact');
    // The next hook tries again.
    if (place.problems.length > length) return;
    const after = await place.engine.view(sent.run);
    if (after) await recordLoads(after, place, session, owes.loads).catch(() => {});
  }
  notebook.send(rest);
}

/** undefined where a reset would do more than be counted, or the session does not work on the run. */
function afterReset(view: Loaded, binding: Binding, now: number): Loaded['state'] | undefined {
  const { definition, state, run } = view;
  if (binding.run !== run || binding.endedAt !== undefined || ended(state)) return undefined;
  const reset = resetOf(state, binding, 'compact', now);
  if (known(view, reset.session ?? '')?.endedAt !== undefined) return undefined;
  const { events, state: after } = respond(definition, state, reset);
  return after && events.length > 0 && events.every(({ type }) => type === 'session.reset')
    ? after
    : undefined;
}

const known = ({ state: { sessions } }: Loaded, session: string) =>
  Object.hasOwn(sessions, session) ? sessions[session] : undefined;
