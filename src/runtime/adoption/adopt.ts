import { hash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../engine/index.ts';
import { adoptedDefinition, type Caller, ended, type SessionFacts, type State } from '../../machine/index.ts';
import { createNodeFiles, type RunInfo, withExclusive } from '../../store/index.ts';
import { ignoreRuns, type Project, portable } from '../../workspace/index.ts';
import { type Answer, isRefused, type Refused } from '../answer.ts';
import { worksHere } from '../choose-run.ts';
import { findInformal, type InformalWorkflow } from './find-informal-workflow.ts';

export interface AdoptionContext {
  engine: Engine;
  project: Project;
  clock(): number;
}

/** An older lock was left by a process that died. */
const adoptingMs = 3000;

/** `force`: adopt even if another run is active in this worktree. */
export interface AdoptOptions {
  actor?: Caller['actor'];
  session?: string | undefined;
  facts?: SessionFacts | undefined;
  force?: boolean | undefined;
}

export interface Adoption {
  run: string;
  /** `unchanged`: the run was up to date. */
  how: 'adopted' | 'updated' | 'unchanged';
  reply: Answer['reply'];
}

/** An adopted run whose source is complete or gone. */
export interface LostSource {
  run: string;
  source: string;
  why: 'complete' | 'gone';
}

/** Creates a run from an informal workflow, or updates the run of the same source. */
export async function adopt(
  place: AdoptionContext,
  informal: InformalWorkflow,
  options: AdoptOptions = {},
): Promise<Adoption | Refused> {
  const { engine, project, clock } = place;
  const { actor, session, facts, force = false } = options;
  if (informal.complete) return sourceComplete(informal);
  const adopted = adoptedOf(informal);
  const caller: Caller = { now: clock(), actor, session: session || undefined };
  const around = { values: { project_root: project.root }, facts };
  const first = await existing();
  if (first) return first;
  ignoreRuns(project);
  return await withLock(project, informal.source, async () => (await existing()) ?? (await begin()));

  /** Undefined if a run has to be created. */
  async function existing(): Promise<Adoption | Refused | undefined> {
    const live = liveStates(await engine.runs());
    const known = live.find((state) => state.adopted?.source === informal.source);
    if (known) return await update(known);
    const real = force ? undefined : live.find((state) => !state.adopted && isHere(state, project));
    return real && runIsLive(real, informal);
  }

  async function begin(): Promise<Adoption | Refused> {
    const definition = adoptedDefinition(informal.name, adopted);
    const command = { ...caller, type: 'adopt', adopted, summary: informal.name } as const;
    const { run, reply } = await engine.begin(definition, command, around);
    return isRefused(reply) ? reply : { run, how: 'adopted', reply };
  }

  async function update(state: State): Promise<Adoption | Refused> {
    const command = { ...caller, type: 'adopt', run: state.run, adopted } as const;
    const { reply } = await engine.execute(state.run, command, undefined, around);
    const same = JSON.stringify(state.adopted) === JSON.stringify(adopted);
    return isRefused(reply) ? reply : { run: state.run, how: same ? 'unchanged' : 'updated', reply };
  }
}

/** Two hooks may find the same source at the same time: one creates the run, the other finds it. */
async function withLock<T>({ directory }: Project, source: string, action: () => Promise<T>): Promise<T> {
  const runs = join(directory, 'runs');
  mkdirSync(runs, { recursive: true });
  const path = join(runs, `.adopting-${hash('sha256', source, 'hex').slice(0, 16)}.lock`);
  const lock = { path, owner: randomUUID(), what: source, patience: adoptingMs };
  return await withExclusive(createNodeFiles(), lock, action);
}

/**
 * Called before a context is reset: updates adopted runs, and adopts the first informal workflow if no run is active in
 * this worktree. Costs two file system calls if there is none. Never throws.
 */
export async function rescan(place: AdoptionContext, options: AdoptOptions = {}): Promise<Adoption[]> {
  try {
    const found = findInformal(place.project).filter(({ complete: over }) => !over);
    if (found.length === 0) return [];
    const live = liveStates(await place.engine.runs());
    const sources = new Set(live.map(({ adopted }) => adopted?.source));
    const idle = !live.some((state) => isHere(state, place.project));
    const known = found.filter(({ source }) => sources.has(source));
    const fresh = idle ? found.slice(0, 1) : [];
    const done: Adoption[] = [];
    for (const informal of new Set([...known, ...fresh])) {
      const adoption = await adopt(place, informal, options);
      if (!isRefusedAdoption(adoption)) done.push(adoption);
    }
    return done;
  } catch {
    // An unreadable file must not stop a compaction.
    return [];
  }
}

/** Adopted runs whose source is complete or gone. A person has to end them. */
export async function lostSources(
  { engine, project }: AdoptionContext,
  found: readonly InformalWorkflow[],
): Promise<LostSource[]> {
  return liveStates(await engine.runs()).flatMap((state) => {
    const { run, adopted } = state;
    if (!adopted || !isHere(state, project)) return [];
    const same = found.find(({ source }) => source === adopted.source);
    if (same && !same.complete) return [];
    return [{ run, source: adopted.source, why: same ? ('complete' as const) : ('gone' as const) }];
  });
}

export const isRefusedAdoption = (adoption: Adoption | Refused): adoption is Refused => 'code' in adoption;

function adoptedOf({ source, phase, reading, text }: InformalWorkflow): NonNullable<State['adopted']> {
  return { source, ...(phase ? { phase } : {}), reading, text };
}

const liveStates = (runs: readonly RunInfo[]): State[] =>
  runs.flatMap(({ state }) => (state && !ended(state) ? [state] : []));

const isHere = (state: State, { root, worktree }: Project): boolean =>
  worksHere(state, portable(worktree, root));

const sourceComplete = ({ source }: InformalWorkflow): Refused => ({
  code: 'source_complete',
  params: { source },
});

const runIsLive = ({ run }: State, { source }: InformalWorkflow): Refused => ({
  code: 'run_live',
  params: { run, source },
});
