import type { Definition, Receipt, Step } from '../schema/index.ts';
import { adoptedInstructions } from './adopt.ts';
import { instructionsOpen, isFenced } from './boundary.ts';
import { formatHandle, parseHandle } from './handle.ts';
import { own } from './own-property.ts';
import { type Cursor, ended, type RunStatus, type State } from './state.ts';
import {
  awaitsTasks,
  loopIdOf,
  parallelOf,
  readyTasks,
  stepIndex,
  stepOf,
  subStepsOf,
  taskListOf,
  tasksIn,
  wantedTasks,
  workAt,
} from './steps.ts';
import { expandAt } from './values.ts';

const mostListed = 20;

/** Where a run stands, for an agent or a person: facts, and the next action. */
export interface Status {
  run: string;
  status: RunStatus;
  reason?: string;
  at?: string;
  step: string;
  stepType: Step['type'];
  phase: Phase;
  task?: { index: number; id: string; title: string; total: number };
  subStep?: string;
  subStepIndex?: number;
  totalSubSteps?: number;
  ralphIteration?: number;
  ralphTotal?: number;
  /** null: the main agent. */
  agent: string | null;
  delegate?: boolean;
  progress: { currentStep: number; totalSteps: number; completedTasks?: number; totalTasks?: number };
  instructions?: string;
  contextAction?: '/compact' | '/clear';
  message?: string;
  feedback?: string;
  /** What this position asked, and what it was told. */
  answers?: { question: string; answer: string }[];
  waiting?: { for: 'review' | 'question' | 'blocked' | 'budget'; by: string; what: string };
  checking?: { id: string; deadline: number };
  failed_gates?: Receipt[];
  /** Files that the gates kept changing. */
  unstable_files?: string[];
  /** Why the visit before this one failed. */
  last_failure?: string;
  /** With several agents: what is held and what may be claimed. */
  held?: { at?: string; task: string; holder?: string; waiting?: string }[];
  ready?: string[];
  /** Tasks that a person removed. */
  dropped?: { task: string; title: string; reason: string }[];
  next: string;
}

export interface Phase {
  current: number;
  total: number;
  name: string;
  status: 'not_started' | 'in_progress' | 'completed' | 'blocked';
}

/** `values` gives what the machine cannot know, such as `project_root`. */
export function statusOf(
  definition: Definition,
  state: State,
  options: {
    cursor?: Cursor | undefined;
    values?: Record<string, string>;
    session?: string | undefined;
  } = {},
): Status {
  const { cursor, session, values = {} } = options;
  const step = stepOf(definition, state.step);
  const status: Status = {
    run: state.run,
    status: state.status,
    ...(state.reason === undefined ? {} : { reason: state.reason }),
    step: step.id,
    stepType: step.type,
    phase: phaseOf(definition, state),
    agent: step.agent ?? null,
    progress: { currentStep: stepIndex(definition, step.id) + 1, totalSteps: definition.steps.length },
    next: '',
  };
  const list = taskListOf(state, step);
  if (step.type === 'loop' && list) {
    const wanted = wantedTasks(list);
    status.progress.totalTasks = wanted.length;
    status.progress.completedTasks = wanted.filter((task) => task.end === 'done').length;
  }
  const dropped = droppedTasks(state);
  if (dropped.length > 0) status.dropped = dropped;
  if (cursor) describe(definition, state, cursor, status, { session, values });
  else if (!ended(state) && step.type === 'loop') listTasks(state, step, status, session);
  addWaiting(definition, state, cursor, status);
  status.next = nextFor(definition, state, status, cursor);
  return status;
}

const droppedTasks = ({ tasks }: State): NonNullable<Status['dropped']> =>
  Object.values(tasks).flatMap((list) =>
    tasksIn(list).flatMap(({ id, title, end, reason = '' }) =>
      end === 'dropped' ? [{ task: id, title, reason }] : [],
    ),
  );

export function phaseOf(definition: Definition, state: State): Phase {
  const blocked =
    state.blocked !== undefined ||
    Object.values(state.cursors).some((cursor) => cursor.waiting?.kind === 'blocked') ||
    state.status === 'failed' ||
    state.status === 'cancelled';
  return {
    current: stepIndex(definition, state.step) + 1,
    total: definition.steps.length,
    name: state.step,
    status: state.status === 'complete' ? 'completed' : blocked ? 'blocked' : 'in_progress',
    // What was adopted counts its phases itself.
    ...state.adopted?.phase,
  };
}

