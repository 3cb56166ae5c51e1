import { existsSync } from 'node:fs';
import { cursorAt, handleOf } from '../machine/index.ts';
import { otherSessionText, severalOffersText, severalRunsText, takenUpText } from '../messages/index.ts';
import {
  createEndNotices,
  differences,
  findStateFiles,
  type HookInput,
  type HookOutput,
  type Host,
  type LiveRun,
  liveRuns,
  rescan,
  type SessionPlan,
  type Source,
} from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { sessionEnvironment } from '../workspace/index.ts';
import { deliver, lateMs, repair } from './deliver-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import { offerRun } from './offer-run.ts';
import { sessionIn, stateAfterReset } from './prepared-briefing.ts';
import { forgetPressure } from './pressure-notice.ts';
import { endOf } from './session-files.ts';
import { type Delivery, removeStaleRecords, wasBriefed } from './session-record.ts';
import { bind, runTypedCommand, typedCommand } from './typed-command.ts';
import { waitUntil } from './wait-until.ts';

const startMs = 3_000;

/**
 * A session starts, or its context was reset: it gets the briefing of the run that it is bound to. Without a binding and
 * with `guess` it is offered the run that is live here.
 */
export async function startSession(
  event: HookEvent,
  source: Source = 'startup',
  { guess = true } = {},
): Promise<HookOutput> {
  const { context, record } = event;
  await followInformal(event, source);
  const asked = await requestedResets(event, source);
  const beginning = await reportSessionStart(event, source);
  if (source === 'startup') {
    removeStaleRecords(context.project, context.now());
    createEndNotices(context.project.directory).sweep(context.now());
  }
  if (!guess && beginning.binding === undefined) return {};
  if (beginning.kind === 'nothing') return {};
  if (beginning.kind === 'list') {
    const { runs, count } = beginning;
    return { ...notified('', severalRunsText(runs, count)), say: severalOffersText(runs, count) };
  }
  const view = await context.engine.view(beginning.run);
  if (!view) return {};
  if (beginning.kind === 'two_lines')
    return notified(view.run, otherSessionText(summaryOf(view), beginning.heldBy));
  if (beginning.kind === 'offer') return offerRun(event, view, source);
  if (wasGranted(view, asked)) record.leaveToWake(startedAs(event.input));
  const at = beginning.binding?.at ?? beginning.inherits?.at;
  const more = source === 'resume' ? changesSince(event, view) : undefined;
  return await deliver(event, view, { at, source, why: source, more });

  /** There is no briefing to prove. */
  function notified(run: string, text: string): HookOutput {
    record.setDelivery({ run, source, tries: 1, proven: 'none' });
    return { context: text };
  }
}

/** Work that an agent keeps a state file for becomes a run; after a compaction it is this session's. */
async function followInformal({ context, key, input }: HookEvent, source: Source): Promise<void> {
  if (input.agent) return;
  const { engine, project, now } = context;
  const actor = { kind: 'engine' } as const;
  const found = await rescan({ engine, project, clock: now }, { actor, find: findStateFiles });
  const run = found.find(({ how }) => how === 'adopted')?.run;
  if (run !== undefined && source === 'compact' && (await context.bindings.get(key)) === undefined)
    await context.sessions.called(key, { run, cwd: input.cwd });
}

/** Names a start of this session, for the hook that runs beside it. */
export const startedAs = ({ session, source, id }: HookInput): string =>
  JSON.stringify([session, source, id]);

/** Positions that wait for the reset with which this session starts. */
async function requestedResets({ context, input }: HookEvent, source: Source): Promise<string[]> {
  if ((source !== 'clear' && source !== 'compact') || input.agent) return [];
  const states = (await context.engine.runs()).flatMap(({ state }) => state ?? []);
  return states.flatMap((state) =>
    Object.values(state.cursors)
      .filter(({ boundary }) => boundary?.state === 'requested')
      .map((cursor) => handleOf(state, cursor)),
  );
}

const wasGranted = ({ state }: Loaded, asked: readonly string[]): boolean =>
  asked.some((at) => cursorAt(state, at)?.boundary?.state === 'released');

/** Binds the session, and reports its start or reset to the run. */
async function reportSessionStart(event: HookEvent, source: Source): Promise<SessionPlan> {
  const { input, context } = event;
  const { host, session, agent, cwd } = input;
  if (source === 'clear' || source === 'compact') forgetPressure(event);
  return await context.sessions.begin({
    source,
    host,
    session,
    cwd,
    ...(agent ? { agent } : {}),
    ...(context.pid === undefined ? {} : { pid: context.pid }),
  });
}

/**
 * Reports a reset that happened while the run's server did not answer. Comes before everything else, because what the
 * session does next it does in the new context.
 */
export async function reportMissedReset(event: HookEvent): Promise<void> {
  const { record, context, key, session } = event;
  const { delivery } = record;
  if (delivery?.unreportedReset === undefined) return;
  const { unreportedReset, ...rest } = delivery;
  const binding = await context.bindings.get(key);
  const view = await context.engine.view(delivery.run);
  const { resetAt = 0 } = (view && sessionIn(view, session)) ?? {};
  const now = context.nowOf(delivery.run);
  // By the clock of the run.
  const since = unreportedReset + now - context.now();
  // Otherwise a context action is pending that was requested after the reset, which must not count for it.
  const countsOnly = view && binding && resetAt < since && stateAfterReset(view, binding, now);
  if (countsOnly) {
    const { length } = context.problems;
    await reportSessionStart(event, 'compact');
    // The next hook tries again.
    if (context.problems.length > length) return;
  }
  record.setDelivery(rest);
}

