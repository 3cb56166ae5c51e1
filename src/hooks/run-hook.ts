import { createCallers, type HookInput, type HookOutput, type Host } from '../runtime/index.ts';
import { createMarks, findProject, requireOwnFolders, stateDirectory } from '../workspace/index.ts';
import { type Around, activeProject, keyOf } from './active-project.ts';
import { log } from './hook-log.ts';
import { quickly } from './quick.ts';
import { isServerError, noteOutage } from './server-outage.ts';
import { createNotebook, pendingReason, writtenFolders } from './session-record.ts';

export interface Answered {
  stdout: string;
  stderr: string;
  exitCode: number;
}

const nothing: Answered = { stdout: '', stderr: '', exitCode: 0 };

/**
 * One event of one host. Never throws and never fails: whatever goes wrong, the session goes on as if there were no
 * hook, and the reason is told on stderr and in the project's log.
 */
export async function runHook(host: Host, event: string, stdin: string, around: Around): Promise<Answered> {
  let input: HookInput | undefined;
  try {
    input = host.parse(event, JSON.parse(stdin), around.env);
    return input ? await answer(host, input, around) : nothing;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    note(input, around, event, message);
    return { ...nothing, stderr: `stepfast hook ${event}: ${message}\n` };
  }
}

async function answer(host: Host, input: HookInput, around: Around): Promise<Answered> {
  if (input.kind === 'before_tool' && input.tool?.kind === 'stepfast')
    return await calling(host, input, around);
  const project = activeProject(input, around);
  if (!project && input.kind !== 'before_compact') {
    if (input.kind === 'after_tool') forget(input);
    return nothing;
  }
  if (project) requireOwnFolders(project, writtenFolders);
  const notebook = project && createNotebook(project, keyOf(input));
  if (notebook && !notebook.first(input.kind, identity(input), around.now())) return nothing;
  if (input.kind === 'prompt' || input.kind === 'stop') notebook?.handed.drop();
  const quick = notebook && (await quickly(host, input, { project, around, notebook }));
  const output = quick ?? (await inFull());
  const { stdout, exitCode } = host.render(input, output);
  return { stdout, stderr: '', exitCode };

  async function inFull(): Promise<HookOutput> {
    try {
      return await (await import('./full.ts')).inFull(host, input, around, project);
    } catch (error) {
      if (!project || !notebook || !isServerError(error)) throw error;
      note(input, around, input.kind, error.message);
      const told = noteOutage(error, input, { project, notebook, now: around.now() });
      return { ...told, ...(await quickly(host, input, { project, around, notebook, away: true })) };
    }
  }
}

/** What a run that has ended left of a briefing. */
function forget(input: HookInput): void {
  const project = findProject(input.cwd);
  requireOwnFolders(project, writtenFolders);
  createMarks(project.directory).drop(pendingReason(keyOf(input)));
}

/** Stepfast's own tools learn who calls them, and are never denied: without them nobody could go on. */
async function calling(host: Host, input: HookInput, around: Around): Promise<Answered> {
  const key = keyOf(input);
  if (input.id !== undefined) createCallers(stateDirectory(around)).tell(input.id, key, around.now());
  const project = activeProject(input, around);
  if (!project || !createNotebook(project, key).sent?.owes) return nothing;
  requireOwnFolders(project, writtenFolders);
  await (await import('./full.ts')).payFirst(host, input, around, project);
  return nothing;
}

const identity = ({ id, source, trigger, stopActive, tool }: HookInput): string =>
  JSON.stringify([id, source, trigger, stopActive, tool?.name]);

function note(input: HookInput | undefined, around: Around, event: string, message: string): void {
  try {
    const project = findProject(input?.cwd ?? process.cwd());
    requireOwnFolders(project, writtenFolders);
    log(project, around.now(), { what: 'error', event, message: message.slice(0, 500) });
  } catch {
    // stderr has it.
  }
}
