/** The only place that reaches into the engine's source, and for types only. */
export type {
  Amounts,
  BriefingPage,
  BudgetPage,
  CheckPage,
  Decision,
  GatePage,
  JournalEntry,
  JournalPage,
  LogPage,
  NotePage,
  Overview,
  ReviewPage,
  Row,
  Rows,
  RunPage,
  SessionLane,
  StepPage,
  StepTone,
  TaskPage,
} from '../../src/runtime/pages/pages.ts';
export type { Need } from '../../src/runtime/summary/find-needs.ts';
export type { Tone } from '../../src/runtime/summary/summarize-run.ts';