function changesSince({ context, session }: HookEvent, { definition, state }: Loaded): string | undefined {
  const { project, env } = context;
  const environment = sessionEnvironment(project, env);
  const found = differences(definition, state, { project, environment, session });
  return found.length === 0 ? undefined : `SINCE THEN\n${found.map(({ what }) => `- ${what}`).join('\n')}`;
}

const summaryOf = ({ run, state }: Loaded): LiveRun => {
  const [live] = liveRuns([{ run, state }]);
  if (!live) throw new Error(`${run} is not live`);
  return live;
};

/** A person wrote something: the first chance to repair a lost delivery, or a session start without a hook. */
export async function userPrompt(event: HookEvent): Promise<HookOutput> {
  const { input, record, context, key, host } = event;
  await waitUntil(() => !isStarting(event), startMs);
  const typed = typedCommand(host, input.prompt);
  const answered = typed && (await runTypedCommand(event, typed));
  if (answered) return answered;
  await context.sessions.seen(key);
  const output = record.delivery ? await catchUp(event) : await startUnseen(event);
  if (!/^continue[.!]?$/i.test(input.prompt?.trim() ?? '')) return output;
  const run = await offeredRun(event);
  if (run === undefined) return output;
  const briefing = await bind(event, { run, source: 'resume' });
  const view = await context.engine.view(run);
  return view ? { ...briefing, say: takenUpText(view.state.summary ?? view.definition.name) } : briefing;
}

/** The run that a session without one may take up: offered to it, or held by another session when it started. */
async function offeredRun(event: HookEvent): Promise<string | undefined> {
  const { context, key, record } = event;
  const { delivery } = record;
  if (!delivery || (await context.bindings.get(key)) !== undefined) return undefined;
  if (delivery.offered) return delivery.run;
  if (wasBriefed(delivery)) return undefined;
  const now = await reportSessionStart(event, 'startup');
  return now.kind === 'offer' ? now.run : undefined;
}

/** A session whose start no hook saw. */
async function startUnseen(event: HookEvent): Promise<HookOutput> {
  const { input, context, key } = event;
  if ((await context.bindings.get(key)) !== undefined) return {};
  // The host writes the transcript after the first prompt.
  const fresh = input.transcript !== undefined && !existsSync(input.transcript);
  return fresh || (await wasCleared(event)) ? await startSession(event, 'clear', { guess: fresh }) : {};
}

/**
 * Delivers what did not arrive. On a host without an event after a compaction, this is also where a compaction counts
 * as done.
 */
export async function catchUp(event: HookEvent): Promise<HookOutput> {
  const { host, input, record } = event;
  const { delivery } = record;
  if (isDue(delivery) && host.compaction === 'hint' && !input.agent) {
    const state = compactionState(event);
    if (state === 'running') return {};
    const output = state === 'failed' ? {} : await startSession(event, 'compact');
    if (output.context !== undefined) return output;
  }
  return await repair(event);
}

/** A compaction began, and nothing was injected since. */
const isDue = (delivery: Delivery | undefined): boolean =>
  delivery?.source === 'compact' && delivery.text === undefined && !delivery.proven;

/** What a session start that still runs injects is in the same request. */
function isStarting({ host, input }: HookEvent): boolean {
  if (!host.isStarting || input.transcript === undefined) return false;
  const end = endOf(input.transcript);
  return end !== undefined && host.isStarting(end);
}

function compactionState({
  host,
  input,
  record,
  context,
}: HookEvent): ReturnType<NonNullable<Host['compactionState']>> {
  if (!host.compactionState || input.transcript === undefined) return undefined;
  const { since = 0 } = record.delivery ?? {};
  const isFresh = context.now() - since < lateMs;
  return host.compactionState(endOf(input.transcript) ?? '', since) ?? (isFresh ? 'running' : undefined);
}

/** What a session start means where the host does not tell: that of a session that was compacted or cleared. */
export async function sourceOf(event: HookEvent): Promise<Source | undefined> {
  const { host, input, record, context, key } = event;
  const { source } = input;
  if (source === 'resume' && host.compaction === 'hint' && isDue(record.delivery))
    return compactionState(event) === 'failed' ? source : 'compact';
  if (source !== 'startup' || context.pid === undefined) return source;
  const left = await context.bindings.list();
  const replaced = left.some(
    ({ host: name, cleared, pid, agent }) =>
      name === key.host && cleared && pid === context.pid && agent === undefined,
  );
  return replaced ? 'clear' : source;
}

/** A session of this host was cleared, and no session replaced it so far. */
async function wasCleared({ context, key }: HookEvent): Promise<boolean> {
  const left = await context.bindings.list();
  return left.some(({ host, cleared, agent }) => host === key.host && cleared && agent === undefined);
}
