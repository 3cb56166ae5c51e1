import {
  type Command,
  type Definition,
  ended,
  needsCleanup,
  type Scalar,
  type State,
  shortSummary,
} from '../machine/index.ts';
import { otherWordsText, takenOverText } from '../messages/index.ts';
import type { OpeningCommand } from '../schema/index.ts';
import type { Loaded, RunInfo } from '../store/index.ts';
import { savedStateFile } from '../workspace/index.ts';
import { type Answer, isRefused, type Refused } from './answer.ts';
import type { CallParts } from './call.ts';
import type { CallerIdentity } from './call-context.ts';
import { severalRuns, worksHere } from './choose-run.ts';
import { isInactive } from './sessions/live-runs.ts';

export interface StartRequest {
  workflow?: string | undefined;
  summary?: string | undefined;
  inputs?: Record<string, Scalar> | undefined;
  /** Continues this run instead. */
  run?: string | undefined;
  /** The id of the new run; by default one is chosen. */
  id?: string | undefined;
  /** Other words for the only live run of this workflow here restore it; no words at all, the only live run here. */
  resume?: boolean | undefined;
}

interface Options extends CallParts {
  loadRun(query: { run: string }): Promise<Loaded | Refused>;
  runs(): Promise<readonly RunInfo[]>;
  /** Whether another session is at work on the run. */
  isHeld(run: string, session: string | undefined): Promise<boolean>;
}

const lingerMs = 3_600_000;

