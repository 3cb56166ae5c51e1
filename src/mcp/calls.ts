import { formatHandle, parseHandle, type TaskInput } from '../machine/index.ts';
import {
  type Answer,
  type CallOptions,
  isRefused,
  type Refused,
  type Request,
  type Runtime,
  type Told,
  type Who,
} from '../runtime/index.ts';
import { type Arguments, badArgument, textIn } from './arguments.ts';
import { contextFor } from './context.ts';
import { meantRun } from './find-run.ts';
import { refusalAnswer, type StatusAnswer, statusAnswer } from './status-answer.ts';
import { noteKinds, verdicts } from './tools.ts';

/** Who calls, and how long the call may wait for gates. */
export interface Caller {
  who: Who & { session: string };
  options: Pick<CallOptions, 'waitMs' | 'onProgress'>;
}

export type ToolAnswer =
  | { structured: StatusAnswer | { ok: true; id?: string } }
  | { refused: Refused }
  | { text: string };

type Call = (given: Arguments, runtime: Runtime, caller: Caller) => Promise<ToolAnswer>;

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
  return 'refused' in answer ? { refused: refusalAnswer(answer.refused) } : answer;
}

const calls: Record<string, Call> = {
  workflow_start: async (given, runtime, { who }) => {
    const { inputs } = given;
    const bad = badInputs(inputs);
    if (bad) return { refused: bad };
    const [workflow, summary, run] = [
      textIn(given, 'workflow'),
      textIn(given, 'summary'),
      textIn(given, 'run_id'),
    ];
    const request: Parameters<Runtime['start']>[0] = {
      ...(workflow === undefined ? {} : { workflow }),
      ...(summary === undefined ? {} : { summary }),
      // That they are scalars was checked just now.
      ...(inputs === undefined ? {} : { inputs: inputs as Record<string, string> }),
      ...(run === undefined ? {} : { run }),
    };
    return told(await runtime.start(request, who));
  },

  workflow_status: async (given, runtime, caller) =>
    told(await send(runtime, caller, { type: 'status', ...atIn(given) }, { over: true })),

  workflow_advance: async (given, runtime, caller) => {
    const output = textIn(given, 'output') ?? '';
    const verdict = verdicts.find((each) => each === given.verdict);
    if (verdict !== undefined) return await review(given, runtime, caller, verdict);
    const request: Request =
      given.failed === true
        ? { type: 'fail', reason: output, ...atIn(given) }
        : { type: 'advance', output, ...atIn(given) };
    return told(await send(runtime, caller, request, { over: true }));
  },

  workflow_set_tasks: async (given, runtime, caller) => {
    const loop = textIn(given, 'loop_id') ?? '';
    // Their shape was checked against the schema.
    const tasks = (given.tasks as TaskInput[]).map(withoutNulls);
    return told(await send(runtime, caller, { type: 'setTasks', loop, tasks }));
  },

  workflow_claim: async (given, runtime, { who, options }) => {
    const [run = '', task] = [textIn(given, 'run_id'), textIn(given, 'task')];
    const request: Request = {
      type: 'claim',
      holder: who.session,
      ...(task === undefined ? {} : { task }),
    };
    const answer = await runtime.call(request, who, { ...options, run });
    return told({ ...answer, worktree: answer.worktree ?? runtime.project.worktree });
  },

  workflow_context: async (given, runtime, { who }) => await contextFor(given, runtime, who.session),

  workflow_note: async (given, runtime, caller) => {
    const [text = '', key] = [textIn(given, 'text'), textIn(given, 'key')];
    const kind = noteKinds.find((each) => each === given.kind);
    const request: Request =
      kind === undefined
        ? { type: 'ask', text, ...atIn(given) }
        : { type: 'note', kind, text, ...(key === undefined ? {} : { key }), ...atIn(given) };
    const { run, reply } = await send(runtime, caller, request);
    if (isRefused(reply)) return { refused: reply };
    const id = run === undefined ? undefined : await keptAs(runtime, run, kind, text.trim());
    return { structured: { ok: true, ...(id === undefined ? {} : { id }) } };
  },

  update_todo_list: async (given, runtime, caller) => {
    const at = textIn(given, 'at');
    const found = at === undefined ? undefined : await runtime.which({ at });
    if (found && !('run' in found)) return { refused: found };
    const content = textIn(given, 'content') ?? '';
    const { reply } = await send(runtime, caller, { type: 'todo', content }, found);
    return isRefused(reply) ? { refused: reply } : { structured: { ok: true } };
  },
};

