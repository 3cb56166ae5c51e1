import type { BoundaryPolicy, ContextAction, Scalar } from './definition.ts';
import type { Place } from './handle.ts';
import type {
  Adopted,
  Amount,
  Checking,
  Compaction,
  Lease,
  NoteKind,
  Proof,
  Receipt,
  RequestedGate,
  ResetBy,
  Saw,
  SessionFacts,
  Task,
  TaskEnd,
  Text,
} from './state.ts';
import type { WorkflowState } from './workflow-state.ts';

export type Verdict = 'approve' | 'revise' | 'pivot' | 'escalate' | 'abandon';

/** Everything that can happen to a run. `at` is the handle of the position it happened to. */
export type Event = { now: number } & (
  | {
      type: 'run.started';
      run: string;
      workflow: string;
      hash?: string;
      summary?: string;
      inputs: Record<string, Scalar>;
      boundaries: BoundaryPolicy;
    }
  | { type: 'run.adopted'; adopted: Adopted }
  | { type: 'run.imported'; state: WorkflowState }
  | { type: 'run.completed' }
  | { type: 'run.failed'; reason: string }
  | { type: 'run.cancelled'; reason: string }
  | { type: 'run.blocked'; reason: string }
  | { type: 'run.rewound'; to: string }
  | { type: 'run.pivoted'; from: string; to: string; tag: string; feedback: string; plan?: Text }
  | { type: 'step.entered'; step: string; context?: ContextAction; forced?: true }
  | { type: 'step.completed'; step: string; session?: string }
  | ({
      type: 'position.entered';
      visit: number;
      why: 'next' | 'retry' | 'revise' | 'claim' | 'reclaim';
      context?: ContextAction;
      failures: number;
      failedAt?: string;
      failure?: string;
      receipts?: Receipt[];
      feedback?: string;
      output?: Text;
      lease?: Lease;
      tree?: string;
    } & Place)
  | {
      type: 'position.completed';
      at: string;
      output: Text;
      receipts: Receipt[];
      tree?: string;
      reviewed?: string;
      session?: string;
    }
  | { type: 'position.failed'; at: string; reason: string; session?: string }
  | { type: 'position.blocked'; at: string; reason: string }
  | { type: 'tasks.set'; loop: string; tasks: Task[] }
  | { type: 'task.ended'; loop: string; task: string; end: TaskEnd; at?: string }
  | { type: 'task.dropped'; loop: string; task: string; reason: string; by: string }
  | { type: 'lease.renewed'; at: string; expires: number }
  | {
      type: 'gates.requested';
      at: string;
      id: string;
      output: Text;
      gates: RequestedGate[];
      deadline: number;
      tree?: string;
      session?: string;
      approval?: NonNullable<Checking['approval']>;
    }
  | {
      type: 'gates.started';
      id: string;
      deadline: number;
      runner?: { pid: number; host: string };
      tree?: string;
    }
  | {
      type: 'gates.finished';
      id: string;
      pass: boolean;
      receipts: Receipt[];
      tree?: string;
      unstable?: string[];
    }
  | { type: 'gates.interrupted'; id: string; why: 'deadline' | 'runner' }
  | {
      type: 'review.requested';
      at: string;
      by: string;
      output: Text;
      receipts: Receipt[];
      tree?: string;
      session?: string;
    }
  | { type: 'review.decided'; at?: string; verdict: Verdict; by: string; feedback?: string }
  | { type: 'budget.spent'; step: string; turns: number; tokens: number; activeMs: number }
  | { type: 'budget.exhausted'; what: keyof Amount }
  | { type: 'budget.extended'; amount: Amount; by: string }
  | { type: 'question.asked'; id: string; at: string; text: string }
  | { type: 'question.answered'; id: string; answer: string }
  | { type: 'note.added'; id: string; kind: NoteKind; text: string; key?: string; at?: string }
  | { type: 'todo.replaced'; content: Text }
  | { type: 'file.read'; path: string; hash: string; session?: string }
  | {
      type: 'artifacts.loaded';
      trigger: string;
      artifacts: { id: string; hash?: string }[];
      session: string;
    }
  | { type: 'boundary.requested'; at: string; policy: BoundaryPolicy; session?: string; downgraded?: true }
  | { type: 'boundary.reset'; at: string; by: ResetBy; saw: Saw; session?: string }
  | { type: 'boundary.released'; at: string; how: 'reset' | 'skipped' | 'proceeded' }
  | { type: 'briefing.delivered'; briefing: string; session: string; proven: Proof }
  | ({ type: 'compaction.recorded'; session: string } & Compaction)
  | ({ type: 'session.started'; session: string } & SessionFacts)
  | { type: 'session.ended'; session: string }
  | { type: 'session.reset'; session: string; saw: Saw; by: ResetBy }
  | { type: 'stop.held'; at: string; session: string }
);

export type EventType = Event['type'];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
