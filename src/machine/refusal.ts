import type { Event } from '../schema/index.ts';

export type RefusalCode =
  | 'not_started'
  | 'run_ended'
  | 'bad_handle'
  | 'wrong_run'
  | 'stale_handle'
  | 'at_required'
  | 'claim_required'
  | 'not_briefed'
  | 'boundary_open'
  | 'checking'
  | 'stale_gates'
  | 'needs_tasks'
  | 'unknown_loop'
  | 'bad_tasks'
  | 'task_left_out'
  | 'no_task'
  | 'task_held'
  | 'bad_output'
  | 'bad_input'
  | 'bad_note'
  | 'notes_full'
  | 'missing_artifact'
  | 'not_adopted'
  | 'unfinished'
  | 'tree_changed'
  | 'person_only'
  | 'engine_only'
  | 'own_work'
  | 'already_waiting'
  | 'not_waiting'
  | 'bad_verdict'
  | 'amount_required'
  | 'no_pivot'
  | 'no_question'
  | 'no_boundary'
  | 'unknown_step'
  | 'unknown_session';

/** A "no" as data: what is wrong, what to do next, and where the run stands. */
export interface Refusal {
  code: RefusalCode;
  message: string;
  next: string;
  at?: string;
  /** What the refusal itself leaves in the journal. */
  events?: Event[];
}

export type Decision = Event[] | Refusal;

export const isRefusal = (decision: Decision): decision is Refusal => !Array.isArray(decision);

export const stillChecking = (at: string): Refusal =>
  refuse('checking', `the gates of ${at} are running`, 'wait, then send the same call again', at);

export const refuse = (code: RefusalCode, message: string, next: string, at?: string): Refusal => ({
  code,
  message,
  next,
  ...(at === undefined ? {} : { at }),
});
