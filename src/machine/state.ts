import type {
  Adopted,
  Amount,
  Baseline,
  BoundaryPolicy,
  ContextAction,
  DriverProcess,
  HoldReason,
  Lease,
  NoteKind,
  Owner,
  Proof,
  Receipt,
  RequestedGate,
  ResetBy,
  Scalar,
  SessionFacts,
  Task,
  Text,
  Told,
} from '../schema/index.ts';
import type { Position } from './handle.ts';

export type RunStatus = 'running' | 'waiting' | 'complete' | 'failed' | 'cancelled';

/** The whole state of a run, as plain JSON. Times are milliseconds since the epoch. */
export interface State {
  version: 1;
  run: string;
  workflow: string;
  /** The hash of the pinned definition, if the caller knew it. */
  hash?: string;
  status: RunStatus;
  /** Why the run ended as it did. */
  reason?: string;
  createdAt: number;
  updatedAt: number;
  summary?: string;
  inputs: Record<string, Scalar>;
  boundaries: BoundaryPolicy;
  /** The main step; exactly one. */
  step: string;
  /** How many steps were entered, and from which step this one was. Triggers of critical artifacts use it. */
  entered?: {
    count: number;
    from?: string;
    /** The last step that was entered, while another one is only prepared. */
    step?: string;
  };
  /** The context action of the transition that led here, until a position takes it. */
  arrival?: ContextAction;
  /** Set by a pivot until a position takes it: the arrival wins over the step's own context. */
  arrivalForced?: true;
  cursors: Record<string, Cursor>;
  /** The last visit given to each path; never goes back. */
  visits: Record<string, number>;
  tasks: Record<string, TaskList>;
  outputs: Record<string, Output>;
  /** Steps and sub-steps whose `when` did not hold, by the key that their output would have; absent before the first. */
  skipped?: Record<string, Skipped>;
  /** The last accepted call of an agent, to detect repeats without a handle. */
  last?: { now: number; session?: string } & (
    | { kind: 'advance'; key: string }
    | { kind: 'fail'; reason: string }
  );
  /** Why the run waits although no position does: every task of the loop failed. */
  blocked?: string;
  /** Of the current step. */
  budget: Spent;
  /** Of the run, where the workflow has a budget. */
  total?: Spent;
  /** The cumulative figures that each session has told. */
  told?: Record<string, Told>;
  pivots: Pivot[];
  questions: Question[];
  notes: Note[];
  noteCount: number;
  variables: Record<string, string>;
  artifacts: Record<string, string>;
  artefacts: string[];
  reading: Record<string, { hash: string; now: number; session?: string }>;
  todo?: Text;
  sessions: Record<string, Session>;
  /** By step, and task: all who did work that is reviewed, in whatever round or visit. */
  authors?: Record<string, Owner[]>;
  boundaryCount: number;
  /** The last briefing that was delivered to each session. */
  briefings: Record<string, { id: string; proven: Proof; now: number }>;
  adopted?: Adopted;
  /** Critical artifacts that were shown to sessions; absent before the first one. */
  loads?: ArtifactLoads;
  /** After the end of a workflow with `finally`. */
  cleanup?: Cleanup;
  /** The last program that took the run over to bring it to its end. */
  driver?: Driver;
  /** The branch that collects the work of the run, where a driver has said so. */
  branch?: string;
  /** A driver begins no new turn. */
  paused?: { by: string; since: number };
  /** Tasks of the current loop whose work is done and not merged yet. */
  merges?: Record<string, Merge>;
  /** Why nothing can be merged until a person has changed something. */
  held?: { why: HoldReason; reason: string; since: number; head?: string };
}

export interface Driver {
  epoch: number;
  process: DriverProcess;
  expires: number;
  owner?: Owner;
  released?: true;
}

/** A task in the merge queue. `returned`: an agent must fix it; `parked`: a person decides. */
export interface Merge {
  state: 'queued' | 'merging' | 'returned' | 'parked';
  /** The handle of its last sub-step. */
  at: string;
  failures: number;
  since: number;
  base?: string;
  commit?: string;
  /** Of its last position, for the next visit. */
  baseline?: { path: string; said: Baseline[] };
  /** Why the last merge failed. */
  reason?: string;
  receipts?: Receipt[];
}

export interface Cleanup {
  state: 'pending' | 'started';
  /** When the run ended: tells one end from the next. */
  endedAt: number;
  runner?: { pid: number; host: string };
  /** In the order in which they ended. */
  done?: { step: string; pass: boolean; exit?: number; tail?: string }[];
}

export interface ArtifactLoads {
  count: number;
  now: number;
  /** By session and artifact; a reset of the session removes its entry. */
  bySession: Record<string, Record<string, ArtifactLoad>>;
}

export interface ArtifactLoad {
  /** Of the text that was shown; absent if only the name was shown. */
  hash?: string;
  trigger: string;
  now: number;
  /** How many steps had been entered. */
  entries: number;
}

