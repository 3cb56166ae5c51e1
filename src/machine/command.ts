import type { BoundaryPolicy, Scalar } from './definition.ts';
import type { Verdict } from './event.ts';
import type {
  Adopted,
  Amount,
  Compaction,
  GateResult,
  NoteKind,
  Proof,
  ResetBy,
  Saw,
  SessionFacts,
  Text,
} from './state.ts';
import type { WorkflowState } from './workflow-state.ts';

/** What a command knows of its caller and its moment; the machine has no clock of its own. */
export interface Caller {
  now: number;
  /** Absent means an agent. */
  actor?: { kind: 'agent' | 'person' | 'engine'; name?: string };
  session?: string;
  /** The tree's hash at this moment, where it is known. */
  tree?: string;
}

export const byAgent = ({ actor }: Caller): boolean => (actor?.kind ?? 'agent') === 'agent';

export interface TaskInput {
  id: string;
  title: string;
  description?: string;
  depends_on?: string[];
}

export type Command = Caller &
  (
    | {
        type: 'start';
        run: string;
        summary?: string;
        inputs?: Record<string, Scalar>;
        boundaries?: BoundaryPolicy;
        /** Of the pinned definition. */
        hash?: string;
        /** Of the session that starts the run. */
        facts?: SessionFacts;
      }
    | { type: 'adopt'; run: string; summary?: string; adopted: Adopted; facts?: SessionFacts }
    | {
        type: 'import';
        run: string;
        state: WorkflowState;
        inputs?: Record<string, Scalar>;
        facts?: SessionFacts;
      }
    | { type: 'status'; at?: string; runnerAlive?: boolean }
    | { type: 'advance'; output: Text; at?: string; runnerAlive?: boolean; missing?: string[] }
    | { type: 'fail'; reason: string; at?: string; runnerAlive?: boolean }
    | { type: 'setTasks'; loop: string; tasks: TaskInput[] }
    | { type: 'dropTask'; task: string; reason: string; loop?: string }
    | { type: 'claim'; holder: string; task?: string }
    | { type: 'gatesStarted'; id: string; deadline?: number; runner?: { pid: number; host: string } }
    | {
        type: 'gatesFinished';
        id: string;
        receipts: GateResult[];
        unstable?: string[];
        runner?: { pid: number; host: string };
      }
    | { type: 'review'; verdict: Verdict; feedback?: string; at?: string; amount?: Amount; to?: string }
    | { type: 'ask'; text: string; at?: string }
    | { type: 'answer'; text: string; question?: string }
    | { type: 'note'; kind: NoteKind; text: string; key?: string; at?: string }
    | { type: 'todo'; content: Text }
    | { type: 'read'; path: string; hash: string }
    | { type: 'loaded'; trigger: string; artifacts: { id: string; hash?: string }[] }
    | { type: 'boundary'; by: ResetBy; saw: Saw; at?: string }
    | { type: 'proceed'; at?: string }
    | {
        type: 'session';
        event:
          | ({ type: 'started' } & SessionFacts)
          | { type: 'ended' }
          | { type: 'seen' }
          | { type: 'held'; at: string }
          | { type: 'delivered'; briefing: string; proven: Proof }
          | ({ type: 'compacted' } & Compaction);
      }
    | { type: 'spend'; turns?: number; tokens?: number; at?: string }
    | { type: 'rewind'; to: string }
    | { type: 'cancel'; reason?: string }
  );

export type CommandType = Command['type'];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
