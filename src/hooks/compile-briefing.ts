import { type Briefing, type BriefingSource, type Cap, compileBriefing } from '../context/index.ts';
import { criticalArtifacts, ended, leastBriefing, requiredReading, statusOf } from '../machine/index.ts';
import { nextForTools } from '../messages/index.ts';
import { cursorFor, type Load } from '../runtime/index.ts';
import type { Loaded } from '../store/index.ts';
import { readState, taskWorktree } from '../workspace/index.ts';
import type { Place } from './place.ts';

export interface About {
  /** As the run knows the session. */
  session: string;
  at?: string | undefined;
}

/** How a section is asked for. */
const more = 'workflow_context, section {section}';

/** The position of a session, and what its agent does next. */
export function whereIs(view: Loaded, { project }: Pick<Place, 'project'>, { session, at }: About) {
  const cursor = cursorFor(view, { at, session });
  const values = { project_root: project.root };
  const status = statusOf(view.definition, view.state, { cursor, values, session });
  return { cursor, status, next: nextForTools(status.action), values };
}

/** The briefing of a session, within the host's budget. What it shows of files is recorded where the session is bound. */
export async function briefingFor(
  view: Loaded,
  place: Place,
  about: About,
  characters: number,
): Promise<Briefing> {
  const { briefing, loads } = await compileFor(view, place, about, characters);
  // What cannot be recorded is shown all the same.
  await recordLoads(view, place, about.session, loads).catch(() => {});
  return briefing;
}

/** A briefing that nobody was shown yet. */
export interface Compilation {
  briefing: Briefing;
  /** By this machine's clock. */
  now: number;
  /** What is recorded of critical artifacts once it is shown. */
  loads: Load[];
  /** The files that it tells of, from the top of this worktree. */
  files: string[];
  worktree: string;
}

export async function compileFor(
  view: Loaded,
  place: Place,
  about: About,
  characters: number,
): Promise<Compilation> {
  const cap = capOf(view, characters);
  const { source, briefing, loads } = needsFiles(view) ? await withFiles() : plain();
  const { reading, artifacts, worktree = place.project.worktree } = source;
  const sources = artifacts.flatMap(({ content }) => ('source' in content ? (content.source ?? []) : []));
  const files = [...reading.map(({ path }) => path), ...sources.filter((each) => each.startsWith('@'))];
  return { briefing, now: place.now(), loads, files, worktree };

  function plain() {
    const only = plainSource(view, place, about);
    return { source: only, briefing: compileBriefing(only, cap), loads: [] };
  }

  async function withFiles() {
    const { cursor, next } = whereIs(view, place, about);
    const { briefWithFiles } = await import('./with-files.ts');
    return await briefWithFiles(view, place, { session: about.session, cursor, next, more }, cap);
  }
}

/** An unbound session is bound by its first call, not by what it was told. */
export async function recordLoads(
  { run, state }: Loaded,
  { engine, now }: Pick<Place, 'engine' | 'now'>,
  session: string,
  artifacts: Load[],
): Promise<void> {
  if (artifacts.length === 0 || ended(state) || !Object.hasOwn(state.sessions, session)) return;
  await engine.execute(run, { now: now(), session, type: 'loaded', trigger: 'session_start', artifacts });
}

/** Critical artifacts are read, and the tree is compared, with far more code than the rest needs. */
export function needsFiles({ definition, state }: Loaded): boolean {
  if (criticalArtifacts(definition).length > 0) return true;
  for (const key in state.outputs) if (state.outputs[key]?.tree !== undefined) return true;
  return false;
}

export const capOf = ({ definition }: Loaded, characters: number): Cap => ({
  tokens: definition.briefing?.budget ?? leastBriefing.tokens,
  characters,
});

/** What a briefing without files is made of. */
export function plainSource(
  view: Loaded,
  place: Pick<Place, 'project' | 'nowOf'>,
  about: About,
): BriefingSource {
  const { definition, state } = view;
  const { cursor, next, values } = whereIs(view, place, about);
  const worktree = taskWorktree(place.project, view.run, cursor?.task);
  return {
    definition,
    state,
    values,
    now: place.nowOf(view.run),
    next,
    more,
    artifacts: [],
    reading: requiredReading(definition, state).map((path) => ({
      path,
      state: readState(state, path, place.project),
    })),
    session: about.session,
    ...(cursor ? { cursor } : {}),
    ...(worktree === undefined ? {} : { worktree }),
  };
}
