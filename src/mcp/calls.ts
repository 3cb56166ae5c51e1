import type { TaskInput } from '../machine/index.ts';
import { nextForTools, type RefusalText } from '../messages/index.ts';
import {
  type Answer,
  createBindings,
  highPressure,
  isRefused,
  type Refused,
  type Request,
  type Runtime,
  type StartRequest,
} from '../runtime/index.ts';
import { noteKinds, verdicts } from '../schema/index.ts';
import { answered } from './answer.ts';
import { type Arguments, badArgument, textIn } from './arguments.ts';
import type { Caller } from './caller.ts';
import { contextFor } from './context.ts';
import { asHolder, heldByOther, isOfTask } from './lease-handover.ts';
import { refusalAnswer } from './refusal-answer.ts';
import { meantRun } from './session-run.ts';
import type { StatusAnswer } from './status-answer.ts';

export type ToolAnswer =
  | { structured: StatusAnswer | { ok: true; id?: string | undefined; next?: string; warning?: string } }
  | { refused: RefusalText }
  | { text: string };

/** The result of a call before its refusal is worded. */
type Called = Exclude<ToolAnswer, { refused: unknown }> | { refused: Refused };

type Call = (given: Arguments, runtime: Runtime, caller: Caller) => Promise<Called>;

/** Performs one call; arguments have been checked against the tool's schema. */
export async function callTool(
  name: string,
  given: Arguments,
  runtime: Runtime,
  caller: Caller,
): Promise<ToolAnswer> {
  const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
  const answer = await call?.(given, runtime, caller);
  if (!answer) throw new Error(`the tool ${name} is listed but does nothing`);
  if (!('refused' in answer)) return answer;
  return { refused: await refusalAnswer(answer.refused, runtime, caller.who) };
}

const calls: Record<string, Call> = {
  workflow_start: async (given, runtime, { who }) => {
    const { inputs } = given;
    const bad = badInputs(inputs);
    if (bad) return { refused: bad };
    const request: StartRequest = {
      workflow: textIn(given, 'workflow'),
      summary: textIn(given, 'summary'),
      // Checked above.
      inputs: inputs as Record<string, string> | undefined,
      run: textIn(given, 'run_id'),
      resume: given.new !== true,
    };
    return await answered(runtime, await runtime.start(request, who), who);
  },

  workflow_status: async (given, runtime, caller) => {
    const answer = await answerTo(
      runtime,
      caller,
      { type: 'status', at: textIn(given, 'at') },
      { over: 'any' },
    );
    const used = 'structured' in answer ? await contextUsed(runtime, caller) : undefined;
    if (used === undefined || !('structured' in answer)) return answer;
    return { structured: { ...answer.structured, context_used: used } };
  },

  workflow_advance: async (given, runtime, caller) => {
    const output = textIn(given, 'output') ?? '';
    const verdict = verdicts.find((each) => each === given.verdict);
    if (verdict !== undefined) return await review(given, runtime, caller, verdict);
    if (given.failed === true && output.trim() === '')
      return { refused: badArgument('workflow_advance', { is: 'blank_reason' }) };
    const request: Request =
      given.failed === true
        ? { type: 'fail', reason: output, at: textIn(given, 'at') }
        : { type: 'advance', output, at: textIn(given, 'at') };
    return await answerTo(runtime, caller, request, { over: 'repeat' });
  },

  workflow_set_tasks: async (given, runtime, caller) => {
    const loop = textIn(given, 'loop_id') ?? '';
    // Checked against the schema.
    const tasks = (given.tasks as TaskInput[]).map(withoutNulls);
    // `at` is not in the schema; a refusal mentions it to a caller with several runs.
    const named = await runNamedBy(given, runtime);
    if ('code' in named) return { refused: named };
    return await answerTo(runtime, caller, { type: 'setTasks', loop, tasks }, named);
  },

  workflow_claim: async (given, runtime, { who, options }) => {
    const [run = '', task] = [textIn(given, 'run_id'), textIn(given, 'task')];
    const request: Request = { type: 'claim', holder: who.session, task };
    const answer = await runtime.call(request, who, { ...options, run });
    const { hasFiles, project } = runtime.workspace;
    const worktree = answer.worktree ?? (hasFiles ? project.worktree : undefined);
    return await answered(runtime, { ...answer, ...(worktree === undefined ? {} : { worktree }) }, who);
  },

  workflow_context: async (given, runtime, { who }) => await contextFor(given, runtime, who),

  workflow_note: async (given, runtime, caller) => {
    const [text = '', key] = [textIn(given, 'text'), textIn(given, 'key')];
    const kind = noteKinds.find((each) => each === given.kind);
    const request: Request =
      kind === undefined
        ? { type: 'ask', text, at: textIn(given, 'at') }
        : { type: 'note', kind, text, key, at: textIn(given, 'at') };
    const answer = await send(runtime, caller, request);
    const { reply, warning } = answer;
    if (isRefused(reply)) return { refused: reply };
    const id = await savedId(runtime, answer, kind, text.trim());
    const next = kind === undefined ? { next: nextForTools(reply.action) } : {};
    const more = warning === undefined ? next : { warning };
    return { structured: { ok: true, id, ...more } };
  },

  update_todo_list: async (given, runtime, caller) => {
    const named = await runNamedBy(given, runtime);
    if ('code' in named) return { refused: named };
    const content = textIn(given, 'content') ?? '';
    const { reply, warning } = await send(runtime, caller, { type: 'todo', content }, named);
    if (isRefused(reply)) return { refused: reply };
    return { structured: { ok: true, ...(warning === undefined ? {} : { warning }) } };
  },
};

