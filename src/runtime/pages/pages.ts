/** What pages show of runs, as JSON. The dashboard sees these types and nothing else. Times are milliseconds. */
import type { ContextAction, NoteKind, TaskEnd } from '../../machine/index.ts';
import type { Need } from '../summary/find-needs.ts';
import type { RunSummary, Tone } from '../summary/summarize-run.ts';

/** A run in a list: some hundred bytes. */
export interface Row extends Omit<RunSummary, 'needs'> {
  /** The one that has waited longest. */
  need?: Need;
  /** How many there are. */
  needs: number;
}

export interface RowsRequest {
  tone?: Tone | undefined;
  /** Words that the id, the workflow or the summary must contain. */
  text?: string | undefined;
  offset: number;
  limit: number;
}

/** Newest first. */
export interface Rows {
  /** How many runs match. */
  total: number;
  rows: Row[];
}

export interface Overview {
  project: string;
  me: { name: string; kind: 'agent' | 'person'; mayDecide: boolean };
  counts: Record<Tone, number>;
  /** Runs that need a person, the longest wait first; at most 100. */
  needs: Row[];
}

export interface RunPage {
  row: Row;
  needs: Need[];
  /** Grows with every change. */
  version: number;
  /** What the run was started with. */
  inputs: Record<string, string | number | boolean>;
  branch?: string;
  steps: StepPage[];
  reviews: ReviewPage[];
  sessions: SessionLane[];
  /** The newest first. */
  evidence: CheckPage[];
  notes: NotePage[];
  questions: { id: string; path: string; text: string; answer?: string; by?: string }[];
  decisions: { now: number; by: string; what: string; path?: string; text?: string }[];
  spent: SpendingPage;
  budgets: BudgetPage[];
  /** SpendingPage over time, in the order of time; each point is the sum until then. */
  spending: ({ now: number } & SpendingPage)[];
}

export interface SpendingPage {
  turns: number;
  tokens: number;
  activeMs: number;
  /** In US dollars; absent if no session has reported it. */
  cost?: number;
}

/** A limit, and what was used of it. */
export interface BudgetPage {
  of: 'run' | 'step';
  unit: 'turns' | 'tokens' | 'minutes' | 'cost';
  used: number;
  limit: number;
}

/** `open`: work is under way; `ahead`: not reached. */
export type StepTone = 'ahead' | 'open' | 'person' | 'red' | 'done' | 'failed' | 'skipped' | 'dropped';

export interface StepPage {
  id: string;
  title: string;
  type: 'action' | 'run' | 'loop' | 'ralph';
  tone: StepTone;
  /** The context action on the way here. */
  context?: ContextAction;
  instructions?: string;
  /** What is checked at its end. */
  gates: string[];
  review?: string;
  /** The beginning of what was said at its end. */
  output?: string;
  /** What proves it: `proven`, `unverified`, … as in the report. */
  evidence: string;
  /** Of a ralph step. */
  rounds?: number;
  tasks?: TaskPage[];
}

export interface TaskPage {
  id: string;
  title: string;
  tone: StepTone;
  dependsOn: string[];
  end?: TaskEnd;
  /** Who works on it. */
  holder?: string;
  /** The sub-step that is open. */
  at?: string;
  merge?: 'queued' | 'merging' | 'returned' | 'parked';
  subSteps: { id: string; title: string; tone: StepTone }[];
}

/** A review that waits for a person. */
export interface ReviewPage {
  at: string;
  path: string;
  title: string;
  output: string;
  since: number;
  tree?: string;
  /** The pages of its gates, by id. */
  check?: string;
  /** Steps to which a rejection may go. */
  pivots: string[];
}

/** One session of an agent over time. */
export interface SessionLane {
  id: string;
  host?: string;
  from: number;
  /** Absent while it is open. */
  to?: number;
  /** Stretches of one context: a clear or a compaction begins the next one. */
  stretches: { from: number; to: number; opened: 'start' | 'clear' | 'compact' | 'new' }[];
  /** What it worked on. */
  work: { from: number; to: number; path: string; title: string }[];
  marks: { now: number; kind: 'green' | 'red' | 'person' | 'note' | 'boundary'; text: string }[];
}

/** Gates that were run together. */
export interface CheckPage {
  id: string;
  path: string;
  title: string;
  now: number;
  pass: boolean;
  /** Absent while it runs. */
  tree?: string;
  state: 'running' | 'finished' | 'interrupted';
  gates: GatePage[];
}

export interface GatePage {
  what: string;
  role: 'gate' | 'until' | 'rerun' | 'run' | 'baseline';
  state: 'waiting' | 'running' | 'pass' | 'fail' | 'skipped';
  exit?: number;
  ms?: number;
  reused?: boolean;
  before?: 'pass' | 'fail';
  /** The end of what it printed. */
  tail?: string;
}

export interface NotePage {
  id: string;
  kind: NoteKind;
  text: string;
  key?: string;
  now: number;
}

/** The log of a gate: a range of its bytes as text. */
export interface LogPage {
  text: string;
  from: number;
  /** The offset to go on at. */
  to: number;
  /** All bytes that are stored. */
  size: number;
  /** More may come. */
  isLive: boolean;
}

export interface JournalPage {
  entries: JournalEntry[];
  /** The `after` of the next page; absent at the end. */
  next?: number;
}

export interface JournalEntry {
  seq: number;
  now: number;
  by?: string;
  session?: string;
  events: { type: string; text: string; path?: string }[];
}

/** What the agent is told after a loss of context. */
export interface BriefingPage {
  text: string;
  tokens: number;
  /** Where each part is in the text; `shown` of its `total` items are in it. */
  parts: { title: string; tokens: number; from: number; to: number; shown: number; total: number }[];
}

/** What a person decides, as `command` of `POST /v1/runs/:run/commands`. `at` is that of the need. */
export type Decision = {
  actor: { kind: 'person' };
} /** `amount`: what is added to a budget that was used up. */ & (
  | { type: 'review'; verdict: 'approve'; at?: string; feedback?: string; amount?: Amounts }
  /** Sends it back. Also unblocks what is blocked. */
  | { type: 'review'; verdict: 'revise'; at?: string; feedback: string }
  /** Goes back to a step of `pivots`, with a cleared context. */
  | { type: 'review'; verdict: 'pivot'; at?: string; feedback: string; to?: string; amount?: Amounts }
  /** Ends the run as failed. */
  | { type: 'review'; verdict: 'abandon'; at?: string; feedback?: string }
  | { type: 'answer'; text: string; question?: string }
  /** Goes on without the fresh context that was asked for. */
  | { type: 'proceed'; at?: string }
  | { type: 'rewind'; to: string }
  | { type: 'cancel'; reason?: string }
  | { type: 'pause' }
  | { type: 'unpause' }
  | { type: 'retryMerge'; task: string }
  | { type: 'dropTask'; task: string; reason: string }
);

export type Amounts = Partial<Record<BudgetPage['unit'], number>>;
