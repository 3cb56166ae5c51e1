import { join } from 'node:path';
import { redactQuickly } from '../context/index.ts';
import { ended } from '../machine/index.ts';
import { holdReleasedText, holdText, holdUnfinishedText, printable } from '../messages/index.ts';
import { createHolds, type Hold, type HoldCheck, type HookOutput } from '../runtime/index.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';

/** To end a command that still runs before the host ends the hook. */
const reserveMs = 6_000;
/** With less time left the command is not started. */
const minMs = 5_000;
const maxHolds = 3;
const maxLines = 25;
const maxCharacters = 3000;

/**
 * `stepfast hold`, after the run's own rules (`before`): when a session of this worktree wants to stop, the command
 * runs, and red holds the stop: once a turn, and three times until it is green again. A turn that continues because
 * of a held stop is not held again, and neither is a session that waits for a person.
 */
export async function heldByCommand(
  event: HookEvent,
  { began, before }: { began: number; before: HookOutput },
): Promise<HookOutput> {
  const { host, input, context, key, session } = event;
  const { project, state, now } = context;
  if (input.kind !== 'stop' || input.agent) return before;
  const holds = createHolds(project, state);
  const hold = holds.get(now());
  if (!hold || (await waits(event))) return before;
  const boundMs = host.limits.stopHookMs - reserveMs - (now() - began);
  const { checkHold } = await import('./with-files.ts');
  const cacheDirectory = join(state, 'cache');
  const check: HoldCheck =
    boundMs < minMs
      ? { verdict: 'unfinished', ms: 0, busy: true }
      : await checkHold(hold, holds, { env: context.commandEnv, boundMs, cacheDirectory });
  // The hold was removed while the command ran.
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

/** The answer to the session; `times` is how often it was held since the command was green. */
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
      output: { say: holdUnfinishedText(name, check.ms, check.busy) },
    };
  const { exit, ms, tail } = check;
  if (active || times >= maxHolds)
    return { why: 'red', output: { say: holdReleasedText(name, exit, active ? 'this_turn' : maxHolds) } };
  const lines = lastLines(redactQuickly(tail));
  const block = holdText({ command: name, exit, ms, lines, time: times + 1, limit: maxHolds });
  return { why: 'red', output: { block } };
}

/** A session that waits for a person, a context action or gates could do nothing, and would be held again and again. */
async function waits({ context, key, session }: HookEvent): Promise<boolean> {
  const binding = await context.bindings.get(key);
  const state = binding && (await context.engine.view(binding.run))?.state;
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

function lastLines(text: string): string[] {
  const lines = text.trimEnd().split('\n').slice(-maxLines);
  let room = maxCharacters;
  const kept = lines
    .reverse()
    .map((line) => line.slice(0, 400))
    .filter((line) => {
      room -= line.length + 3;
      return room >= 0;
    });
  return kept.reverse().filter((line, index) => line !== '' || index > 0);
}
