import type { Engine } from '../engine/index.ts';
import { type Command, type Definition, ended, type Scalar, shortSummary } from '../machine/index.ts';
import type { OpeningCommand } from '../schema/index.ts';
import type { RunInfo } from '../store/index.ts';
import { containedFile, type GateKeeper, ignoreRuns, type Project } from '../workspace/index.ts';
import { type Answer, isRefused, type Refused } from './answer.ts';
import type { Surroundings, Who } from './call-context.ts';
import { worksHere } from './choose-run.ts';
import type { Memory } from './memory/memory.ts';

export interface StartRequest {
  workflow?: string;
  summary?: string;
  inputs?: Record<string, Scalar>;
  /** Goes on with this run instead. */
  run?: string;
}

interface Options {
  engine: Engine;
  project: Project;
  gates: GateKeeper;
  surroundings: Surroundings;
  memory: Memory;
  which(wanted: { run: string }): Promise<{ run: string } | Refused>;
  definitionOf(workflow: string | undefined): Definition;
  /** Whoever goes on with a run by its name works on it here. */
  know(run: string): Promise<void>;
}

const lingerMs = 3_600_000;

/** Begins a run, or goes on with the one that the same words began. */
export function createStart(options: Options) {
  const { engine, project, gates, surroundings, memory, which, definitionOf, know } = options;
  const { clock, here, caller, around, treeFor, untrusted } = surroundings;
  return start;

  async function start(request: StartRequest, who: Who): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, who);
    const definition = definitionOf(request.workflow);
    const known = await sameRun(definition.name, request, who);
    if (known !== undefined) return await restore(known, who);
    const refused = untrusted(definition, definition.name) ?? badTodoPath(definition, project);
    if (refused) return { reply: refused };
    const { summary, inputs } = request;
    const opening: OpeningCommand = {
      ...caller(who, (await treeFor(definition, 'start', project.worktree))?.hash),
      type: 'start',
      summary,
      inputs,
    };
    ignoreRuns(project);
    const { run, reply, effects, due } = await engine.begin(definition, opening, around(who));
    await gates.perform(run, effects);
    return isRefused(reply) ? { reply } : { run, reply, due };
  }

  async function restore(run: string, who: Who): Promise<Answer> {
    const found = await which({ run });
    if (!('run' in found)) return { reply: found };
    await know(found.run);
    const view = await engine.view(found.run);
    const changed = view ? await memory.differences(view, who.session) : [];
    const command: Command = { ...caller(who), type: 'status' };
    const { reply, effects, due } = await engine.execute(found.run, command, undefined, around(who));
    await gates.perform(found.run, effects, 'found');
    const warning = changed.map(({ what }) => what).join(' ');
    return { run: found.run, reply, due, restored: true, ...(warning === '' ? {} : { warning }) };
  }

  /** A second start restores: the caller's own run, or one of this worktree, with the same words. */
  async function sameRun(
    workflow: string,
    { summary, inputs = {} }: StartRequest,
    { session }: Who,
  ): Promise<string | undefined> {
    const runs = await engine.runs();
    await sweep(runs);
    const words = shortSummary(summary);
    const same = runs.filter(({ state: each }) => {
      if (!each || ended(each) || each.workflow !== workflow) return false;
      const mine = session !== undefined && Object.hasOwn(each.sessions, session);
      const alike = words === each.summary || (mine && words === undefined);
      const fits = Object.entries(inputs).every(([name, value]) => each.inputs[name] === value);
      return alike && fits && (mine || worksHere(each, here));
    });
    return same.length === 1 ? same[0]?.run : undefined;
  }

  /** Runs that keep nothing go some time after their end: until then a repeated call is answered. A server has sweeps of its own. */
  async function sweep(runs: readonly RunInfo[]): Promise<void> {
    for (const { run, state: each, keep } of runs)
      if (keep === false && each && ended(each) && clock() - each.updatedAt > lingerMs)
        await engine.remove(run);
  }
}

function badTodoPath({ todo_path }: Definition, project: Project): Refused | undefined {
  if (todo_path === undefined || containedFile(project.worktree, todo_path)) return undefined;
  return { code: 'bad_config', params: { todoPath: todo_path } };
}
