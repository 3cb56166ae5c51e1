import { StepfastError } from '../errors.ts';
import {
  createEndNotices,
  findInformal,
  findStateFiles,
  type HookInput,
  type HookKind,
  type HookOutput,
  type Host,
  sessionName,
} from '../runtime/index.ts';
import { findProject, type Project } from '../workspace/index.ts';
import { beforeCompact } from './compaction.ts';
import { forgetPending } from './deliver-briefing.ts';
import { handleDriven, isDriven } from './driven.ts';
import { endNotice } from './end-notice.ts';
import { stop } from './hold-stop.ts';
import { openHookContext } from './hook-context.ts';
import { type HookEnvironment, keyOf } from './hook-environment.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { keepServerRuns } from './last-known-run.ts';
import { withPressure } from './pressure-notice.ts';
import { serverAnswered } from './server-outage.ts';
import { openSessionRecord } from './session-record.ts';
import { reportMissedReset, sourceOf, startSession, userPrompt } from './session-start.ts';
import { subagentStart, subagentStop } from './subagents.ts';
import { afterTool, beforeTool } from './tool-use.ts';
import { typedCommand } from './typed-command.ts';
import { wake } from './wake.ts';
import { needsNoServer } from './without-server.ts';

export function openEvent(
  host: Host,
  input: HookInput,
  environment: HookEnvironment,
  project: Project,
): HookEvent {
  const key = keyOf(input);
  const record = openSessionRecord(project, key);
  const context = openHookContext(project, environment, input.kind);
  return { host, input, key, session: sessionName(key), context, record };
}

/** The answer to one event. Throws a server error where the run's server does not answer. */
export async function handleEvent(event: HookEvent): Promise<HookOutput> {
  return await withPressure(event, (await needsNoServer(event)) ? {} : await handle(event));
}

async function handle(event: HookEvent): Promise<HookOutput> {
  const { input, context } = event;
  const { project, problems } = context;
  const driven = await isDriven(event);
  if (!driven) await reportMissedReset(event);
  const output = driven
    ? await handleDriven(event)
    : withNotice(await handlers[input.kind](event), await endNotice(event));
  if (context.shared) {
    serverAnswered(project);
    await keepServerRuns(context).catch(() => {});
  }
  const [problem] = problems;
  if (problem === undefined) return output;
  if (Object.keys(output).length === 0) throw new StepfastError('store_corrupt', problem);
  log(project, context.now(), { what: 'error', event: input.kind, message: problem.slice(0, 500) });
  return output;
}

const withNotice = (output: HookOutput, notice: string | undefined): HookOutput =>
  notice === undefined ? output : { ...output, say: [output.say, notice].filter(Boolean).join('\n') };

const handlers: Record<HookKind, (event: HookEvent) => Promise<HookOutput>> = {
  session_start: async (event) => await startSession(event, await sourceOf(event)),
  session_end: async (event) => {
    await event.context.sessions.ended(event.key, { cleared: event.input.cleared ?? false });
    event.record.close();
    forgetPending(event);
    createEndNotices(event.context.project.directory).take(event.key);
    return {};
  },
  prompt: userPrompt,
  before_tool: beforeTool,
  after_tool: afterTool,
  before_compact: beforeCompact,
  stop,
  subagent_start: subagentStart,
  subagent_stop: subagentStop,
  wake,
};

/**
 * The project of an event where no run is live: a typed command may start one, before a compaction work that only a
 * file describes becomes one, and at a session's start work that an agent keeps a state file for.
 */
export function projectWithoutRun(
  host: Host,
  { kind, cwd, prompt }: HookInput,
  { env, home }: HookEnvironment,
): Project | undefined {
  if (kind === 'prompt' && typedCommand(host, prompt)) return findProject(cwd, { env, home });
  if (kind !== 'before_compact' && kind !== 'session_start') return undefined;
  const project = findProject(cwd, { env, home });
  const found = kind === 'before_compact' ? findInformal(project) : findStateFiles(project);
  return found.some(({ complete }) => !complete) ? project : undefined;
}
