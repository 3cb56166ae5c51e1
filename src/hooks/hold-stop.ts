import { mayStop } from '../machine/index.ts';
import { gatesRunningText, stopHeldText, stopReleasedText } from '../messages/index.ts';
import type { HookOutput } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { stopWithCheck } from './check-stop.ts';
import { heldByCommand } from './command-hold.ts';
import { positionOf } from './compile-briefing.ts';
import { prove } from './deliver-briefing.ts';
import { findDelivery } from './find-delivery.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { leaveCommand } from './leave-command.ts';
import { personNotice } from './notify-person.ts';
import { reportSpending } from './report-spending.ts';
import { requestedReset } from './requested-reset.ts';

/** What is left of the host's time for a stop hook after the wait for gates. */
const reserveMs = 15_000;
/** The host writes the transcript while the turn ends; one that tells until when it has written does so at intervals. */
const proofMs = 500;
const lateProofMs = 2_000;
const pauseMs = 25;

/** A stop is held only where the workflow or `stepfast hold` asks for it, and never without end. */
export async function stop(event: HookEvent): Promise<HookOutput> {
  const began = event.context.now();
  const output = await stopOfRun(event);
  const reset = output.block === undefined ? await requestedReset(event) : undefined;
  if (reset !== undefined) return { ...output, reset };
  return output.block === undefined ? await heldByCommand(event, { began, before: output }) : output;
}

/** The rules are in the machine's `mayStop`. */
async function stopOfRun(event: HookEvent): Promise<HookOutput> {
  const { input, context, key, session } = event;
  await proveByTranscript(event);
  const { agent } = input;
  const binding = await context.sessions.stopping({
    ...key,
    ...(agent?.type === undefined ? {} : { agentType: agent.type }),
  });
  const view = binding && (await context.engine.view(binding.run));
  if (!view) return {};
  const left = agent ? undefined : leaveCommand(event, view);
  if (left) {
    await reportSpending(event, view);
    return left;
  }
  if (view.definition.stop === 'check' && !agent) return await stopWithCheck(event, view);
  if (view.definition.stop !== 'hold') return notice(agent ? view : await reportSpending(event, view));
  const gated = input.stopActive ? view : await afterGates(event, view);
  const settled = agent ? gated : await reportSpending(event, gated);
  const { run, definition, state } = settled;
  const verdict = mayStop(definition, state, { session, active: input.stopActive ?? false });
  log(context.project, context.now(), {
    what: verdict.hold ? 'held' : 'allowed',
    run,
    session,
    why: verdict.hold ? 'unfinished' : verdict.why,
  });
  if (!verdict.hold) {
    const unfinished = mayStop(definition, state, { session, active: false });
    if (input.stopActive && unfinished.hold) {
      const { failed_gates: [red] = [] } = positionOf(settled, context, {
        session,
        at: unfinished.at,
      }).status;
      return { say: stopReleasedText(unfinished.at, red) };
    }
    const running = Object.values(state.cursors).some(({ checking }) => checking);
    return running ? { say: gatesRunningText(run) } : notice(settled);
  }
  const held = { type: 'held', at: verdict.at } as const;
  const command = { now: context.now(), session, type: 'session', event: held } as const;
  const { reply } = await context.engine.execute(run, command);
  if ('code' in reply) return {};
  const { next } = positionOf(settled, context, { session, at: verdict.at });
  return { block: stopHeldText(verdict, next) };

  function notice(now: Loaded): HookOutput {
    const say = personNotice(now, event);
    return say === undefined ? {} : { say };
  }
}

/** Waits for gates of the session's own position, which may finish it, within the host's time. */
async function afterGates({ host, context, session }: HookEvent, view: Loaded): Promise<Loaded> {
  const gateMs = host.limits.stopHookMs - reserveMs;
  const until = context.now() + gateMs;
  let now = view;
  for (let left = gateMs; left > 0; left = until - context.now()) {
    const cursors = Object.values(now.state.cursors);
    if (!cursors.some(({ checking, lease }) => checking && (!lease || lease.holder === session))) return now;
    await context.engine.watch(now.run, now.version.seq, left);
    now = (await context.engine.view(now.run)) ?? now;
  }
  return now;
}

async function proveByTranscript(event: HookEvent): Promise<void> {
  const { host, input, record } = event;
  const { delivery } = record;
  if (!delivery || delivery.proven || delivery.text === undefined || input.transcript === undefined) return;
  const isLate = host.writtenUntil !== undefined;
  for (let waited = 0; waited <= (isLate ? lateProofMs : proofMs); waited += pauseMs) {
    const arrival = findDelivery(host, input.transcript, delivery);
    if (arrival === 'whole') return await prove(event, 'transcript');
    if (arrival === 'cut' || (arrival === 'unknown' && !isLate)) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
