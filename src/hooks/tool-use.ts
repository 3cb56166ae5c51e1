import { type Definition, ended, parseHandle, type State } from '../machine/index.ts';
import type { HookOutput, ToolUse } from '../runtime/index.ts';
import { markedRuns, markRun, portable, readCommand } from '../workspace/index.ts';
import { whereIs } from './compile-briefing.ts';
import { prove, repair } from './deliver-briefing.ts';
import { readingThatMatters } from './facts-of.ts';
import { log } from './hook-log.ts';
import { innerPath } from './path-in-worktree.ts';
import { wasBriefed } from './session-record.ts';
import { arrivalOf } from './transcript.ts';
import type { Visit } from './visit.ts';

/** What the agent of the position may not use is denied; what a subagent will be told is remembered. */
export async function beforeTool(visit: Visit): Promise<HookOutput> {
  const { input, notebook } = visit;
  const { tool } = input;
  if (!tool) return {};
  const denied = await deniedTool(visit, tool);
  if (denied) return denied;
  // Also without a handle: which subagent has which words shows only where all are known.
  if (tool.kind === 'agent' && tool.prompt !== undefined)
    notebook.handed.add(input.id ?? tool.prompt, { agent: tool.agent, prompt: tool.prompt });
  return {};
}

async function deniedTool({ place, key, session }: Visit, tool: ToolUse): Promise<HookOutput | undefined> {
  const binding = await place.bindings.get(key);
  const view = binding && (await place.engine.view(binding.run));
  if (!view || ended(view.state)) return undefined;
  const { status } = whereIs(view, place, { session, at: binding.at });
  const { agent, at } = status;
  if (agent === null || !forbids(view.definition, agent, tool.name)) return undefined;
  log(place.project, place.now(), { what: 'denied', run: view.run, session, tool: tool.name });
  return {
    deny: `${at ?? view.run} is for the agent '${agent}', which may not use ${tool.name} (workflow '${view.definition.name}').`,
  };
}

/** A name, or the beginning of names: `mcp__browser__*`. */
function forbids({ agents = {} }: Definition, agent: string, tool: string): boolean {
  const { cannot = [] } = (Object.hasOwn(agents, agent) ? agents[agent] : undefined) ?? {};
  return cannot.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name));
}

/** What was done with files is recorded, and a session that called Stepfast is bound. Then the fallback. */
export async function afterTool(visit: Visit): Promise<HookOutput> {
  const { tool } = visit.input;
  await visit.place.sessions.seen(visit.key);
  if (tool?.kind === 'stepfast') await called(visit, tool);
  if (tool?.path !== undefined) await recordFile(visit, tool, tool.path);
  return await repair(visit);
}

async function called({ input, place, key, notebook, ...rest }: Visit, tool: ToolUse): Promise<void> {
  const { answer, at: asked } = tool;
  const at = answer?.at ?? asked;
  const run = answer?.run ?? runOf(at, markedRuns(place.marks));
  if (!answer || answer.refused || run === undefined) return;
  const view = await place.engine.view(run);
  if (!view || ended(view.state)) return;
  // Told only that others are at work: a look is no part in it.
  const outsider = notebook.sent !== undefined && !wasBriefed(notebook.sent);
  if (outsider && tool.call === 'workflow_status' && asked === undefined) return;
  const pid = place.pid === undefined ? {} : { pid: place.pid };
  await place.sessions.called(key, { run, ...(at === undefined ? {} : { at }), cwd: input.cwd, ...pid });
  // A note may name further reading.
  if (tool.call === 'workflow_note') markRun(place.marks, run, view.definition, view.state);
  const { sent } = notebook;
  const unseen = sent && arrivalOf(rest.host, input.transcript, sent) === 'unknown';
  if (unseen && asked !== undefined && sent.at === asked)
    await prove({ input, place, key, notebook, ...rest }, 'handle');
}

/** The run that a handle begins with. */
function runOf(at: string | undefined, runs: readonly string[]): string | undefined {
  const suffix = at === undefined ? undefined : parseHandle(at)?.suffix;
  return suffix === undefined ? undefined : runs.find((run) => run.endsWith(`-${suffix}`));
}

async function recordFile({ place, key, session }: Visit, tool: ToolUse, path: string): Promise<void> {
  const binding = await place.bindings.get(key);
  const view = binding && (await place.engine.view(binding.run));
  if (!view || ended(view.state)) return;
  const { project, engine } = place;
  const inner = innerPath(project.worktree, path);
  if (inner === undefined) return;
  const caller = { now: place.now(), session };
  if (tool.kind === 'write') {
    if (view.state.artefacts.includes(inner)) return;
    await engine.execute(view.run, { ...caller, type: 'note', kind: 'artefact', text: inner });
  }
  if (tool.kind !== 'read' || !tool.whole || !readingThatMatters(view).includes(inner)) return;
  const command = readCommand(inner, project);
  if (!command || knownHash(view.state, portable(inner, project.root)) === command.hash) return;
  await engine.execute(view.run, { ...caller, ...command });
}

const knownHash = ({ reading }: State, key: string): string | undefined =>
  Object.hasOwn(reading, key) ? reading[key]?.hash : undefined;
