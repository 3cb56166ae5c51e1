import type { ContextAction, GateKind, Receipt, RunStatus, Scalar, TaskEnd } from '../../machine/index.ts';
import type { DecisionKind } from '../../messages/index.ts';
import type { BoundaryPolicy, ResetBy, Saw } from '../../schema/index.ts';

/**
 * `proven`: a gate passed. `unproven`: a ralph step ended although its `until` did not hold. `unverified`: an agent
 * reported it, and no gate checked it.
 */
export type EvidenceState =
  | 'proven'
  | 'unproven'
  | 'unverified'
  | 'failed'
  | 'skipped'
  | 'dropped'
  | 'open'
  | 'not_reached';

/** What is known of a run, as JSON without secrets. A figure that is not known is absent. Times are ISO 8601. */
export interface Report {
  run: string;
  workflow: string;
  hash: string;
  summary?: string | undefined;
  inputs: Record<string, Scalar>;
  status: RunStatus;
  /** Why it ended as it did, or what it waits for. */
  reason?: string | undefined;
  started: string;
  ended?: string | undefined;
  wall_ms: number;
  /** The branch that has the work, where a driver did it. */
  branch?: string | undefined;
  /** The tree of the last green gate run. */
  tree?: string | undefined;
  spent: SpentReport;
  steps: StepReport[];
  /** An agent reported completion, and gates were red. */
  false_done: FalseDone[];
  failures: FailureReport[];
  /** Visits after a failure, a rejection or a lost lease. */
  retries: number;
  boundaries: BoundaryReport[];
  decisions: DecisionReport[];
  questions: QuestionReport[];
  parked: ParkedTask[];
}

export interface SpentReport {
  turns?: number;
  tokens?: number;
  /** In US dollars. */
  cost?: number;
  active_ms?: number;
}

export interface StepReport {
  id: string;
  title: string;
  evidence: EvidenceState;
  /** Of the last proven position. */
  tree?: string | undefined;
  /** What the `when` of a skipped step looked at. */
  because?: Record<string, string> | undefined;
  positions: PositionReport[];
  tasks?: TaskReport[] | undefined;
}

export interface TaskReport {
  id: string;
  title: string;
  evidence: EvidenceState;
  end?: TaskEnd | undefined;
  /** The merge commit on the branch of the run. */
  commit?: string | undefined;
  /** Why a person dropped it. */
  reason?: string | undefined;
  tree?: string | undefined;
  positions: PositionReport[];
}

/** A completed or skipped position. */
export interface PositionReport {
  path: string;
  title: string;
  evidence: EvidenceState;
  now: string;
  /** The beginning of what the agent reported, or of what the command printed. */
  output?: string | undefined;
  /** The person or agent that approved it. */
  reviewed?: string | undefined;
  /** It is the principal that did the work. */
  ownWork?: true | undefined;
  tree?: string | undefined;
  gates: GateReport[];
}

export interface GateReport extends Pick<Receipt, 'what' | 'role' | 'pass'> {
  kind: GateKind;
  expect?: 'fail' | undefined;
  exit?: number | undefined;
  ms?: number | undefined;
  reused?: boolean | undefined;
  /** What the gate said before the work. */
  before?: 'pass' | 'fail' | undefined;
  /** A server got it from an agent's token, and cannot know that the gate ran. */
  reportedBy?: 'agent' | undefined;
}

export interface FalseDone {
  path: string;
  now: string;
  said: string;
  /** The gates that were red. */
  red: string[];
}

export interface FailureReport {
  path?: string | undefined;
  now: string;
  what: 'failed' | 'blocked' | 'interrupted' | 'cleanup' | 'not merged';
  reason: string;
}

export interface BoundaryReport {
  path: string;
  action?: ContextAction | undefined;
  policy: BoundaryPolicy;
  /** Required, but nothing could observe it. */
  downgraded?: true | undefined;
  performed?: Saw | undefined;
  observed_by?: ResetBy | undefined;
  released?: 'reset' | 'skipped' | 'proceeded' | undefined;
}

/** What a person decided. */
export interface DecisionReport {
  now: string;
  by: string;
  what: DecisionKind;
  path?: string | undefined;
  text?: string | undefined;
}

export interface QuestionReport {
  id: string;
  path: string;
  text: string;
  answer?: string | undefined;
  by?: string | undefined;
}

/** A task that the merge queue gave up on; its branch is kept. */
export interface ParkedTask {
  task: string;
  branch: string;
  reason: string;
}