const told = ({ reply, worktree }: Answer): ToolAnswer =>
  isRefused(reply) ? { refused: reply } : { structured: statusAnswer(reply, worktree) };

const atIn = (given: Arguments): { at?: string } => {
  const at = textIn(given, 'at');
  return at === undefined ? {} : { at };
};

/** `over`: the run may have ended. */
async function send(
  runtime: Runtime,
  { who, options }: Caller,
  request: Request,
  { run, over = false }: { run?: string; over?: boolean } = {},
): Promise<Answer> {
  const named = run === undefined ? {} : { run };
  const answer = await runtime.call(request, who, { ...options, ...named });
  const at = 'at' in request ? request.at : undefined;
  if (at !== undefined) return await asHolder(runtime, { who, options }, answer, at);
  if (run !== undefined || !isRefused(answer.reply)) return answer;
  const meant = await meantRun(runtime, answer.reply, { session: who.session, over });
  return meant === undefined ? answer : await runtime.call(request, who, { ...options, run: meant });
}

/** A claimed task belongs to whoever has its handle: a server that was started anew has another session. */
async function asHolder(
  runtime: Runtime,
  { who, options }: Caller,
  answer: Answer,
  at: string,
): Promise<Answer> {
  const { run, reply } = answer;
  if (run === undefined || isRefused(reply) || reply.at !== undefined || !reply.held) return answer;
  const [step, task] = parseHandle(at)?.path.split('/') ?? [];
  const cursor = (await runtime.engine.view(run))?.state.cursors[`${step}/${task}`];
  const session = cursor?.lease?.holder;
  if (!cursor || session === undefined || session === who.session) return answer;
  const request: Request = { type: 'status', at: formatHandle(run, cursor.path, cursor.visit) };
  const own = await runtime.call(request, { ...who, session }, { ...options, run });
  if (isRefused(own.reply) || !reply.replayed) return own;
  const replayed: Told = { ...own.reply, replayed: true };
  return { ...own, reply: replayed };
}

/** The verdict of the agent that the position waits for. */
async function review(
  given: Arguments,
  runtime: Runtime,
  caller: Caller,
  verdict: (typeof verdicts)[number],
): Promise<ToolAnswer> {
  const refuse = (message: string, next: string): ToolAnswer => ({
    refused: badArgument('workflow_advance', message, next),
  });
  if (given.failed === true) return refuse('a verdict cannot be failed', 'send either verdict or failed');
  const at = textIn(given, 'at');
  if (at === undefined) return refuse('a verdict needs at', 'add the handle of the position under review');
  const found = await runtime.which({ at });
  if (!('run' in found)) return { refused: found };
  const { run } = found;
  const cursors = Object.values((await runtime.engine.view(run))?.state.cursors ?? {});
  const waiting = cursors.find((each) => formatHandle(run, each.path, each.visit) === at)?.waiting;
  const name = waiting?.kind === 'review' && waiting.by !== 'human' ? waiting.by : undefined;
  const actor = { kind: 'agent' as const, ...(name === undefined ? {} : { name }) };
  const feedback = textIn(given, 'output') ?? '';
  const who = { ...caller.who, actor };
  return told(await send(runtime, { ...caller, who }, { type: 'review', verdict, feedback, at }, { run }));
}

/** The id under which the words are kept. */
async function keptAs(
  runtime: Runtime,
  run: string,
  kind: string | undefined,
  text: string,
): Promise<string | undefined> {
  const view = await runtime.engine.view(run);
  if (!view) return undefined;
  const { questions, notes, noteCount } = view.state;
  if (kind === undefined) return questions.findLast((question) => text.startsWith(question.text))?.id;
  return notes.findLast((note) => note.kind === kind && note.text === text)?.id ?? `n${noteCount}`;
}

function badInputs(inputs: unknown): Refused | undefined {
  const scalars = ['string', 'number', 'boolean'];
  const bad = Object.entries(inputs ?? {}).find(([, value]) => !scalars.includes(typeof value));
  if (!bad) return undefined;
  const message = `inputs.${bad[0].slice(0, 80)} must be a string, a number or true/false`;
  return badArgument('workflow_start', message, 'send each input as a single value');
}

const withoutNulls = (task: TaskInput): TaskInput =>
  // Optional keys that a model filled with null are the only ones that go.
  Object.fromEntries(Object.entries(task).filter(([, value]) => value !== null)) as unknown as TaskInput;