function describe(
  definition: Definition,
  state: State,
  cursor: Cursor,
  status: Status,
  { session, values }: { session: string | undefined; values: Record<string, string> },
): void {
  const step = stepOf(definition, cursor.step);
  const work = workAt(definition, cursor);
  const at = formatHandle(state.run, cursor.path, cursor.visit);
  status.at = at;
  status.agent = work.agent ?? step.agent ?? null;
  if (status.agent !== null) status.delegate = true;
  if (cursor.task !== undefined) {
    const tasks = wantedTasks(taskListOf(state, step));
    const index = tasks.findIndex((task) => task.id === cursor.task);
    const title = tasks[index]?.title ?? cursor.task;
    status.task = { index, id: cursor.task, title, total: tasks.length };
  }
  if (cursor.subStep !== undefined) {
    const subSteps = subStepsOf(definition, step);
    status.subStep = cursor.subStep;
    status.subStepIndex = subSteps.findIndex((sub) => sub.id === cursor.subStep);
    status.totalSubSteps = subSteps.length;
  }
  if (cursor.iteration !== undefined) {
    status.ralphIteration = cursor.iteration;
    status.ralphTotal = step.n ?? 1;
  }
  const feedback = feedbackFor(state, cursor);
  if (feedback !== undefined) status.feedback = feedback;
  const answers = answersFor(state, cursor);
  if (answers.length > 0) status.answers = answers;
  if (cursor.checking) {
    status.checking = { id: cursor.checking.id, deadline: cursor.checking.deadline };
  }
  const failed = cursor.receipts?.filter((receipt) => !receipt.pass && receipt.role !== 'until') ?? [];
  if (failed.length > 0) status.failed_gates = failed;
  if (cursor.unstable) status.unstable_files = cursor.unstable;
  if (cursor.failure !== undefined) status.last_failure = cursor.failure;
  const boundary = cursor.boundary;
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session))) {
    status.contextAction = `/${boundary.action}`;
    status.message = boundaryMessage(state, cursor, at);
    return;
  }
  status.instructions = instructionsFor(definition, state, cursor, values);
}

/** A reviewer's words for this visit, or those of the pivot that led to this step. */
export function feedbackFor(state: State, cursor: Cursor): string | undefined {
  if (cursor.feedback !== undefined) return `**[REVIEW_FEEDBACK]:** "${cursor.feedback}"`;
  const pivot = state.pivots.at(-1);
  if (pivot?.to !== cursor.step) return undefined;
  return `**[${pivot.tag}]:** "${pivot.feedback}"\nWork done before this pivot may have to be reverted.`;
}

function answersFor(state: State, cursor: Cursor): { question: string; answer: string }[] {
  return state.questions.flatMap(({ at, text, answer }) =>
    answer !== undefined && parseHandle(at)?.path === cursor.path ? [{ question: text, answer }] : [],
  );
}

/** The seeds' sentence; from a run's second boundary on, the way that needs no person comes first. */
function boundaryMessage(state: State, cursor: Cursor, at: string): string {
  const boundary = cursor.boundary;
  if (!boundary) return '';
  const command = `/${boundary.action}`;
  const seed = `Please run \`${command}\` first, then call workflow_status again.`;
  const witness = boundary.session === undefined ? undefined : own(state.sessions, boundary.session)?.witness;
  if (witness === 'driver' || witness === 'wrapper') return `${seed} End your turn.`;
  const subagent = `Hand ${at} to a subagent`;
  if (state.boundaryCount > 1) return `${subagent}, or end your turn. ${seed}`;
  return `${seed} ${subagent}, or end your turn; the user types ${command}, then continues.`;
}

/** What the position asks for, with its placeholders filled in; told even while a preferred boundary is open. */
export function instructionsFor(
  definition: Definition,
  state: State,
  cursor: Cursor,
  values: Record<string, string> = {},
  session?: string,
): string {
  if (!instructionsOpen(state, cursor, session)) return '';
  const step = stepOf(definition, cursor.step);
  const text = workAt(definition, cursor).instructions ?? '';
  const expanded = state.adopted
    ? adoptedInstructions(state.adopted)
    : expandAt(definition, state, cursor, text, values);
  if (!awaitsTasks(definition, cursor)) return expanded;
  const how = `Set the tasks of '${loopIdOf(step)}' with workflow_set_tasks.`;
  return expanded === '' ? how : `${expanded.trimEnd()}\n\n${how}`;
}

