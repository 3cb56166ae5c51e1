import { type Command, type Definition, ended, type Scalar, shortSummary } from '../machine/index.ts';
import type { OpeningCommand } from '../schema/index.ts';
import type { Loaded, RunInfo } from '../store/index.ts';
import { type Answer, isRefused, type Refused } from './answer.ts';
import type { CallParts } from './call.ts';
import type { CallerIdentity } from './call-context.ts';
import { worksHere } from './choose-run.ts';

export interface StartRequest {
  workflow?: string | undefined;
  summary?: string | undefined;
  inputs?: Record<string, Scalar> | undefined;
  /** Continues this run instead. */
  run?: string | undefined;
}

interface Options extends CallParts {
  loadRun(query: { run: string }): Promise<Loaded | Refused>;
  runs(): Promise<readonly RunInfo[]>;
}

const lingerMs = 3_600_000;

/** Starts a run, or continues the run of an identical start. */
export function createStart({ engine, workspace, gates, context, briefings, loadRun, runs }: Options) {
  const { clock, caller, around, treeFor, untrusted } = context;
  return start;

  async function start(request: StartRequest, identity: CallerIdentity): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, identity);
    const definition = await workspace.workflow(request.workflow);
    const known = await sameRun(definition.name, request, identity);
    if (known !== undefined) return await restore(known, identity);
    const refused = untrusted(definition, definition.name) ?? badTodoPath(definition);
    if (refused) return { reply: refused };
    const { summary, inputs } = request;
    const opening: OpeningCommand = {
      ...caller(identity, (await treeFor(definition, 'start', workspace.project.worktree))?.hash),
      type: 'start',
      summary,
      inputs,
    };
    workspace.ignoreRuns();
    const begun = await engine.begin(definition, opening, around(identity));
    await gates.perform(begun);
    const { run, reply, due, view } = begun;
    return isRefused(reply) ? { reply } : { run, reply, due, view };
  }

  async function restore(run: string, identity: CallerIdentity): Promise<Answer> {
    const view = await loadRun({ run });
    if ('code' in view) return { reply: view };
    engine.know?.(view);
    const changed = await briefings.differences(view, identity.session);
    const command: Command = { ...caller(identity), type: 'status' };
    const executed = await engine.execute(view.run, command, undefined, around(identity));
    await gates.perform(executed, 'found');
    const { reply, due } = executed;
    const warning = changed.map(({ what }) => what).join(' ');
    return {
      run: view.run,
      reply,
      due,
      view: executed.view,
      restored: true,
      ...(warning !== '' && { warning }),
    };
  }

  /** The live run of an identical start, by this session or in this worktree. */
  async function sameRun(
    workflow: string,
    { summary, inputs = {} }: StartRequest,
    { session }: CallerIdentity,
  ): Promise<string | undefined> {
    const known = await runs();
    if (workspace.hasFiles) await sweep(known);
    const short = shortSummary(summary);
    const same = known.filter(({ state: each }) => {
      if (!each || ended(each) || each.workflow !== workflow) return false;
      const mine = session !== undefined && Object.hasOwn(each.sessions, session);
      const alike = short === each.summary || (mine && short === undefined);
      const fits = Object.entries(inputs).every(([name, value]) => each.inputs[name] === value);
      return alike && fits && (mine || worksHere(each, workspace.here));
    });
    return same.length === 1 ? same[0]?.run : undefined;
  }

  /** Removes runs with `keep: false` an hour after their end; until then repeated calls are answered. */
  async function sweep(known: readonly RunInfo[]): Promise<void> {
    for (const { run, state: each, keep } of known)
      if (keep === false && each && ended(each) && clock() - each.updatedAt > lingerMs)
        await engine.remove(run);
  }

  function badTodoPath({ todo_path }: Definition): Refused | undefined {
    if (todo_path === undefined || workspace.contains(todo_path)) return undefined;
    return { code: 'bad_config', params: { todoPath: todo_path } };
  }
}
