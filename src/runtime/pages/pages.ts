/** What pages show of runs, as JSON. The dashboard sees these types and nothing else. Times are milliseconds. */
import type { ContextAction, NoteKind, PrincipalKind, TaskEnd } from '../../machine/index.ts';
import type { DecisionKind } from '../../messages/index.ts';
import type { Need } from '../summary/find-needs.ts';
import type { RunSummary, Tone } from '../summary/summarize-run.ts';
import type { Graph } from '../workflow/graph.ts';

/** What only a person can do, in words. */
export interface NeedPage extends Need {
  /** One sentence without a full stop: `Plan waits for your review`. */
  say: string;
  /** What the person does about it: `Review`. */
  verb: string;
  /** The same in a terminal. */
  command: string;
}

/** A run in a list: some hundred bytes. */
export interface Row extends Omit<RunSummary, 'needs'> {
  /** The one that has waited longest. */
  need?: NeedPage;
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
  /** `isSignedIn`: to a team server, not with a link of this machine. */
  me: { name: string; kind: PrincipalKind; mayDecide: boolean; isSignedIn?: true };
  counts: Record<Tone, number>;
  /** Runs that need a person, the longest wait first; at most 100. */
  needs: Row[];
}

export interface RunPage {
  row: Row;
  needs: NeedPage[];
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
  questions: QuestionPage[];
  /** What people decided; `did` is `what` in the past: "approved". */
  decisions: { now: number; by: string; what: DecisionKind; did: string; path?: string; text?: string }[];
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

export interface QuestionPage {
  id: string;
  path: string;
  text: string;
  askedAt: number;
  answer?: string;
  by?: string;
  answeredAt?: number;
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
  description?: string;
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
  /** Whose work it is, where a server proves it. */
  author?: string;
  tree?: string;
  /** The pages of its gates, by id. */
  check?: string;
  /** Steps to which a rejection may go. */
  pivots: string[];
  /** The same decisions in a terminal. */
  commands: string[];
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
  /** When it waited for a person; `to` is absent while it does. */
  waits: { from: number; to?: number; kind: 'review' | 'question' | 'decision' | 'context' }[];
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
  /** Its position is open and has to be fixed. */
  isRed?: true;
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
  /** A server got it from an agent's token, and cannot know that the gate ran. */
  reportedBy?: 'agent';
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
  /** The `after` or `before` of the next page; absent at the end. */
  next?: number;
}

export interface JournalEntry {
  seq: number;
  now: number;
  by?: string;
  session?: string;
  events: { type: string; text: string; path?: string }[];
}

/** The files of a run as they are now. A server without them knows nothing: `positions` is absent. */
export interface FilesPage {
  positions?: PositionFiles[];
}

/** Of an open position whose gates were run, or that waits for a review. */
export interface PositionFiles {
  at: string;
  /** The gates that were run last, as in `CheckPage`. */
  check?: string;
  /** Whether the files are still those that the gates saw, or that the review began with. */
  validity: 'valid' | 'stale' | 'unknown';
  /** The hash of the files now. */
  tree?: string;
  /** Files that were written since; at most 100. */
  written: string[];
  /** What differs from the commit at which the run began. */
  change?: ChangePage;
}

export interface ChangePage {
  commit: string;
  files: number;
  added: number;
  removed: number;
  /** The first 200. A binary file has no lines. */
  largest: { path: string; added?: number; removed?: number; isNew?: boolean }[];
}

export interface WorkflowRow {
  name: string;
  description: string;
  type: string;
  /** Their titles. */
  steps: string[];
  /** Where its file is. A server without files does not know it. */
  from?: 'project' | 'user' | 'bundled';
  /** Why it cannot be started. */
  problem?: string;
  /** Whether its commands may run on this machine; absent where there is none. */
  isTrusted?: boolean;
}

/** What can be started here. */
export interface Workflows {
  workflows: WorkflowRow[];
}

export interface WorkflowPage {
  graph: Graph;
  /** Whether its commands may run on this machine; absent where there is none. */
  isTrusted?: boolean;
}

export interface DryRunRequest {
  /** How many tasks each loop gets. */
  tasks: number;
  /** With failures at random, the same ones for the same seed. Without it every step succeeds. */
  seed?: number | undefined;
}

/** A run that is made up, until its end. */
export interface DryRunPage {
  status: RunSummary['status'];
  moves: DryMove[];
}

export interface DryMove {
  by: 'agent' | 'person' | 'gates' | 'host' | 'engine';
  /** What happened, in sentences. */
  events: JournalEntry['events'];
  /** Of gates: whether all passed. */
  pass?: boolean;
  /** Of a call that was refused. */
  refused?: { code: string; message: string };
  /** Where the run is after it. */
  at: { step: string; task?: string; subStep?: string; round?: number; title: string };
  /** What the agent is told. */
  told?: string;
  /** What people are notified of. */
  notifies: string[];
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

/** All that `stepfast report --format html` shows. */
export interface ReportFile {
  project: string;
  /** When it was made. */
  now: number;
  page: RunPage;
  journal: JournalEntry[];
  briefing: BriefingPage;
  files: FilesPage;
  workflow: WorkflowPage;
  /** Logs of gates; without one there is the tail in `page`. */
  logs: { check: string; gate: number; log: LogPage }[];
}
