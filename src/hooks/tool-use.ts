import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatesOf } from '../definition/index.ts';
import { type Cursor, ended, parseHandle, requiredReading, type State, usedUp } from '../machine/index.ts';
import { scheduledText, toolDeniedText } from '../messages/index.ts';
import { type Binding, type HookOutput, sessionName, type ToolUse } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { markedRuns, markRun, portable, readCommand } from '../workspace/index.ts';
import { positionOf } from './compile-briefing.ts';
import { deliver, prove } from './deliver-briefing.ts';
import { findDelivery } from './find-delivery.ts';
import { handlesIn } from './handles-in-text.ts';
import type { HookEvent } from './hook-event.ts';
import { log } from './hook-log.ts';
import { joinRun } from './join-run.ts';
import { pathInWorktree } from './path-in-worktree.ts';
import { refusedTool } from './refused-tool.ts';
import { reportSpending } from './report-spending.ts';
import { endOf } from './session-files.ts';
import { wasBriefed } from './session-record.ts';
import { catchUp } from './session-start.ts';

/** Denies tools that the agent of the position may not use, and stores the prompt of a subagent. */
export async function beforeTool(event: HookEvent): Promise<HookOutput> {
  const { host, input, record } = event;
  const { tool, transcript, id } = input;
  if (!tool) return {};
  // A scheduled prompt would look like one that the person typed.
  if (tool.kind === 'schedule' && /\/stepfast:/.test(tool.prompt ?? '')) return { deny: scheduledText };
  const denied = await deniedTool(event, tool);
  if (denied) return denied;
  if (tool.kind !== 'agent' || tool.prompt === undefined) return {};
  // Also a prompt without a handle: subagents are told apart only where every prompt is known.
  const end = transcript === undefined || id === undefined || !host.callGroup ? undefined : endOf(transcript);
  const group = end === undefined || id === undefined ? undefined : host.callGroup?.(end, id);
  record.subagentPrompts.add({ agent: tool.agent, prompt: tool.prompt, group });
  return {};
}

async function deniedTool(event: HookEvent, tool: ToolUse): Promise<HookOutput | undefined> {
  const { host, context, key, session } = event;
  const binding = await limitingBinding(event);
  const view = binding && (await context.engine.view(binding.run));
  if (!view || ended(view.state)) return undefined;
  const limited = sessionName(binding);
  const { cursor, status } = positionOf(view, context, { session: limited, at: binding.at });
  const { at } = status;
  const agent = reviewerAs(limited, cursor) ?? status.agent;
  const refused = agent === null ? undefined : refusedTool(view.definition, agent, tool, host.tools);
  if (agent === null || !refused) return undefined;
  // A subagent that takes the position over has the same limits.
  if (refused.because === 'not_listed' && handsOver(tool, at)) return undefined;
  log(context.project, context.now(), { what: 'denied', run: view.run, session, tool: tool.name });
  return {
    deny: toolDeniedText({
      position: at ?? view.run,
      agent,
      tool: tool.name,
      workflow: view.definition.name,
      ...(refused.because === 'not_listed' ? { allowed: refused.allowed } : {}),
      ...(key.agent !== undefined && binding.agent === undefined ? { ofParent: true } : {}),
    }),
  };
}

/** The agent that reviews the position, unless the session did the work. */
function reviewerAs(session: string, cursor: Cursor | undefined): string | undefined {
  const { waiting } = cursor ?? {};
  const reviews = waiting?.kind === 'review' && waiting.by !== 'human' && waiting.session !== session;
  return reviews ? waiting.by : undefined;
}

/** A subagent that was handed no position helps the session that started it, and has its limits. */
const limitingBinding = async ({ context, key }: HookEvent): Promise<Binding | undefined> =>
  (await context.bindings.get(key)) ??
  (key.agent === undefined
    ? undefined
    : await context.bindings.get({ host: key.host, session: key.session }));

const handsOver = ({ kind, prompt = '' }: ToolUse, at: string | undefined): boolean =>
  kind === 'agent' && at !== undefined && handlesIn(prompt).includes(at);

/** Records files that were read or written, and binds a session that called Stepfast. */
export async function afterTool(event: HookEvent): Promise<HookOutput> {
  const { tool } = event.input;
  await event.context.sessions.seen(event.key);
  const own = tool?.kind === 'stepfast' ? tool : undefined;
  const before = own && (await event.context.bindings.get(event.key))?.at;
  const briefing = own && (await bindCaller(event, own));
  if (briefing) return briefing;
  const over = own && (await overBudget(event, own.at ?? before));
  if (over) return over;
  if (tool) await recordFiles(event, tool);
  return await catchUp(event);
}

