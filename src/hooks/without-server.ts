import { lastKnownText, liveRunText, otherSessionText, severalRunsText } from '../messages/index.ts';
import { beginSession, type HookOutput, hasHold, liveRuns, type Source } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { bootId, isAlive, machineId, markedRuns, portable } from '../workspace/index.ts';
import { briefingFromState } from './compile-briefing.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { isInFiles, lastKnownRun } from './last-known-run.ts';
import { offerRun } from './offer-run.ts';
import { refusedTool } from './refused-tool.ts';
import { wasBriefed, watchTools } from './session-record.ts';
import { filesToRecord } from './tool-use.ts';

/** How old the copy of a run may be for hooks that come with every tool. */
const recentMs = 30_000;
/** A session that was seen within this time is not reported as seen again. */
const seenMs = 60_000;

/**
 * Whether the recent copy of a run on a server shows that this event changes nothing and is answered with nothing: a
 * request with every tool would be felt.
 */
export async function needsNoServer({ host, input, context, record, key }: HookEvent): Promise<boolean> {
  const { bindings, marks, project, now } = context;
  const { kind, tool } = input;
  if (record.delivery && !record.delivery.proven) return false;
  const binding = await bindings.get(key);
  if (!binding || now() - binding.seenAt >= seenMs) return false;
  const view = lastKnownRun(project, binding.run, now() - recentMs)?.view;
  if (!view) return false;
  const { definition, state } = view;
  if (kind === 'prompt') return true;
  if (kind === 'before_tool')
    return (
      tool?.kind !== 'agent' &&
      !Object.keys(definition.agents ?? {}).some(
        (agent) => tool && refusedTool(definition, agent, tool, host.tools),
      )
    );
  if (kind === 'after_tool')
    return tool?.kind !== 'stepfast' && (!tool || filesToRecord(view, project.worktree, tool).length === 0);
  return (
    kind === 'stop' && !hasHold(marks) && (definition.stop ?? 'allow') === 'allow' && !waitsForPerson(state)
  );
}

const waitsForPerson = ({ cursors }: Loaded['state']): boolean =>
  Object.values(cursors).some(
    ({ boundary, waiting }) => boundary?.state === 'requested' || waiting !== undefined,
  );

/**
 * What a session gets while the server of its run does not answer: the last known state, marked as such. The delivery
 * stays due, so that the next prompt or tool brings the current one.
 */
export async function answerWithoutServer(event: HookEvent): Promise<HookOutput> {
  const { input } = event;
  if (input.kind === 'before_compact') return shortSummaryInstructions(event);
  return input.kind === 'session_start' && !input.agent ? await lastKnownBriefing(event) : {};
}

function shortSummaryInstructions({ record }: HookEvent): HookOutput {
  const { delivery } = record;
  if (!wasBriefed(delivery) || delivery.run === '') return {};
  const { run, at } = delivery;
  record.setDelivery({ run, source: 'compact', tries: 1, ...(at === undefined ? {} : { at }) });
  const handle = at === undefined ? '' : `, handle ${at}`;
  return { survive: `Keep this word for word in the summary: Stepfast run ${run}${handle}.\n` };
}

async function lastKnownBriefing(event: HookEvent): Promise<HookOutput> {
  const { host, input, context, record, key, session } = event;
  const { project, bindings, state, now } = context;
  const { source = 'startup' } = input;
  const known = await knownRuns(event);
  const start = {
    host: input.host,
    session: input.session,
    source,
    cwd: portable(input.cwd, project.root),
    worktree: portable(project.worktree, project.root),
    ...(context.pid === undefined ? {} : { pid: context.pid }),
  };
  const presence = { now: now(), boot: bootId(machineId(state)), isAlive };
  const live = liveRuns(known.map(({ view }) => view));
  const beginning = beginSession(start, live, await bindings.list(), presence);
  if (beginning.kind === 'nothing') return {};
  if (beginning.kind === 'list')
    return notified('', source, severalRunsText(beginning.runs, beginning.count));
  const about = live.find(({ run }) => run === beginning.run);
  const found = known.find(({ view }) => view.run === beginning.run);
  if (!about || !found) return {};
  if (beginning.kind === 'offer') return offerRun(event, found.view, source);
  if (beginning.kind === 'two_lines')
    return notified(about.run, source, otherSessionText(about, beginning.heldBy));
  const { at } = beginning.binding ?? {};
  const text =
    briefingFromState(found.view, context, { session, at }, host.limits.contextCharacters) ??
    liveRunText(about);
  record.setDelivery({
    run: about.run,
    source,
    tries: 1,
    ...(source === 'compact' ? { unreportedReset: now() } : {}),
  });
  watchTools(project, key);
  const why = `${source}, away`;
  log(project, now(), { what: 'injected', run: about.run, session, briefing: '', why });
  return { context: `${lastKnownText(found.at, now())}\n\n${text}` };

  function notified(run: string, how: Source, notice: string): HookOutput {
    record.setDelivery({ run, source: how, tries: 1, proven: 'none' });
    return { context: notice };
  }
}

/** Every marked run: from its files, or as it was last seen on its server. */
async function knownRuns({ context }: HookEvent): Promise<{ view: Loaded; at: number }[]> {
  const { project, engine, marks, now } = context;
  const known: { view: Loaded; at: number }[] = [];
  for (const run of markedRuns(marks)) {
    const found = isInFiles(project, run)
      ? { view: await engine.view(run), at: now() }
      : lastKnownRun(project, run);
    if (found?.view) known.push({ view: found.view, at: found.at });
  }
  return known;
}
