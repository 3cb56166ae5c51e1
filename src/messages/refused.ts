import type { Action, Refusal } from '../machine/index.ts';

/** A `StepfastError` that a caller can cause and fix; `message` is the error's own. */
interface ErrorParams {
  message: string;
  /** The damaged run is on a team server, so no caller has its files. */
  onServer?: true;
}

/** Refusals that the machine does not know: code and parameters. */
export interface RuntimeRefusalParams {
  no_run:
    | { why: 'none_live' | 'none_in_session' }
    | { why: 'unknown'; name: string }
    | { why: 'unknown_handle'; at: string }
    | ErrorParams;
  several_runs: { runs: { run: string; summary?: string }[]; total: number };
  untrusted: { workflow: string; name: string; commands: string[] };
  no_file: { path: string };
  source_complete: { source: string };
  /** `force`: the reader may adopt beside the live run. */
  run_live: { run: string; source: string; force?: true };
  bad_argument: { tool: string; problem: ArgumentProblem };
  no_workflow: ErrorParams;
  invalid_workflow: ErrorParams;
  bad_config: ErrorParams | { todoPath: string };
  not_writable: ErrorParams;
  no_worktree: ErrorParams;
  busy: ErrorParams;
  key_reused: ErrorParams;
  store_failed: ErrorParams;
  store_forked: ErrorParams;
  store_corrupt: ErrorParams & { run?: string };
  store_newer: ErrorParams;
  server_unreachable: ErrorParams;
  state_too_large: ErrorParams;
  server_failed: ErrorParams;
  server_refused: ErrorParams;
  other_server: ErrorParams;
}

/** What is wrong with the arguments of a tool. */
export type ArgumentProblem =
  | { is: 'type'; path: string; expected: string; got: string }
  | { is: 'value'; path: string; given: string; allowed: readonly string[]; nearest?: string }
  | { is: 'unknown'; path: string; nearest: string }
  | { is: 'missing'; path: string; description?: string }
  | { is: 'blank_output'; failed: boolean }
  | { is: 'verdict_and_failed' | 'verdict_without_at' }
  | { is: 'input_not_scalar'; name: string }
  | { is: 'unknown_artifact'; workflow: string; given: string; known: string[] };

export type RuntimeRefusal = {
  [C in keyof RuntimeRefusalParams]: {
    code: C;
    params: RuntimeRefusalParams[C];
    action?: Action;
    at?: string;
  };
}[keyof RuntimeRefusalParams];

/** A "no" as data, from the machine or from the runtime around it. */
export type Refused = (Refusal | RuntimeRefusal) & {
  /** A refusal for lack of a briefing carries the instructions. */
  instructions?: string;
};

/** A refusal as one reader sees it. */
export interface RefusalText {
  code: string;
  message: string;
  next: string;
  at?: string;
  instructions?: string;
  runs?: string[];
}

/** How one kind of reader performs what a refusal asks for. Each answers a whole sentence. */
export interface Voice {
  next(action: Action): string;
  start(input?: { workflow: string; name: string }): string;
  /** In a session that works on no run, while others may. */
  startOrContinue(): string;
  workflows(): string;
  chooseRun(runs: readonly string[]): string;
  setTasks(step: string): string;
  advance(at: string): string;
  handOver(at: string, agent: string): string;
  resetContext(at: string, context: string): string;
  askPerson(command: string): string;
}