/** Nobody learns the handle of somebody else's task. */
function listTasks(state: State, step: Step, status: Status, session: string | undefined): void {
  status.held = Object.values(state.cursors).map((cursor) => ({
    ...(session === undefined || cursor.lease?.holder === session
      ? { at: formatHandle(state.run, cursor.path, cursor.visit) }
      : {}),
    task: cursor.task ?? '',
    ...(cursor.lease ? { holder: cursor.lease.holder } : {}),
    ...(cursor.waiting ? { waiting: cursor.waiting.kind } : {}),
  }));
  const free = parallelOf(step) - status.held.length;
  const ready = free > 0 ? readyTasks(state, step).map((task) => task.id) : [];
  status.ready = ready.slice(0, mostListed);
}

function addWaiting(definition: Definition, state: State, cursor: Cursor | undefined, status: Status): void {
  const { exhausted } = state.budget;
  const waiting = cursor?.waiting;
  if (ended(state)) return;
  if (exhausted !== undefined) {
    const { escalated } = state.budget;
    const what = `the ${exhausted} of '${state.step}' are used up`;
    const more = escalated === undefined ? '' : `; escalated: ${escalated}`;
    status.waiting = { for: 'budget', by: 'human', what: what + more };
  } else if (waiting?.kind === 'review') {
    const subject =
      cursor && awaitsTasks(definition, cursor)
        ? `the review of leaving '${cursor.step}' without tasks`
        : 'the review';
    const what = waiting.escalated === undefined ? subject : `${subject}, escalated: ${waiting.escalated}`;
    status.waiting = { for: 'review', by: waiting.by, what };
  } else if (waiting?.kind === 'question') {
    const text = state.questions.find((question) => question.id === waiting.id)?.text ?? '';
    status.waiting = { for: 'question', by: 'human', what: text };
  } else if (waiting?.kind === 'blocked' || state.blocked !== undefined) {
    const reason = waiting?.kind === 'blocked' ? waiting.reason : (state.blocked ?? '');
    status.waiting = { for: 'blocked', by: 'human', what: reason };
  }
}

/** One sentence that names a command which will be accepted. */
function nextFor(definition: Definition, state: State, status: Status, cursor: Cursor | undefined): string {
  if (state.status === 'cancelled') return 'Nothing: the run was cancelled.';
  if (ended(state)) return `Nothing: the run is ${state.status}. A person may rewind it to a step.`;
  if (cursor?.checking) return `Send the same call again: the gates of ${status.at} are running.`;
  switch (status.waiting?.for) {
    case 'review':
      if (cursor && awaitsTasks(definition, cursor))
        return `A person decides whether '${cursor.step}' is left without tasks: approve, or revise to get some.`;
      return status.waiting.by === 'human'
        ? `A person reviews ${status.at}: approve, revise, pivot, escalate or abandon.`
        : `The agent '${status.waiting.by}' reviews ${status.at} and advances with a verdict.`;
    case 'question':
      return 'A person answers the question.';
    case 'budget':
      return 'A person reviews the budget: approve with an amount, pivot, escalate or abandon.';
    case 'blocked':
      return cursor
        ? `A person reviews ${status.at}: revise to try again, pivot or abandon; or rewinds to a step.`
        : `Set more tasks of '${state.step}'; or a person revises to run it again, pivots or abandons.`;
  }
  if (!cursor) {
    const waiting = status.held?.filter((held) => held.waiting).map(({ task }) => task) ?? [];
    if (state.status === 'waiting') return `A person decides what ${waiting.join(', ')} wait for.`;
    const claimable = status.ready?.length ? 'Claim a ready task' : 'Wait for a held task';
    return `${claimable}, or call with the \`at\` of one that you hold.`;
  }
  if (status.contextAction) return `Run ${status.contextAction}, then ask for the status.`;
  if (awaitsTasks(definition, cursor)) return `Set the tasks of '${cursor.step}'.`;
  return `Do what the instructions say, then advance ${status.at}.`;
}
