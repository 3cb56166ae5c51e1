import { StepfastError } from '../errors.ts';
import type { DueArtifact, Status, TaskEnd } from '../machine/index.ts';
import { isCorrectable, type Refused } from '../messages/index.ts';
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
  /** The handle of the call, if another call's output completed that position: this one was not kept. */
  beaten?: string;
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

export function refusedBy(error: unknown): Refused | undefined {
  if (!(error instanceof StepfastError) || !isCorrectable(error.code)) return undefined;
  const { code, message } = error;
  const params = { message, ...(isOnServer(error) ? { onServer: true } : {}) };
  // Only such codes are correctable.
  return { code, params } as Refused;
}

const isOnServer = ({ data }: StepfastError): boolean =>
  typeof data === 'object' && data !== null && 'home' in data && data.home === 'server';
