import { hash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../engine/index.ts';
import {
  type Adopted,
  adoptedDefinition,
  type Caller,
  ended,
  type SessionFacts,
  type State,
} from '../../machine/index.ts';
import { sourceCompleteText } from '../../messages/index.ts';
import { createNodeFiles, type Loaded, type RunInfo, withExclusive } from '../../store/index.ts';
import { ignoreRuns, type Project, portable } from '../../workspace/index.ts';
import { type Answer, isRefused, type Refused } from '../answer.ts';
import { worksHere } from '../choose-run.ts';
import {
  adoptedFrom,
  completedSource,
  findInformal,
  type InformalWorkflow,
  sourceState,
} from './find-informal-workflow.ts';

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
  const adopted = adoptedFrom(informal);
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
    const definition = adoptedDefinition(informal.name, adopted, informal.type);
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
 * Called before a context is reset and when a session starts: ends the runs whose source is complete, updates the other
 * adopted ones, and adopts the first that `find` finds if no run is active in this worktree. Never throws.
 */
export async function rescan(
  place: AdoptionContext,
  { find = findInformal, ...options }: AdoptOptions & { find?: typeof findInformal } = {},
): Promise<Adoption[]> {
  try {
    const live = liveStates(await place.engine.runs());
    const over = new Set((await endCompleted(place, live)).map(({ run }) => run));
    const open = live.filter(({ run }) => !over.has(run));
    const sources = new Set(open.map(({ adopted }) => adopted?.source));
    const found = findInformal(place.project).filter(({ complete }) => !complete);
    const idle = !open.some((state) => isHere(state, place.project));
    const known = found.filter(({ source }) => sources.has(source));
    const isFresh = ({ complete, source }: InformalWorkflow): boolean => !complete && !sources.has(source);
    const [fresh] = idle ? find(place.project).filter(isFresh) : [];
    const done: Adoption[] = [];
    for (const informal of [...known, ...(fresh ? [fresh] : [])]) {
      const adoption = await adopt(place, informal, options);
      if (!isRefusedAdoption(adoption)) done.push(adoption);
    }
    return done;
  } catch {
    // An unreadable file must not stop a compaction.
    return [];
  }
}

/** Ends the runs of this worktree whose source says that the work is complete. */
export async function endCompleted(
  { engine, project, clock }: AdoptionContext,
  states?: readonly State[],
): Promise<LostSource[]> {
  const ending: LostSource[] = [];
  for (const state of states ?? liveStates(await engine.runs())) {
    const { run, adopted } = state;
    if (!adopted || !isHere(state, project) || !(await isComplete(project, adopted))) continue;
    const caller: Caller = { now: clock(), actor: { kind: 'engine' } };
    await engine.execute(run, { ...caller, type: 'adopt', run, adopted: completedSource(project, adopted) });
    const output = sourceCompleteText(adopted.source);
    const { reply } = await engine.execute(run, { ...caller, type: 'advance', output });
    if (!isRefused(reply)) ending.push({ run, source: adopted.source, why: 'complete' });
  }
  return ending;
}

/** Looks twice: a file that is being replaced is missing for a moment. */
async function isComplete(project: Project, adopted: Adopted): Promise<boolean> {
  if (sourceState(project, adopted) !== 'complete') return false;
  await new Promise((resolve) => setTimeout(resolve, replacingMs));
  return sourceState(project, adopted) === 'complete';
}

const replacingMs = 200;

/** The run as its source has it: ended if the source is complete. */
export async function follow(place: AdoptionContext, view: Loaded): Promise<Loaded> {
  if (!view.state.adopted || ended(view.state)) return view;
  const over = await endCompleted(place, [view.state]);
  return over.length === 0 ? view : ((await place.engine.view(view.run)) ?? view);
}

/** Adopted runs whose source no longer describes them. A person has to end them. */
export async function lostSources({ engine, project }: AdoptionContext): Promise<LostSource[]> {
  return liveStates(await engine.runs()).flatMap((state) => {
    const { run, adopted } = state;
    if (!adopted || !isHere(state, project) || sourceState(project, adopted) !== 'gone') return [];
    return [{ run, source: adopted.source, why: 'gone' as const }];
  });
}

export const isRefusedAdoption = (adoption: Adoption | Refused): adoption is Refused => 'code' in adoption;

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
