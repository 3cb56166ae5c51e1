import { mayStop } from '../machine/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { heldByCommand } from './command-hold.ts';
import { whereIs } from './compile-briefing.ts';
import { prove } from './deliver-briefing.ts';
import { log } from './hook-log.ts';
import { forPerson } from './notify-person.ts';
import { arrivalOf } from './transcript.ts';
import type { Visit } from './visit.ts';

/** Less than a host gives a stop hook. */
const gateMs = 45_000;
/** The host writes its conversation down while the turn ends. */
const proofMs = 500;
const pauseMs = 25;

/** A stop is held only where the workflow or a person asks for it, and never in a circle. */
export async function stop(visit: Visit): Promise<HookOutput> {
  const began = visit.place.now();
  const output = await stopOfRun(visit);
  return output.block === undefined ? await heldByCommand(visit, { began, before: output }) : output;
}

/** The machine's `mayStop` has the rules. */
async function stopOfRun(visit: Visit): Promise<HookOutput> {
  const { input, place, key, session } = visit;
  await provenByNow(visit);
  const { agent } = input;
  const binding = await place.sessions.stopping({
    ...key,
    ...(agent?.type === undefined ? {} : { agentType: agent.type }),
  });
  const view = binding && (await place.engine.view(binding.run));
  if (!view) return {};
  if (view.definition.stop !== 'hold') return told(view);
  const settled = input.stopActive ? view : await gatesSettled(visit, view);
  const { run, definition, state } = settled;
  const verdict = mayStop(definition, state, { session, active: input.stopActive ?? false });
  log(place.project, place.now(), {
    what: verdict.hold ? 'held' : 'allowed',
    run,
    session,
    why: verdict.reason,
  });
  if (!verdict.hold) {
    const unfinished = mayStop(definition, state, { session, active: false });
    if (input.stopActive && unfinished.hold) {
      const { failed_gates: [red] = [] } = whereIs(settled, place, { session, at: unfinished.at }).status;
      const why = red === undefined ? '' : `: ${red.what} is red`;
      return { say: `Stepfast: ${unfinished.reason}${why}. This turn was held once already, so it may end.` };
    }
    const running = Object.values(state.cursors).some(({ checking }) => checking);
    return running
      ? { say: `Stepfast: the gates of ${run} are still running; the stop was not held.` }
      : told(settled);
  }
  const event = { type: 'held', at: verdict.at } as const;
  const { reply } = await place.engine.execute(run, { now: place.now(), session, type: 'session', event });
  if ('code' in reply) return {};
  const { next } = whereIs(settled, place, { session, at: verdict.at });
  return {
    block: `Stepfast: ${verdict.reason}. ${next} If it cannot be done, workflow_advance with failed says why.`,
  };

  function told(now: Loaded): HookOutput {
    const say = forPerson(now, visit);
    return say === undefined ? {} : { say };
  }
}

/** A gate that runs may yet finish the session's own position: waited for, within bounds. */
async function gatesSettled({ place, session }: Visit, view: Loaded): Promise<Loaded> {
  const until = place.now() + gateMs;
  let now = view;
  for (let left = gateMs; left > 0; left = until - place.now()) {
    const cursors = Object.values(now.state.cursors);
    if (!cursors.some(({ checking, lease }) => checking && (!lease || lease.holder === session))) return now;
    await place.engine.watch(now.run, now.version.seq, left);
    now = (await place.engine.view(now.run)) ?? now;
  }
  return now;
}

async function provenByNow(visit: Visit): Promise<void> {
  const { host, input, notebook } = visit;
  const { sent } = notebook;
  if (!sent || sent.proven || sent.text === undefined) return;
  for (let waited = 0; waited <= proofMs; waited += pauseMs) {
    const arrival = arrivalOf(host, input.transcript, sent);
    if (arrival === 'whole') return await prove(visit, 'transcript');
    if (arrival === 'cut' || arrival === 'unknown') return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