/**
 * Stepfast's own calls report what was spent: an agent that never ends its turn is told when the budget is used up. `at`
 * is the position before the call, which may have moved the run.
 */
async function overBudget(event: HookEvent, at: string | undefined): Promise<HookOutput | undefined> {
  const { context, key, session, input } = event;
  const binding = input.agent ? undefined : await context.bindings.get(key);
  const view = binding && (await context.engine.view(binding.run));
  if (!view || usedUp(view.state)) return undefined;
  const after = await reportSpending(event, view, at, { midTurn: true });
  if (!usedUp(after.state)) return undefined;
  return { context: positionOf(after, context, { session, at: binding.at }).next };
}

/** Returns the briefing for a session that was offered the run and takes it up with this call. */
async function bindCaller(event: HookEvent, tool: ToolUse): Promise<HookOutput | undefined> {
  const { host, input, context, record } = event;
  const { answer, at: asked } = tool;
  const at = answer?.at ?? asked;
  const run = answer?.run ?? runOf(at, markedRuns(context.marks));
  if (!answer || answer.refused || run === undefined) return undefined;
  const view = await context.engine.view(run);
  if (!view || ended(view.state)) return undefined;
  // A session that was only notified of others, and only looks at the run, does not take part in it.
  const { delivery } = record;
  const takesUp = delivery?.offered && delivery.run === run;
  const outsider = delivery !== undefined && !wasBriefed(delivery) && !takesUp;
  if (outsider && tool.call === 'workflow_status' && asked === undefined) return undefined;
  await joinRun(event, { run, at });
  // A note may add required reading.
  if (tool.call === 'workflow_note') markRun(context.marks, run, view.definition, view.state);
  if (takesUp) return await deliver(event, view, { at, source: 'resume', why: 'call' });
  const unseen = delivery && findDelivery(host, input.transcript, delivery) === 'unknown';
  if (unseen && asked !== undefined && delivery.at === asked) await prove(event, 'handle');
  return undefined;
}

/** The run that a handle belongs to. */
function runOf(at: string | undefined, runs: readonly string[]): string | undefined {
  const suffix = at === undefined ? undefined : parseHandle(at)?.suffix;
  return suffix === undefined ? undefined : runs.find((run) => run.endsWith(`-${suffix}`));
}

async function recordFiles({ context, key, session }: HookEvent, tool: ToolUse): Promise<void> {
  const binding = namesFiles(tool) ? await context.bindings.get(key) : undefined;
  const view = binding && (await context.engine.view(binding.run));
  const { project, engine } = context;
  const caller = { now: context.now(), session };
  if (!view) return;
  for (const inner of filesToRecord(view, project.worktree, tool)) {
    if (tool.kind === 'write') {
      await engine.execute(view.run, { ...caller, type: 'note', kind: 'artefact', text: inner });
      continue;
    }
    const command = readCommand(inner, project);
    if (command && knownHash(view.state, portable(inner, project.root)) !== command.hash)
      await engine.execute(view.run, { ...caller, ...command });
  }
}

const namesFiles = ({ path, paths, shown }: ToolUse): boolean =>
  path !== undefined || paths !== undefined || shown !== undefined;

/** The paths relative to the worktree of the files for which the run records that they were read or written. */
export function filesToRecord(
  view: Pick<Loaded, 'definition' | 'state'>,
  worktree: string,
  { kind, path, paths = path === undefined ? [] : [path], whole, shown }: ToolUse,
): string[] {
  if (ended(view.state)) return [];
  const inner = paths.flatMap((each) => pathInWorktree(worktree, each) ?? []);
  if (kind === 'write') return inner.filter((each) => !view.state.artefacts.includes(each));
  if (shown !== undefined) return readingOf(view).filter((each) => isShown(join(worktree, each), shown));
  return kind === 'read' && whole === true ? inner.filter((each) => readingOf(view).includes(each)) : [];
}

/** Where files are read in a shell, what it printed shows whether it was the whole file. */
function isShown(file: string, shown: string): boolean {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text !== '' && shown.includes(text);
  } catch {
    return false;
  }
}

/** Required reading, and files that a gate wants to be read, relative to the worktree. */
function readingOf({ definition, state }: Pick<Loaded, 'definition' | 'state'>): string[] {
  const { steps, loops = {} } = definition;
  const gates = [...steps, ...Object.values(loops).flat()].flatMap(gatesOf);
  const wanted = [...requiredReading(definition, state), ...gates.flatMap(({ read = [] }) => read)];
  return wanted.map((path) => path.replace(/^@/, '').replace(/^\{project_root\}\/?/, ''));
}

const knownHash = ({ reading }: State, key: string): string | undefined =>
  Object.hasOwn(reading, key) ? reading[key]?.hash : undefined;
