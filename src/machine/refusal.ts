import type { ContextAction, Event, TaskEnd } from '../schema/index.ts';
import type { Action } from './action.ts';
import type { InputProblem } from './input-problem.ts';
import type { RunStatus } from './state.ts';

/** Every refusal of the machine: its code and the parameters of its message. */
export interface RefusalParams {
  not_started: Record<never, never>;
  run_ended: { run: string; status: RunStatus };
  bad_handle: { given: string };
  wrong_run: { at: string; run: string };
  stale_handle: { at: string; was?: 'advanced' | 'failed' };
  at_required: { open: number; waiting: boolean; handles: string[] };
  claim_required: { step: string };
  /** Without `context`: the boundary was skipped, and the instructions come with the refusal. */
  not_briefed: { at: string; context?: ContextAction };
  boundary_open: { at: string; context: ContextAction; driven?: true };
  checking: { at: string };
  stale_gates: { id: string } | { run: string; status: RunStatus };
  needs_tasks: { step: string };
  unknown_loop: { given: string; loops: string[] };
  bad_tasks: { step: string; problem: TaskProblem };
  task_left_out: { tasks: { id: string; title: string }[]; more: number };
  no_task: { step: string } & (
    | { why: 'not_claimable' }
    | { why: 'none_ready' }
    | { why: 'unknown'; task: string }
    | { why: 'ended'; task: string; end: TaskEnd }
    | { why: 'depends'; task: string; on: string[] }
  );
  task_held:
    | { why: 'other_holder' }
    | { why: 'held'; task: string }
    | { why: 'all_taken'; step: string; held: number; limit: number };
  bad_output:
    | { why: 'not_text' }
    | { why: 'too_long'; bytes: number; limit: number }
    | { why: 'format'; problem: string };
  bad_input: { workflow: string; name: string } & (
    | { why: 'unknown'; inputs: string[] }
    | { why: 'missing' }
    | InputProblem
  );
  bad_note:
    | { why: 'empty'; what: 'note' | 'question' }
    | { why: 'no_reason'; task: string }
    | { why: 'too_long'; what: 'note' | 'todo'; length: number; limit: number }
    | { why: 'no_key'; kind: string }
    | { why: 'bad_key'; key: string };
  notes_full:
    | { why: 'count'; what: 'artifacts' | 'named_artifacts' | 'variables' | 'files_read'; limit: number }
    | { why: 'size'; unit: 'characters' | 'tokens'; limit: number; keys: string[] };
  missing_artifact: { at: string; missing: string[] };
  not_adopted: { run: string };
  unfinished: { source: string; phase: number; phases: number };
  tree_changed: { at: string; why: 'review' | 'read_only' };
  person_only: { what: PersonDecision; at?: string; step?: string };
  engine_only: Record<never, never>;
  own_work: { at: string; by: string };
  /** A session or a task of another principal. */
  not_yours: { what: 'session' | 'task'; owner: string };
  already_waiting: { at: string };
  not_waiting: Record<never, never>;
  bad_verdict:
    | { why: 'budget' }
    | { why: 'no_task_done'; step: string }
    | { why: 'gates_not_passed'; at: string };
  amount_required: { unit: string; of?: 'run'; step: string };
  no_budget: { step: string; units: string[] };
  no_pivot: { from: string; to?: string; steps: string[] };
  no_question: { open: string[] };
  no_boundary: Record<never, never>;
  unknown_step:
    | { why: 'rewind'; given: string; steps: string[] }
    | { why: 'import'; given: string; workflow: string };
  unknown_session: { session?: string };
  driver_held: { pid: number; machine: string; expires: number };
  stale_driver: { epoch: number };
  no_merge: { task: string };
}

/** What is wrong with a list of tasks. */
export type TaskProblem =
  | { is: 'loop_over' }
  | { is: 'locked' }
  | { is: 'too_few'; count: number; limit: number }
  | { is: 'all_ended' }
  | { is: 'nothing_left' }
  | { is: 'too_many'; count: number; limit: number }
  | { is: 'too_many_dependencies'; count: number; limit: number }
  | { is: 'bad_id'; task: string }
  | { is: 'no_title'; task: string }
  | { is: 'duplicate'; task: string }
  | { is: 'unknown_dependency'; task: string; on: string }
  | { is: 'lost_dependency'; task: string; on: string; end: TaskEnd }
  | { is: 'circle'; tasks: string[] };

export type PersonDecision =
  | 'review'
  | 'independent_review'
  | 'abandon'
  | 'budget'
  | 'blocked_loop'
  | 'remove_task'
  | 'answer'
  | 'pass_boundary'
  | 'rewind'
  | 'cancel'
  | 'pause'
  | 'retry_merge';

export type RefusalCode = keyof RefusalParams;

/** Why a command was refused, as data; `messages/` renders it for each reader. */
export type Refusal = { [C in RefusalCode]: RefusalOf<C> }[RefusalCode];

export interface RefusalOf<C extends RefusalCode> {
  code: C;
  params: RefusalParams[C];
  /** What to do instead, unless correcting the call is enough. */
  action?: Action;
  at?: string;
  /** Events that the refused command still leaves in the journal. */
  events?: Event[];
}

export type Decision = Event[] | Refusal;

/**
 * Whether `decide` refused the command.
 *
 * @example
 * ```ts
 * import { type Command, decide, isRefusal, type State, type WorkflowTemplate } from 'stepfast';
 *
 * const refusalCode = (workflow: WorkflowTemplate, state: State, command: Command): string | undefined => {
 *   const decision = decide(workflow, state, command);
 *   return isRefusal(decision) ? decision.code : undefined;
 * };
 * ```
 */
export const isRefusal = (decision: Decision): decision is Refusal => !Array.isArray(decision);

export const stillChecking = (at: string): Refusal =>
  refuse('checking', { at }, { at, action: { do: 'wait', for: 'gates', at } });

export const refuse = <C extends RefusalCode>(
  code: C,
  params: RefusalParams[C],
  more: { at?: string | undefined; action?: Action } = {},
): Refusal => {
  const { at, action } = more;
  // The code decides the parameters, which TypeScript cannot follow through the union.
  return {
    code,
    params,
    ...(action ? { action } : {}),
    ...(at === undefined ? {} : { at }),
  } as unknown as Refusal;
};