/** Where a hook saw the call: then its session has a binding. */
async function contextUsed({ workspace }: Runtime, { who }: Caller): Promise<number | undefined> {
  const { host, session, witness } = who;
  if (!workspace.hasFiles || witness !== 'hooks' || host === undefined) return undefined;
  const binding = await createBindings(workspace.project.directory).get({ host, session });
  return binding && highPressure([binding]);
}

/** The run of the handle, for calls about a run. */
async function runNamedBy(given: Arguments, runtime: Runtime): Promise<{ run?: string } | Refused> {
  const at = textIn(given, 'at');
  return at === undefined ? {} : await runtime.chooseRun({ at });
}

async function answerTo(
  runtime: Runtime,
  caller: Caller,
  request: Request,
  options: { run?: string; over?: Over } = {},
): Promise<Called> {
  const answer = await send(runtime, caller, request, options);
  const named = 'at' in request && request.at !== undefined;
  return await answered(runtime, answer, { ...caller.who, named });
}

/** Whether a call can reach an ended run: a status call any, a repeated call the run that it ended. */
type Over = 'any' | 'repeat';

async function send(
  runtime: Runtime,
  { who, options }: Caller,
  request: Request,
  { run, over }: { run?: string; over?: Over } = {},
): Promise<Answer> {
  const at = 'at' in request ? request.at : undefined;
  const found = isOfTask(at) ? await runtime.loadRun({ at }) : undefined;
  const view = found && !('code' in found) ? found : undefined;
  const held = view && at !== undefined ? heldByOther(view, at, who.session) : undefined;
  const answer = await runtime.call(request, who, { ...options, run, view });
  if (held) return await asHolder(runtime, { who, options }, answer, held);
  if (at !== undefined) return answer;
  if (run !== undefined || !isRefused(answer.reply)) return answer;
  const meant = await meantRun(runtime, answer.reply, { session: who.session, over });
  if (meant === undefined) return answer;
  const reached = await runtime.call(request, who, { ...options, run: meant });
  const isNew = over === 'repeat' && answer.reply.code === 'no_run' && !('replayed' in reached.reply);
  return isNew ? answer : reached;
}

/** Takes no reviewer name: any caller could pass one, and no session may approve its own work. */
async function review(
  given: Arguments,
  runtime: Runtime,
  { who, options }: Caller,
  verdict: (typeof verdicts)[number],
): Promise<Called> {
  const refuse = (is: 'verdict_and_failed' | 'verdict_without_at'): Called => ({
    refused: badArgument('workflow_advance', { is }),
  });
  if (given.failed === true) return refuse('verdict_and_failed');
  const at = textIn(given, 'at');
  if (at === undefined) return refuse('verdict_without_at');
  const feedback = textIn(given, 'output') ?? '';
  const request: Request = { type: 'review', verdict, feedback, at };
  return await answered(runtime, await runtime.call(request, who, options), { ...who, named: true });
}

/** The id of the saved note or question. */
async function savedId(
  runtime: Runtime,
  { run, view: loaded }: Answer,
  kind: string | undefined,
  text: string,
): Promise<string | undefined> {
  const view = loaded ?? (run === undefined ? undefined : await runtime.engine.view(run));
  if (!view) return undefined;
  const { questions, notes, noteCount } = view.state;
  if (kind === undefined) return questions.findLast((question) => text.startsWith(question.text))?.id;
  const known = notes.findLast((note) => note.kind === kind && note.text === text)?.id;
  // A `reading` is recorded as read, not as a note.
  return known ?? (kind === 'reading' ? undefined : `n${noteCount}`);
}

function badInputs(inputs: unknown): Refused | undefined {
  const scalars = ['string', 'number', 'boolean'];
  const bad = Object.entries(inputs ?? {}).find(([, value]) => !scalars.includes(typeof value));
  if (!bad) return undefined;
  return badArgument('workflow_start', { is: 'input_not_scalar', name: bad[0].slice(0, 80) });
}

const withoutNulls = (task: TaskInput): TaskInput =>
  // Drops only the optional keys that a model set to null.
  Object.fromEntries(Object.entries(task).filter(([, value]) => value !== null)) as unknown as TaskInput;