/** Starts a run, or continues the live run that the words mean. */
export function createStart(parts: Options) {
  const { engine, workspace, gates, context, briefings, loadRun, runs, isHeld } = parts;
  const { clock, caller, around, treeFor, untrusted } = context;
  return start;

  async function start(request: StartRequest, identity: CallerIdentity): Promise<Answer> {
    if (request.run !== undefined) return await restore(request.run, identity);
    const live = await liveHere(identity);
    const known = wordless(request) ? await onlyOf(live, identity) : undefined;
    if (known) return 'code' in known ? { reply: known } : await restore(known.run, identity);
    const definition = await workspace.workflow(request.workflow);
    const same = sameRun(live, definition.name, request, identity);
    if (same !== undefined) return await restore(same, identity);
    const reworded = request.resume ? await rewordedRun(live, definition.name, request, identity) : undefined;
    if (reworded) {
      const answer = await restore(reworded.run, identity);
      return isRefused(answer.reply) ? answer : { ...answer, warning: otherWordsText(reworded) };
    }
    const refused = untrusted(definition, definition.name) ?? badTodoPath(definition);
    if (refused) return { reply: refused };
    workspace.ignoreRuns();
    return (await continued(definition, request, identity)) ?? (await begun(definition, request, identity));
  }

  /** Goes on with what Lanes left unfinished here. */
  async function continued(
    definition: Definition,
    { resume = true, inputs }: StartRequest,
    identity: CallerIdentity,
  ): Promise<Answer | undefined> {
    const saved = resume ? await workspace.savedState(definition) : undefined;
    if (!saved) return undefined;
    const opening = { ...caller(identity), type: 'import', state: saved.state, inputs } as const;
    const { run, reply, due, view } = await engine.begin(definition, opening, around(identity));
    // A server takes it from a person only.
    if (isRefused(reply)) return undefined;
    saved.taken();
    return { run, reply, due, view, warning: takenOverText(savedStateFile) };
  }

  async function begun(
    definition: Definition,
    request: StartRequest,
    identity: CallerIdentity,
  ): Promise<Answer> {
    const opening: OpeningCommand = {
      ...caller(identity, (await treeFor(definition, 'start', workspace.project.worktree))?.hash),
      type: 'start',
      summary: request.summary,
      inputs: inputsOf(request, definition),
    };
    const once = request.id === undefined ? undefined : { run: request.id, key: request.id };
    const first = await engine.begin(definition, opening, around(identity), once);
    const executed = await gates.withTasks(first, { ...caller(identity), type: 'status' }, around(identity));
    await gates.perform(executed);
    const { run, reply, due, view } = executed;
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

  /** Live runs of this worktree or of this session. */
  async function liveHere({ session }: CallerIdentity): Promise<State[]> {
    const known = await runs();
    if (workspace.hasFiles) await sweep(known);
    return known.flatMap(({ state }) =>
      state && !ended(state) && (isOf(state, session) || worksHere(state, workspace.here)) ? [state] : [],
    );
  }

  /** The only live run of this session, of this worktree, or of the default workflow; several are not guessed from. */
  async function onlyOf(
    live: readonly State[],
    { session }: CallerIdentity,
  ): Promise<{ run: string } | Refused | undefined> {
    const mine = live.filter((state) => isOf(state, session));
    const [only] = [mine, live].find(({ length }) => length === 1) ?? [];
    if (only || live.length === 0) return only;
    const { name } = await workspace.workflow(undefined);
    const [own, second] = live.filter(({ workflow }) => workflow === name);
    if (own && !second) return own;
    return severalRuns(live.map(({ run, summary }) => (summary === undefined ? { run } : { run, summary })));
  }

  /** Another session that is at work there means something else by other words. */
  async function rewordedRun(
    live: readonly State[],
    workflow: string,
    request: StartRequest,
    { session }: CallerIdentity,
  ): Promise<State | undefined> {
    const [only, second] = live.filter(
      (state) => state.workflow === workflow && !isInactive(state, clock()) && hasInputs(state, request),
    );
    if (!only || second || !workspace.hasFiles) return undefined;
    return isOf(only, session) || !(await isHeld(only.run, session)) ? only : undefined;
  }

  /** Removes runs with `keep: false` an hour after their end; until then repeated calls are answered. */
  async function sweep(known: readonly RunInfo[]): Promise<void> {
    for (const { run, state: each, keep } of known)
      if (keep === false && each && ended(each) && !needsCleanup(each) && clock() - each.updatedAt > lingerMs)
        await engine.remove(run);
  }

  function badTodoPath({ todo_path }: Definition): Refused | undefined {
    if (todo_path === undefined || workspace.contains(todo_path)) return undefined;
    return { code: 'bad_config', params: { todoPath: todo_path } };
  }
}

const isOf = ({ sessions }: State, session: string | undefined): boolean =>
  session !== undefined && Object.hasOwn(sessions, session);

const hasInputs = (state: State, { inputs = {} }: StartRequest): boolean =>
  Object.entries(inputs).every(([name, value]) => state.inputs[name] === value);

const wordless = ({ resume = false, workflow, summary, inputs = {} }: StartRequest): boolean =>
  resume && workflow === undefined && shortSummary(summary) === undefined && Object.keys(inputs).length === 0;

/** The live run of an identical start. */
function sameRun(
  live: readonly State[],
  workflow: string,
  request: StartRequest,
  { session }: CallerIdentity,
): string | undefined {
  const short = shortSummary(request.summary);
  const [only, second] = live.filter((state) => {
    const alike = short === state.summary || (isOf(state, session) && short === undefined);
    return state.workflow === workflow && alike && hasInputs(state, request);
  });
  return second ? undefined : only?.run;
}

/** The summary is the task of a default workflow that needs one text. */
function inputsOf(
  { workflow, summary, inputs }: StartRequest,
  definition: Definition,
): Record<string, Scalar> | undefined {
  const words = summary?.trim();
  if (workflow !== undefined || !words) return inputs;
  const missing = onlyRequiredInput(definition, inputs);
  return missing === undefined ? inputs : { ...inputs, [missing]: words };
}

/** The one required text without a value. */
export function onlyRequiredInput(
  { inputs: declared = {} }: Definition,
  given: Record<string, Scalar> = {},
): string | undefined {
  const [only, second] = Object.entries(declared).filter(
    ([name, { required, default: preset }]) =>
      required && preset === undefined && !Object.hasOwn(given, name),
  );
  return only && !second && (only[1].type ?? 'string') === 'string' ? only[0] : undefined;
}
