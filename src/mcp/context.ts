import { type Cursor, formatHandle, parseHandle } from '../machine/index.ts';
import { type Refused, type Runtime, taskWorktree } from '../runtime/index.ts';
import { type Arguments, textIn } from './arguments.ts';
import { meantRun } from './find-run.ts';
import { contextText, type SectionName } from './sections.ts';
import { sectionNames } from './tools.ts';

type Loaded = NonNullable<Awaited<ReturnType<Runtime['engine']['view']>>>;

/** What `workflow_context` answers: reads alone, so a context action that was asked for stays as it is. */
export async function contextFor(
  given: Arguments,
  runtime: Runtime,
  session: string,
): Promise<{ text: string } | { refused: Refused }> {
  const at = textIn(given, 'at');
  let found = await runtime.which({ at });
  if (!('run' in found) && at === undefined) {
    const run = await meantRun(runtime, found, { session, over: true });
    if (run !== undefined) found = { run };
  }
  if (!('run' in found)) return { refused: found };
  const section = sectionNames.find((each) => each === given.section);
  const artifacts = Array.isArray(given.artifacts) ? given.artifacts.map(String) : undefined;
  const text = await contextOf(runtime, found.run, {
    ...(at === undefined ? {} : { at }),
    ...(section === undefined ? {} : { section }),
    ...(artifacts ? { artifacts } : {}),
    session,
  });
  return text === undefined ? { refused: gone(found.run) } : { text };
}

/** The text for one run; undefined where there is no such run. */
export async function contextOf(
  runtime: Runtime,
  run: string,
  options: { at?: string; section?: SectionName; artifacts?: string[]; session?: string } = {},
): Promise<string | undefined> {
  const view = await runtime.engine.view(run);
  if (!view) return undefined;
  const { definition, state } = view;
  const { section, artifacts, session } = options;
  const cursor = cursorFor(view, options);
  const whole = section === 'outputs' || section === 'todo';
  const worktree = taskWorktree(runtime.project, run, cursor?.task);
  const text = whole ? await textsOf(runtime, view, section) : {};
  return contextText(
    {
      definition,
      state,
      values: { project_root: runtime.project.root },
      ...(cursor ? { cursor } : {}),
      ...(worktree === undefined ? {} : { worktree }),
      ...(session === undefined ? {} : { session }),
      ...text,
    },
    { ...(section === undefined ? {} : { section }), ...(artifacts ? { artifacts } : {}) },
  );
}

/** The position of the handle; else the task that it was of, or the only open one. Nobody is told of somebody else's. */
function cursorFor(
  { run, state }: Loaded,
  { at, session }: { at?: string; session?: string },
): Cursor | undefined {
  const cursors = Object.values(state.cursors);
  const exact = cursors.find(({ path, visit }) => formatHandle(run, path, visit) === at);
  if (exact) return exact;
  const own = cursors.filter(({ lease }) => lease === undefined || lease.holder === session);
  const [step, task] = (at === undefined ? undefined : parseHandle(at))?.path.split('/') ?? [];
  const same = own.find((each) => each.step === step && each.task === task);
  return same ?? (own.length === 1 ? own[0] : undefined);
}

async function textsOf(runtime: Runtime, { run, state }: Loaded, section: 'outputs' | 'todo') {
  if (section === 'todo')
    return state.todo === undefined ? {} : { todo: await runtime.engine.text(run, state.todo) };
  const outputs: Record<string, string> = {};
  for (const [key, output] of Object.entries(state.outputs))
    outputs[key] = await runtime.engine.text(run, output.text);
  return { outputs };
}

export const gone = (run: string): Refused => ({
  code: 'no_run',
  message: `there is no run '${run.slice(0, 80)}'`,
  next: 'call workflow_status without a handle',
});
