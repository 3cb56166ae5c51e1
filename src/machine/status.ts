import type { Amount, Baseline, Definition, Receipt, Step } from '../schema/index.ts';
import type { Action } from './action.ts';
import { actions } from './actions.ts';
import { adoptedInstructions } from './adopt.ts';
import { defined } from './batch.ts';
import { instructionsOpen } from './boundary.ts';
import { usedUp } from './budget-use.ts';
import { isFenced } from './fence.ts';
import { formatHandle, parseHandle } from './handle.ts';
import { own } from './own-property.ts';
import { type Cleanup, type Cursor, ended, type RunStatus, type State } from './state.ts';
import {
  awaitsTasks,
  parallelOf,
  readyTasks,
  stepIndex,
  stepOf,
  subStepsOf,
  taskListOf,
  tasksIn,
  titleOf,
  undroppedTasks,
  workAt,
} from './steps.ts';
import { expandAt } from './values.ts';

const mostListed = 20;

/** The position of a run as facts, and the next action. */
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
  /** Questions of this position, with their answers. */
  answers?: { question: string; answer: string }[];
  waiting?: WaitingFor;
  checking?: { id: string; deadline: number };
  /** The engine finds out whether there is work here. */
  preparing?: 'when' | 'tasks' | 'baseline';
  /** What its gates with `baseline` said before the work began. */
  baseline?: Baseline[];
  failed_gates?: Receipt[];
  /** Gates of `until` that did not hold after the previous iteration. */
  red_until?: Receipt[];
  /** Files that the gates kept changing. */
  unstable_files?: string[];
  /** Why the visit before this one failed. */
  last_failure?: string;
  /** With several agents: what is held and what may be claimed. */
  held?: { at?: string; task: string; holder?: string; owner?: string; waiting?: string }[];
  ready?: string[];
  /** Tasks that a person removed. */
  dropped?: { task: string; title: string; reason: string }[];
  /** After the end of a workflow with `finally`. */
  cleanup?: Cleanup;
  action: Action;
}

/**
 * What a run or a position waits for. `leaves`: approval leaves this loop without tasks; `exhausted`: approval accepts
 * this ralph step although its `until` does not hold.
 */
export type WaitingFor =
  | {
      for: 'review';
      by: string;
      leaves?: string;
      exhausted?: string;
      escalated?: string;
      /** The subject whose work it is. */
      author?: string;
      /** The checks that passed were reported with an agent's token. */
      reportedBy?: 'agent';
    }
  | { for: 'question'; by: 'human'; question: string }
  | { for: 'blocked'; by: 'human'; reason: string }
  | { for: 'budget'; by: 'human'; unit: keyof Amount; of?: 'run'; step: string; escalated?: string };

export interface Phase {
  current: number;
  total: number;
  name: string;
  status: 'not_started' | 'in_progress' | 'completed' | 'skipped' | 'blocked';
}

/**
 * The position of a run and its next action. `values` gives what the machine cannot know, such as `project_root`.
 *
 * @example
 * ```ts
 * import { type State, statusOf, type WorkflowTemplate } from 'stepfast';
 *
 * function stepAndInstructions(workflow: WorkflowTemplate, state: State): string {
 *   const { step, instructions = '' } = statusOf(workflow, state, { values: { project_root: process.cwd() } });
 *   return `${step}: ${instructions}`;
 * }
 * ```
 */
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
    action: actions(definition, state, { cursor, session })[0],
  };
  const list = taskListOf(state, step);
  if (step.type === 'loop' && list) {
    const wanted = undroppedTasks(list);
    status.progress.totalTasks = wanted.length;
    status.progress.completedTasks = wanted.filter((task) => task.end === 'done').length;
  }
  const dropped = droppedTasks(state);
  if (dropped.length > 0) status.dropped = dropped;
  if (cursor) describe(definition, state, cursor, status, { session, values });
  else if (!ended(state) && step.type === 'loop') listTasks(state, step, status, session);
  addWaiting(definition, state, cursor, status);
  if (state.cleanup) status.cleanup = state.cleanup;
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
    name: titleOf(stepOf(definition, state.step)),
    status: state.status === 'complete' ? 'completed' : blocked ? 'blocked' : 'in_progress',
    // What was adopted counts its phases itself.
    ...state.adopted?.phase,
  };
}

/** Above it, only the current phase of an adopted run is listed. */
const mostPhases = 200;

/** Every phase with its progress; of an adopted run only the current one has a name. */
export function phasesOf(definition: Definition, state: State): Omit<Phase, 'total'>[] {
  const { current, total, name, status } = phaseOf(definition, state);
  const here = { current, name, status };
  if (total > mostPhases) return [here];
  return Array.from({ length: total }, (_, index) => {
    const step = state.adopted?.phase ? undefined : definition.steps[index];
    if (index + 1 === current) return here;
    return {
      current: index + 1,
      name: step ? titleOf(step) : `Phase ${index + 1}`,
      status: pastStatus(state, step?.id, status === 'completed' || index + 1 < current),
    };
  });
}