/** An open position. */
export interface Cursor extends Position {
  path: string;
  visit: number;
  enteredAt: number;
  /** The tree at entry, if the caller knew it. */
  tree?: string;
  /** Accepted failures of this position; a fresh entry starts at 0. */
  failures: number;
  /** Red gate runs in this visit. */
  reds: number;
  /** Gate runs asked for in this visit: numbers their ids. */
  checks: number;
  /** The handle whose failure led to this visit, so that repeating it replays. */
  failedAt?: string;
  /** Why the visit before this one failed. */
  failure?: string;
  preparing?: Preparing;
  /** What its gates with `baseline` said before the work began; a gate that could not be run is left out. */
  baseline?: Baseline[];
  checking?: Checking;
  waiting?: Waiting;
  /** Kept while a review waits. */
  output?: Text;
  /** Of the last gate run. */
  receipts?: Receipt[];
  /** The last check at the end of a turn in this visit. */
  checked?: { pass: boolean; tree?: string };
  /** Files that the last gate run kept changing. */
  unstable?: string[];
  feedback?: string;
  boundary?: Boundary;
  lease?: Lease;
  /** How often a host's stop was held in this visit. */
  stops: number;
  /** Of a claimed task: a number that no other claimed task has, below `parallel`. */
  slot?: number;
}

/** What must be known before work begins here. */
export interface Preparing {
  kind: 'when' | 'tasks' | 'baseline';
  /** Whose worktree has the files that are prepared. */
  session?: string;
  /** The task was claimed, and no sub-step of it was entered yet. */
  claimed?: true;
}

export interface Skipped {
  now: number;
  /** What its `when` looked at. */
  values: Record<string, string>;
}

export interface Checking {
  id: string;
  output: Text;
  gates: RequestedGate[];
  deadline: number;
  runner?: { pid: number; host: string };
  tree?: string;
  /** The session in whose worktree the gates run. */
  session?: string;
  /** The gates run again for this approval. */
  approval?: { by: string; feedback?: string; principal?: Owner; ownWork?: true };
  /** Who did the work. */
  author?: Owner;
  /** Who runs the gates. */
  owner?: Owner;
  /** A check at the end of a turn: no attempt, and what follows if it passes. */
  onPass?: 'advance' | 'stay';
  /** Of such a check: red counts as an attempt. */
  attempt?: true;
}

export type Waiting =
  | {
      kind: 'review';
      by: string;
      since: number;
      tree?: string;
      session?: string;
      /** Who did the work. */
      author?: Owner;
      escalated?: string;
      /** No iteration is left, and `until` does not hold. */
      exhausted?: true;
    }
  | { kind: 'question'; id: string; since: number }
  | { kind: 'blocked'; reason: string; since: number };

export interface Boundary {
  action: ContextAction;
  state: 'pending' | 'requested' | 'released';
  /** The policy at the time of the request: `require` without a witness becomes `prefer`. */
  policy?: BoundaryPolicy;
  session?: string;
  how?: 'reset' | 'skipped' | 'proceeded';
  by?: ResetBy;
}

export interface TaskList {
  order: string[];
  byId: Record<string, Task>;
  /** A server got what was read from a file from an agent's token. */
  reportedBy?: 'agent';
}

export interface Output {
  text: Text;
  at: string;
  now: number;
  receipts: Receipt[];
  tree?: string;
  reviewed?: string;
  /** The reviewer is the principal that did the work. */
  ownWork?: true;
}

export interface Spent {
  turns: number;
  tokens: number;
  activeMs: number;
  /** In US dollars. */
  cost?: number;
  lastAt?: number;
  /** Granted on top of what the workflow allows. */
  extra: Amount;
  exhausted?: keyof Amount;
  /** What was said when the budget review was handed on. */
  escalated?: string;
}

export interface Pivot {
  from: string;
  to: string;
  tag: string;
  feedback: string;
  /** What the target step had said before. */
  plan?: Text;
  now: number;
}

export interface Question {
  id: string;
  at: string;
  text: string;
  answer?: string;
}

export interface Note {
  id: string;
  kind: NoteKind;
  text: string;
  key?: string;
  at?: string;
  now: number;
}

export interface Session extends SessionFacts {
  owner?: Owner;
  startedAt: number;
  endedAt?: number;
  /** When its context was last cleared or begun anew. */
  clearedAt?: number;
  /** When it was last compacted, cleared or begun anew. */
  resetAt?: number;
  /** Main steps that were completed in it. */
  completed: string[];
  resets: number;
}

/** A subagent's name begins with that of the session that started it. */
export const isWithin = (name: string | undefined, session: string): boolean =>
  name !== undefined && (name === session || name.startsWith(`${session}/`));

export const ended = (state: Pick<State, 'status'>): boolean =>
  state.status === 'complete' || state.status === 'failed' || state.status === 'cancelled';

export const opening = (text: Text): string => (typeof text === 'string' ? text : text.opening);

export const sameText = (a: Text, b: Text): boolean =>
  typeof a === 'string' || typeof b === 'string' ? a === b : a.digest === b.digest;
