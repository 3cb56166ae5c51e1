import { StepfastError } from '../errors.ts';
import type { DueArtifact, Status, TaskEnd } from '../machine/index.ts';
import type { Refused, RuntimeRefusalParams } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';

export type { Refused };

/** Where the run stands; `replayed`: the call had been accepted before; `interrupted`: its gates were, and count for nothing. */
export type AnsweredStatus = Status & { replayed?: true; interrupted?: true };

export interface Answer {
  run?: string;
  reply: AnsweredStatus | Refused;
  /** Where a claimed task is worked on. */
  worktree?: string;
  warning?: string;
  /** The words of an advance or a failure were not taken: the position waits. */
  ignored?: true;
  /** Critical artifacts that the caller's session must be given now. */
  due?: readonly DueArtifact[];
  /** Tasks of a given list that stay as they were: started, ended, or removed by a person. */
  kept?: { id: string; title: string; end?: TaskEnd }[];
  /** A start that went on with a run. */
  restored?: true;
  /** The run as the call left it, where that is known. */
  view?: Loaded | undefined;
}

/** What a refusal is, whoever gave it: a status has no code. */
export const isRefused = (reply: Answer['reply']): reply is Refused => 'code' in reply;

/** Errors that a caller can cause and fix become refusals; all others stay errors. */
const correctable: readonly string[] = [
  'no_run',
  'no_workflow',
  'invalid_workflow',
  'bad_config',
  'not_writable',
  'no_worktree',
  'busy',
  'key_reused',
  'store_failed',
  'store_forked',
  'store_corrupt',
  'store_newer',
  'server_unreachable',
  'state_too_large',
  'server_failed',
  'server_refused',
  'other_server',
] satisfies (keyof RuntimeRefusalParams)[];

export function refusedBy(error: unknown): Refused | undefined {
  if (!(error instanceof StepfastError) || !correctable.includes(error.code)) return undefined;
  const { code, message } = error;
  const params = { message, ...(isOnServer(error) ? { onServer: true } : {}) };
  // The code is one of the list above.
  return { code, params } as Refused;
}

const isOnServer = ({ data }: StepfastError): boolean =>
  typeof data === 'object' && data !== null && 'home' in data && data.home === 'server';
