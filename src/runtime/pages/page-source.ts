import type {
  BriefingPage,
  DryRunPage,
  DryRunRequest,
  FilesPage,
  JournalPage,
  LogPage,
  Row,
  RowsRequest,
  RunPage,
  WorkflowPage,
  Workflows,
} from './pages.ts';
import type { PlainRow } from './rows.ts';

/** The runs of one project as a list. */
export interface RowSource<R = PlainRow> {
  counts(): Promise<Record<Row['tone'], number>>;
  rows(request: RowsRequest): Promise<{ total: number; rows: R[] }>;
  /** Runs that need a person, the longest wait first. */
  needs(limit: number): Promise<R[]>;
  /** Tells of every row that is new or has changed, and of runs that are gone. Returns a function that ends it. */
  subscribe(listener: (change: RowChange<R>) => void): () => void;
}

export type RowChange<R = Row> = { row: R } | { gone: string };

export interface JournalRequest {
  /** Entries after this one, the oldest first. */
  after?: number | undefined;
  /** Entries before this one, the newest first. Without either: from the newest. */
  before?: number | undefined;
  limit: number;
}

export interface LogRequest {
  /** The id of a gate run, and the index of the gate in it. */
  check: string;
  gate: number;
  from: number;
}

/** What the pages of a project are made of. undefined: there is no such run. */
export interface PageSource extends RowSource<Row> {
  page(run: string): Promise<RunPage | undefined>;
  journal(run: string, request: JournalRequest): Promise<JournalPage | undefined>;
  briefing(run: string): Promise<BriefingPage | undefined>;
  log(run: string, request: LogRequest): Promise<LogPage | undefined>;
  files(run: string): Promise<FilesPage | undefined>;
  workflows(): Promise<Workflows>;
  workflow(of: WorkflowName): Promise<WorkflowPage | undefined>;
  dryRun(of: WorkflowName, request: DryRunRequest): Promise<DryRunPage | undefined>;
}

/** A workflow that can be started here, or that of a run. */
export type WorkflowName = { name: string } | { run: string };
