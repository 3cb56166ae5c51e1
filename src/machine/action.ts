import type { Amount, ContextAction } from '../schema/index.ts';
import type { TaskState } from './task-states.ts';

/** The agent that must do the work of a position. */
export interface Delegate {
  agent: string;
  description?: string;
  /** The only ones that it may use. */
  tools?: string[];
  cannot: string[];
}

/** A red gate of a position. `expect`: its command was expected to fail; `before`: what it said before the work began. */
export interface FailedGate {
  what: string;
  exit?: number;
  expect?: 'fail';
  before?: 'pass' | 'fail';
}

/** What can be done next. Only `actions()` decides it; `messages/` renders it for each reader. */
export type Action =
  | { do: 'work'; at: string; step: string; finish: 'advance' | 'set_tasks'; delegate?: Delegate }
  | { do: 'fix'; at: string; gates: FailedGate[]; changed?: string[] }
  | {
      do: 'reset_context';
      at: string;
      context: ContextAction;
      required: boolean;
      agent?: string;
      /** The request went to another session. */
      elsewhere?: true;
      /** A driver performs it once the turn has ended. */
      driven?: true;
    }
  | Wait
  | Claim
  | { do: 'nothing'; because: 'complete' | 'failed' | 'cancelled'; run: string }
  /** Only in refusals. */
  | { do: 'ask_status' }
  | { do: 'continue'; at: string[] };

export type Wait = {
  do: 'wait';
  at?: string;
} /** `command`: of a run step; `before`: the work has not begun. */ & (
  | { for: 'gates'; command?: string; before?: true }
  /** The engine finds out whether there is work here. */
  | { for: 'preparation' }
  | {
      for: 'review';
      by: 'person' | { agent: string };
      /** Approval leaves this loop without tasks. */
      leaves?: string;
      /** Approval accepts this ralph step although its `until` does not hold. */
      exhausted?: string;
      /** The reader did the work under review. */
      ownWork?: true;
      /** Hooks report which subagent calls, so a subagent counts as another reviewer. */
      witnessed?: true;
      /** A driver opens the session of the reviewer. */
      driven?: true;
    }
  | { for: 'answer' }
  /** `more`: other units that are used up; `pivotTo`: where a pivot would go. */
  | { for: 'budget'; unit: keyof Amount; more?: (keyof Amount)[]; of?: 'run'; pivotTo?: string }
  /** Without `at`: every task of the loop failed. */
  | { for: 'decision'; step: string }
);

export interface Claim {
  do: 'claim';
  run: string;
  step: string;
  ready: string[];
  /** Handles of the reader's own tasks that it can continue. */
  own: string[];
  held: number;
  limit: number;
  /** Tasks that are neither ready nor ended, with what each waits for. */
  open: { task: string; state: TaskState }[];
  /** Tasks that wait for a person, where nothing else can be done. */
  decisions: { task: string; at?: string; kind: 'review' | 'question' | 'blocked' }[];
}
