import { createPendingCalls, type HookInput, type HookOutput, type Host } from '../runtime/index.ts';
import { createMarks, findProject, requireOwnFolders, stateDirectory } from '../workspace/index.ts';
import { handleEvent, openEvent, projectWithoutRun } from './handlers.ts';
import { activeProject, type HookEnvironment, keyOf } from './hook-environment.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { deletionNotice } from './live-project.ts';
import { isServerError, noteOutage } from './server-outage.ts';
import { endOf } from './session-files.ts';
import { pendingReason, writtenFolders } from './session-record.ts';
import { reportMissedReset } from './session-start.ts';
import { answerWithoutServer } from './without-server.ts';

export interface HookAnswer {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** A command to start, which nobody waits for. */
  start?: readonly string[];
}

const nothing: HookAnswer = { stdout: '', stderr: '', exitCode: 0 };

/** For the start of Node, and for what comes after the server's answer. */
const reserveMs = 1_000;

/**
 * One event of one host. Never throws and never fails: on any error the session continues as if there were no hook,
 * and the error is on stderr and in the project's log.
 */
export async function runHook(
  host: Host,
  event: string,
  stdin: string,
  environmentOf: Omit<HookEnvironment, 'maxWaitMs'>,
  { wakes = false } = {},
): Promise<HookAnswer> {
  const environment = { ...environmentOf, maxWaitMs: host.limits.toolHookMs - reserveMs };
  let input: HookInput | undefined;
  try {
    input = host.parse(event, JSON.parse(stdin), environment.env);
    if (input && wakes) input = { ...input, kind: 'wake' };
    return input ? await answer(host, input, environment) : nothing;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    logError(input, environment, event, message);
    return { ...nothing, stderr: `stepfast hook ${event}: ${message}\n` };
  }
}

async function answer(host: Host, input: HookInput, environment: HookEnvironment): Promise<HookAnswer> {
  if (input.kind === 'before_tool' && input.tool?.kind === 'stepfast')
    return await beforeOwnTool(host, input, environment);
  const active = activeProject(host, input, environment);
  const project = active ?? projectWithoutRun(host, input, environment);
  if (!project) {
    if (input.kind === 'after_tool') forgetPendingOf(input);
    const watched = (input.kind === 'stop' || input.kind === 'prompt') && !input.agent;
    const say = watched ? deletionNotice(input, environment) : undefined;
    return say === undefined ? nothing : { stderr: '', ...host.render(input, { say }) };
  }
  requireOwnFolders(project, writtenFolders);
  const event = openEvent(host, input, environment, project);
  const { record } = event;
  const isCopy = (): boolean =>
    !record.first(input.kind, identityOf(host, input), environment.now(), host.uniqueIds);
  if (active && isCopy()) return nothing;
  // Not at a stop: a subagent in the background may start after the turn has ended.
  if (input.kind === 'prompt') record.subagentPrompts.drop();
  if (input.kind === 'prompt' || input.kind === 'stop') record.inTurn = input.kind === 'prompt';
  const output = await handleEvent(event).catch((error) => answerOutage(event, environment, error));
  // The turn goes on, and its next end may come before the host has written of this one.
  if (input.kind === 'stop' && output.block !== undefined) record.expectAnother('stop');
  // The person was answered without a turn of the model.
  if (output.stop !== undefined) record.inTurn = false;
  return { stderr: '', ...host.render(input, output) };
}

async function answerOutage(
  event: HookEvent,
  environment: HookEnvironment,
  error: unknown,
): Promise<HookOutput> {
  const { input, record, context } = event;
  if (!isServerError(error)) throw error;
  logError(input, environment, input.kind, error.message);
  const notice = noteOutage(error, input, { project: context.project, record, environment });
  return { ...notice, ...(await answerWithoutServer(event)) };
}

/** Removes the mark of a delivery to a run that has ended. */
function forgetPendingOf(input: HookInput): void {
  const project = findProject(input.cwd);
  requireOwnFolders(project, writtenFolders);
  createMarks(project.directory).drop(pendingReason(keyOf(input)));
}

/** Stepfast's own tools learn which session calls them, and are never denied: no run could continue without them. */
async function beforeOwnTool(
  host: Host,
  input: HookInput,
  environment: HookEnvironment,
): Promise<HookAnswer> {
  if (input.id !== undefined)
    createPendingCalls(stateDirectory(environment)).record(input.id, keyOf(input), environment.now());
  const allowed = { stderr: '', ...host.render(input, input.tool?.own ? { allow: true } : {}) };
  const project = activeProject(host, input, environment);
  if (!project) return allowed;
  requireOwnFolders(project, writtenFolders);
  await reportMissedReset(openEvent(host, input, environment, project));
  return allowed;
}

function identityOf(
  host: Host,
  { kind, id, source, trigger, stopActive, tool, transcript }: HookInput,
): string {
  const ends = kind === 'stop' || (kind === 'wake' && source === undefined);
  const text = ends && transcript !== undefined && host.stopsIn ? endOf(transcript) : undefined;
  const stops = text === undefined || id === undefined ? undefined : host.stopsIn?.(text, id);
  return JSON.stringify([id, source, trigger, stopActive, tool?.name, stops]);
}

function logError(
  input: HookInput | undefined,
  environment: HookEnvironment,
  event: string,
  message: string,
): void {
  try {
    const project = findProject(input?.cwd ?? process.cwd());
    requireOwnFolders(project, writtenFolders);
    log(project, environment.now(), { what: 'error', event, message: message.slice(0, 500) });
  } catch {
    // It is on stderr.
  }
}
