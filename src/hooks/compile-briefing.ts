import { type Briefing, type BriefingSource, type Cap, compileBriefing } from '../context/index.ts';
import { criticalArtifacts, ended, leastBriefing, requiredReading, statusOf } from '../machine/index.ts';
import { nextForTools } from '../messages/index.ts';
import { type ArtifactVersion, cursorFor } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { readState, taskWorktree, wasReadBefore } from '../workspace/index.ts';
import type { HookContext } from './hook-context.ts';

/** Who reads a briefing. */
export interface Reader {
  /** The session's name in the run. */
  session: string;
  /** The position of the session, where it is known. */
  at?: string | undefined;
}

/** How an agent asks for a section. */
const more = 'workflow_context, section {section}';

/** The position of a session, and the next call of its agent. */
export function positionOf(view: Loaded, { project }: Pick<HookContext, 'project'>, { session, at }: Reader) {
  const cursor = cursorFor(view, { at, session });
  const values = { project_root: project.root };
  const status = statusOf(view.definition, view.state, { cursor, values, session });
  return { cursor, status, next: nextForTools(status.action), values };
}

/** The briefing of a session, within the limit of its host. Critical artifacts in it are recorded in the run. */
export async function briefingFor(
  view: Loaded,
  context: HookContext,
  reader: Reader,
  characters: number,
): Promise<Briefing> {
  const { briefing, loads } = await compileFor(view, context, reader, characters);
  await recordLoads(view, context, reader.session, loads);
  return briefing;
}

/** A briefing that was not delivered yet. */
export interface Compilation {
  briefing: Briefing;
  /** By this machine's clock. */
  now: number;
  /** The critical artifacts in it, recorded when it is delivered. */
  loads: ArtifactVersion[];
  /** The files that it describes, relative to the worktree. */
  files: string[];
  worktree: string;
}

export async function compileFor(
  view: Loaded,
  context: HookContext,
  reader: Reader,
  characters: number,
): Promise<Compilation> {
  const cap = capOf(view, characters);
  const { source, briefing, loads } = needsFiles(view) ? await withFiles() : withoutFiles();
  const { reading, artifacts, worktree = context.project.worktree } = source;
  const sources = artifacts.flatMap(({ content }) => ('source' in content ? (content.source ?? []) : []));
  const files = [...reading.map(({ path }) => path), ...sources.filter((each) => each.startsWith('@'))];
  return { briefing, now: context.now(), loads, files, worktree };

  function withoutFiles() {
    const plain = sourceWithoutFiles(view, context, reader);
    return { source: plain, briefing: compileBriefing(plain, cap), loads: [] };
  }

  async function withFiles() {
    const { cursor, next } = positionOf(view, context, reader);
    const { briefWithFiles } = await import('./with-files.ts');
    return await briefWithFiles(view, context, { session: reader.session, cursor, next, more }, cap);
  }
}

/** A briefing from the state of the run alone; undefined where files belong to it. */
export function briefingFromState(
  view: Loaded,
  context: Pick<HookContext, 'project' | 'nowOf'>,
  reader: Reader,
  characters: number,
): string | undefined {
  if (needsFiles(view)) return undefined;
  return compileBriefing(sourceWithoutFiles(view, context, reader), capOf(view, characters)).text;
}

/** Only for a bound session: others are bound by their first call. What cannot be recorded is delivered anyway. */
export async function recordLoads(
  { run, state }: Loaded,
  { engine, now }: Pick<HookContext, 'engine' | 'now'>,
  session: string,
  artifacts: ArtifactVersion[],
): Promise<void> {
  if (artifacts.length === 0 || ended(state) || !Object.hasOwn(state.sessions, session)) return;
  await engine
    .execute(run, { now: now(), session, type: 'loaded', trigger: 'session_start', artifacts })
    .catch(() => {});
}

/** To read critical artifacts and to hash the tree takes much more code and time than the rest. */
function needsFiles({ definition, state }: Loaded): boolean {
  if (criticalArtifacts(definition).length > 0) return true;
  for (const key in state.outputs) if (state.outputs[key]?.tree !== undefined) return true;
  return false;
}

const capOf = ({ definition }: Loaded, characters: number): Cap => ({
  tokens: definition.briefing?.budget ?? leastBriefing.tokens,
  characters,
});

function sourceWithoutFiles(
  view: Loaded,
  context: Pick<HookContext, 'project' | 'nowOf'>,
  reader: Reader,
): BriefingSource {
  const { definition, state } = view;
  const { cursor, next, values } = positionOf(view, context, reader);
  const worktree = taskWorktree(context.project, view.run, cursor?.task);
  return {
    definition,
    state,
    values,
    now: context.nowOf(view.run),
    next,
    more,
    artifacts: [],
    reading: requiredReading(definition, state).map((path) => {
      const known = readState(state, path, context.project);
      const before = known === 'read' && wasReadBefore(state, path, context.project, reader.session);
      return { path, state: before ? 'before' : known };
    }),
    session: reader.session,
    ...(cursor ? { cursor } : {}),
    ...(worktree === undefined ? {} : { worktree }),
  };
}
