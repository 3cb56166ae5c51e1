import { StepfastError } from '../errors.ts';
import type { DueArtifact, Status, TaskEnd } from '../machine/index.ts';
import type { Refused, RuntimeRefusalParams } from '../messages/index.ts';
import type { Loaded } from '../store/index.ts';

export type { Refused };

/** The status after a call. `replayed`: the same call was accepted before; `interrupted`: its gates were stopped and do not count. */
export type AnsweredStatus = Status & { replayed?: true; interrupted?: true };

export interface Answer {
  run?: string;
  reply: AnsweredStatus | Refused;
  /** The directory of a claimed task. */
  worktree?: string;
  warning?: string;
  /** The output was not stored, because the position waits. */
  ignored?: true;
  /** Critical artifacts that the caller's session must be shown now. */
  due?: readonly DueArtifact[];
  /** Tasks of the sent list that did not change: started, ended, or removed by a person. */
  kept?: { id: string; title: string; end?: TaskEnd }[];
  /** The start continued an existing run. */
  restored?: true;
  /** The run after the call, if it is known. */
  view?: Loaded | undefined;
}

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
  // `correctable` holds the code.
  return { code, params } as Refused;
}

const isOnServer = ({ data }: StepfastError): boolean =>
  typeof data === 'object' && data !== null && 'home' in data && data.home === 'server';
