import { join } from 'node:path';
import { redactQuickly } from '../context/index.ts';
import { ended } from '../machine/index.ts';
import { lasting, printable } from '../messages/index.ts';
import { createHolds, type Hold, type HoldCheck, type HookOutput } from '../runtime/index.ts';
import { log } from './hook-log.ts';
import type { Visit } from './visit.ts';

/** Less than a host gives a stop hook, with the time to end what still runs. */
const hookMs = 54_000;
/** With less there is no sense in beginning. */
const leastMs = 5000;
const mostHolds = 3;
const mostLines = 25;
const mostCharacters = 3000;

/**
 * What `stepfast hold` asked for, beside what the run wants (`before`): the command runs when a session of this worktree wants to stop, and red holds the
 * stop: once a turn, three times in all until it was green. A host that goes on because of a held stop is not held again, and
 * nobody is held who waits for a person.
 */
export async function heldByCommand(
  visit: Visit,
  { began, before }: { began: number; before: HookOutput },
): Promise<HookOutput> {
  const { input, place, key, session } = visit;
  const { project, state, now } = place;
  if (input.kind !== 'stop' || input.agent) return before;
  const holds = createHolds(project, state);
  const hold = holds.get(now());
  if (!hold || (await waits(visit))) return before;
  const boundMs = hookMs - (now() - began);
  const { checkHold } = await import('./with-files.ts');
  const cacheDirectory = join(state, 'cache');
  const check: HoldCheck =
    boundMs < leastMs
      ? { verdict: 'unfinished', ms: 0, busy: true }
      : await checkHold(hold, holds, { env: withoutOurs(place.env), boundMs, cacheDirectory });
  // Taken back while it ran.
  if (!holds.get(now())) return before;
  if (!('known' in check && check.known))
    holds.last = { now: now(), verdict: check.verdict, ms: 'ms' in check ? check.ms : 0 };
  const times = holds.times(key);
  const { why, output } = verdictOn(hold, check, { times, active: input.stopActive ?? false });
  if (output.block !== undefined) holds.held(key);
  const what = output.block === undefined ? 'allowed' : 'held';
  log(project, now(), { what, run: '', session, why: `hold: ${why}` });
  const say = [before.say, output.say].filter((text) => text !== undefined).join('\n');
  return { ...before, ...output, ...(say === '' ? {} : { say }) };
}

/** What the session is answered; `times` is how often it was held since the command was green. */
export function verdictOn(
  hold: Hold,
  check: HoldCheck,
  { times, active }: { times: number; active: boolean },
): { why: string; output: HookOutput } {
  const name = printable(redactQuickly(hold.command));
  if (check.verdict === 'green')
    return { why: check.known ? 'green before on this tree' : 'green', output: {} };
  if (check.verdict === 'unfinished')
    return {
      why: 'unfinished',
      output: { say: `Stepfast: ${unfinished(name, check)}; the stop was not held.` },
    };
  if (!active && times < mostHolds) return { why: 'red', output: { block: reason(hold, check, times + 1) } };
  const enough = active ? 'once already in this turn' : `${mostHolds} times already`;
  const say = `Stepfast: '${name}' is still red (${ending(check.exit)}); the session was held ${enough}, so it may stop.`;
  return { why: 'red', output: { say } };
}

/** A position that waits for a person, a context action or gates would keep a held session in a circle. */
async function waits({ place, key, session }: Visit): Promise<boolean> {
  const binding = await place.bindings.get(key);
  const state = binding && (await place.engine.view(binding.run))?.state;
  if (!state || ended(state)) return false;
  const mine = Object.values(state.cursors).filter(
    ({ lease }) => lease === undefined || lease.holder === session,
  );
  return (
    state.status === 'waiting' ||
    mine.some(
      ({ boundary, waiting, checking }) =>
        waiting || checking || (boundary !== undefined && boundary.state !== 'released'),
    )
  );
}

function reason({ command }: Hold, check: Extract<HoldCheck, { verdict: 'red' }>, time: number): string {
  const { exit, ms, tail } = check;
  const lines = lastLines(redactQuickly(tail));
  return [
    `'${printable(redactQuickly(command))}' is red: ${ending(exit)} after ${lasting(ms)}. The user set 'stepfast hold', so a session in this worktree goes on until it is green (held ${time} of ${mostHolds} times).`,
    ...(lines.length === 0
      ? ['It printed nothing.']
      : ['The last lines of its output:', ...lines.map((line) => `> ${line}`)]),
    'Stepfast runs it again when the turn ends. If it cannot be made green here, the reply says why; only the user lifts a hold.',
  ].join('\n');
}

function lastLines(text: string): string[] {
  const lines = text.trimEnd().split('\n').slice(-mostLines);
  let room = mostCharacters;
  const kept = lines
    .reverse()
    .map((line) => line.slice(0, 400))
    .filter((line) => {
      room -= line.length + 3;
      return room >= 0;
    });
  return kept.reverse().filter((line, index) => line !== '' || index > 0);
}

const ending = (exit: number | null): string => (exit === null ? 'ended by a signal' : `exit ${exit}`);

const unfinished = (name: string, { ms, busy }: Extract<HoldCheck, { verdict: 'unfinished' }>): string =>
  busy
    ? `there was no time left to run '${name}', or another session still runs it`
    : `'${name}' was not done after ${lasting(ms)} and was ended`;

/** The shim sets a cache for Stepfast's own code. */
function withoutOurs(env: Visit['place']['env']): Visit['place']['env'] {
  const { NODE_COMPILE_CACHE: cache, ...rest } = env;
  return cache === undefined || /[\\/]stepfast[\\/]node$/.test(cache) ? rest : env;
}
