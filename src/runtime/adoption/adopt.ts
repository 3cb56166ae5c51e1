import { hash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../engine/index.ts';
import { adoptedDefinition, type Caller, ended, type SessionFacts, type State } from '../../machine/index.ts';
import { createNodeFiles, type RunInfo, withExclusive } from '../../store/index.ts';
import { ignoreRuns, type Project, portable } from '../../workspace/index.ts';
import { type Answer, isRefused, type Refused } from '../answer.ts';
import { worksHere } from '../choose-run.ts';
import { findInformal, type Informal } from './find.ts';

export interface AdoptionPlace {
  engine: Engine;
  project: Project;
  clock(): number;
}

/** Who still makes a run then was cut off. */
const adoptingMs = 3000;

/** On whose behalf; `force`: also beside a run that is live here. */
export interface AdoptOptions {
  actor?: Caller['actor'];
  session?: string | undefined;
  facts?: SessionFacts | undefined;
  force?: boolean | undefined;
}

export interface Adoption {
  run: string;
  /** `unchanged`: its run knew all of it. */
  how: 'adopted' | 'updated' | 'unchanged';
  reply: Answer['reply'];
}

/** A run whose source says no more what it is about. */
export interface Lost {
  run: string;
  source: string;
  why: 'complete' | 'gone';
}

/** Makes a run of an informal workflow, or brings the one that was made of the same source up to date. */
export async function adopt(
  place: AdoptionPlace,
  informal: Informal,
  options: AdoptOptions = {},
): Promise<Adoption | Refused> {
  const { engine, project, clock } = place;
  const { actor, session, facts, force = false } = options;
  if (informal.complete) return complete(informal);
  const adopted = adoptedOf(informal);
  const caller: Caller = { now: clock(), actor, session: session || undefined };
  const around = { values: { project_root: project.root }, facts };
  const first = await look();
  if (first) return first;
  ignoreRuns(project);
  return await alone(project, informal.source, async () => (await look()) ?? (await begin()));

  /** Undefined where a run is to be made. */
  async function look(): Promise<Adoption | Refused | undefined> {
    const live = liveStates(await engine.runs());
    const known = live.find((state) => state.adopted?.source === informal.source);
    if (known) return await update(known);
    const real = force ? undefined : live.find((state) => !state.adopted && isHere(state, project));
    return real && occupied(real, informal);
  }

  async function begin(): Promise<Adoption | Refused> {
    const definition = adoptedDefinition(informal.name, adopted);
    const command = { ...caller, type: 'adopt', adopted, summary: informal.name } as const;
    const { run, reply } = await engine.begin(definition, command, around);
    return isRefused(reply) ? reply : { run, how: 'adopted', reply };
  }

  async function update(state: State): Promise<Adoption | Refused> {
    const command = { ...caller, type: 'adopt', run: state.run, adopted } as const;
    const { reply: told } = await engine.execute(state.run, command, undefined, around);
    const same = JSON.stringify(state.adopted) === JSON.stringify(adopted);
    return isRefused(told) ? told : { run: state.run, how: same ? 'unchanged' : 'updated', reply: told };
  }
}

/** Two hooks of one moment look at the same source: one makes its run, the other finds it. */
async function alone<T>({ directory }: Project, source: string, action: () => Promise<T>): Promise<T> {
  const runs = join(directory, 'runs');
  mkdirSync(runs, { recursive: true });
  const path = join(runs, `.adopting-${hash('sha256', source, 'hex').slice(0, 16)}.lock`);
  const lock = { path, owner: randomUUID(), what: source, patience: adoptingMs };
  return await withExclusive(createNodeFiles(), lock, action);
}

/**
 * A second look before a context is emptied: brings adopted runs up to date, and adopts the first informal workflow
 * where nothing else is live in this worktree. Costs two looks at the file system where there is none. Never throws.
 */
export async function rescan(place: AdoptionPlace, options: AdoptOptions = {}): Promise<Adoption[]> {
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
    // A compaction goes on, whatever is wrong with a file.
    return [];
  }
}

/** Adopted runs whose source says that it is over, or says nothing any more: a person ends them. */
export async function lostSources(
  { engine, project }: AdoptionPlace,
  found: readonly Informal[],
): Promise<Lost[]> {
  return liveStates(await engine.runs()).flatMap((state) => {
    const { run, adopted } = state;
    if (!adopted || !isHere(state, project)) return [];
    const same = found.find(({ source }) => source === adopted.source);
    if (same && !same.complete) return [];
    return [{ run, source: adopted.source, why: same ? ('complete' as const) : ('gone' as const) }];
  });
}

export const isRefusedAdoption = (adoption: Adoption | Refused): adoption is Refused => 'code' in adoption;

function adoptedOf({ source, phase, reading, text }: Informal): NonNullable<State['adopted']> {
  return { source, ...(phase ? { phase } : {}), reading, text };
}

const liveStates = (runs: readonly RunInfo[]): State[] =>
  runs.flatMap(({ state }) => (state && !ended(state) ? [state] : []));

const isHere = (state: State, { root, worktree }: Project): boolean =>
  worksHere(state, portable(worktree, root));

const complete = ({ source }: Informal): Refused => ({
  code: 'source_complete',
  params: { source },
});

const occupied = ({ run }: State, { source }: Informal): Refused => ({
  code: 'run_live',
  params: { run, source },
});
