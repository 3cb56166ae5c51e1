import type { Action, Refusal } from '../machine/index.ts';
import type { Grant, GrantChanges } from '../schema/index.ts';
import type { CorrectableError } from './error-corrections.ts';
import type { Voice } from './voice.ts';

/** A `StepfastError` that a caller can cause and fix; `message` is the error's own. */
export interface ErrorParams {
  message: string;
  /** The damaged run is on a team server, so no caller has its files. */
  onServer?: true;
}

/** Refusals that the machine does not know: code and parameters. */
export interface RuntimeRefusalParams extends Record<CorrectableError, ErrorParams> {
  no_run:
    | { why: 'none_live' | 'none_on_server' | 'none_in_session' }
    | { why: 'unknown'; name: string }
    | { why: 'unknown_handle'; at: string }
    | ErrorParams;
  several_runs: { runs: { run: string; summary?: string }[]; total: number };
  /** `changes`: since a person trusted the workflow. */
  untrusted: { workflow: string; name: string; grants: Grant[]; changes?: GrantChanges };
  not_published: ErrorParams;
  no_file: { path: string };
  source_complete: { source: string };
  /** `force`: the reader may adopt beside the live run. */
  run_live: { run: string; source: string; force?: true };
  bad_argument: { tool: string; problem: ArgumentProblem };
  bad_config: ErrorParams | { todoPath: string };
  store_corrupt: ErrorParams & { run?: string };
}

/** What is wrong with the arguments of a tool. */
export type ArgumentProblem =
  | { is: 'type'; path: string; expected: string; got: string }
  | { is: 'value'; path: string; given: string; allowed: readonly string[]; nearest?: string }
  | { is: 'unknown'; path: string; nearest: string }
  | { is: 'missing'; path: string; description?: string }
  | { is: 'blank_reason' }
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

/** What is wrong, and how to correct it. */
export type Words = readonly [message: string, next?: string | undefined];
export type Renderers<P, C extends keyof P> = { [K in C]: (params: P[K], voice: Voice) => Words };