function pastStatus(state: State, step: string | undefined, past: boolean): Phase['status'] {
  if (step !== undefined && own(state.skipped, step)) return 'skipped';
  return past ? 'completed' : 'not_started';
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
    const tasks = undroppedTasks(taskListOf(state, step));
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
  const red = failed.length > 0 ? [] : redUntil(state, cursor);
  if (red.length > 0) status.red_until = red;
  if (cursor.baseline) status.baseline = cursor.baseline;
  if (cursor.unstable) status.unstable_files = cursor.unstable;
  if (cursor.failure !== undefined) status.last_failure = cursor.failure;
  if (cursor.preparing) {
    status.preparing = cursor.preparing.kind;
    return;
  }
  const boundary = cursor.boundary;
  if (boundary && (boundary.state !== 'released' || isFenced(boundary, session))) {
    status.contextAction = `/${boundary.action}`;
    status.message = boundaryMessage(state, cursor, at);
    return;
  }
  status.instructions = instructionsFor(definition, state, cursor, values);
}

/** Of this iteration if its gates have run, else of the one before. */
function redUntil({ outputs }: State, { step, iteration, receipts }: Cursor): Receipt[] {
  if (iteration === undefined) return [];
  const last = receipts ?? own(outputs, `${step}.${iteration - 1}`)?.receipts ?? [];
  return last.filter(({ pass, role }) => !pass && role === 'until');
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

/** The instructions with expanded placeholders; empty while a required boundary is open. */
export function instructionsFor(
  definition: Definition,
  state: State,
  cursor: Cursor,
  values: Record<string, string> = {},
  session?: string,
): string {
  if (!instructionsOpen(state, cursor, session)) return '';
  if (state.adopted) return adoptedInstructions(state.adopted);
  const work = workAt(definition, cursor);
  const text = expandAt(definition, state, cursor, work.instructions ?? '', values);
  // A command of the engine is told nothing.
  return work.output === 'json' && work.run === undefined
    ? `${text.trimEnd()}\n\n${formatInstructions(work.schema)}`
    : text;
}

const formatInstructions = (schema: Step['schema']): string =>
  `The output that you advance with must be JSON alone${schema ? ` that fits this schema: ${JSON.stringify(schema)}` : ''}.`;

/** Leaves out the handles of other sessions' tasks. */
function listTasks(state: State, step: Step, status: Status, session: string | undefined): void {
  status.held = Object.values(state.cursors).map((cursor) => ({
    ...(session === undefined || cursor.lease?.holder === session
      ? { at: formatHandle(state.run, cursor.path, cursor.visit) }
      : {}),
    task: cursor.task ?? '',
    ...(cursor.lease ? { holder: cursor.lease.holder } : {}),
    ...(cursor.lease?.owner ? { owner: cursor.lease.owner.subject } : {}),
    ...(cursor.waiting ? { waiting: cursor.waiting.kind } : {}),
  }));
  const free = parallelOf(step) - status.held.length;
  const ready = free > 0 ? readyTasks(state, step).map((task) => task.id) : [];
  status.ready = ready.slice(0, mostListed);
}

function addWaiting(definition: Definition, state: State, cursor: Cursor | undefined, status: Status): void {
  const over = usedUp(state);
  const waiting = cursor?.waiting;
  if (ended(state)) return;
  if (over) {
    const { unit, of, escalated } = over;
    status.waiting = { for: 'budget', by: 'human', unit, step: state.step, ...defined({ of, escalated }) };
  } else if (cursor && waiting?.kind === 'review') {
    const { by, escalated } = waiting;
    const leaves = awaitsTasks(definition, cursor) ? cursor.step : undefined;
    const exhausted = waiting.exhausted ? cursor.step : undefined;
    const author = waiting.author?.subject;
    const reportedBy = cursor?.receipts?.find((receipt) => receipt.reportedBy)?.reportedBy;
    status.waiting = {
      ...{ for: 'review', by },
      ...defined({ leaves, exhausted, escalated, author, reportedBy }),
    };
  } else if (waiting?.kind === 'question') {
    const question = state.questions.find(({ id }) => id === waiting.id)?.text ?? '';
    status.waiting = { for: 'question', by: 'human', question };
  } else if (waiting?.kind === 'blocked' || state.blocked !== undefined) {
    const reason = waiting?.kind === 'blocked' ? waiting.reason : (state.blocked ?? '');
    status.waiting = { for: 'blocked', by: 'human', reason };
  }
}
