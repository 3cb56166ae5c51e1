import { StepfastError } from '../errors.ts';
import type { DueArtifact, Status, TaskEnd } from '../machine/index.ts';
import type { Loaded } from '../store/index.ts';

/** A "no" as data, from the machine or from what stands around it. */
export interface Refused {
  code: string;
  message: string;
  next: string;
  at?: string;
  /** A refusal for want of a briefing is the briefing. */
  instructions?: string;
  /** Where several runs could be meant. */
  runs?: string[];
}

/** Where the run stands; `replayed`: the call had been accepted before; `interrupted`: its gates were, and count for nothing. */
export type Told = Status & { replayed?: true; interrupted?: true };

export interface Answer {
  run?: string;
  reply: Told | Refused;
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

/** Errors that an agent or a person can cause and mend, as the refusals that they are. */
const mendable: Record<string, string> = {
  no_run: 'ask for the status without a handle, or start a run',
  no_workflow: 'name a workflow of: stepfast list',
  invalid_workflow: 'mend it; stepfast validate shows every error',
  bad_config: 'mend it',
  not_writable: 'run it where you may write',
  no_worktree: 'mend it, or let one agent do the tasks',
  busy: 'send the same call again',
  key_reused: 'use a new key for each call, and the same key only to repeat the same call',
  store_failed: 'send the same call again, with the same handle',
  store_forked: 'a person decides with: stepfast repair',
  store_corrupt: 'a person mends it with: stepfast repair',
  store_newer: 'update Stepfast',
  server_unreachable: 'send the same call again, with the same handle',
  state_too_large: 'a person cancels it; start another run for what is left',
  server_failed: 'send the same call again, with the same handle; a person looks at the log of the server',
  server_refused: 'a person looks at it: stepfast login',
  other_server: 'a person logs in there: stepfast login',
};

/** No person's own machine has the files of such a run. */
const damagedThere = 'whoever runs the server restores it from a backup';

export function refusedBy(error: unknown): Refused | undefined {
  if (!(error instanceof StepfastError)) return undefined;
  const { code, message } = error;
  const next = Object.hasOwn(mendable, code) ? mendable[code] : undefined;
  if (next === undefined) return undefined;
  return { code, message, next: code === 'store_corrupt' && isOfServer(error) ? damagedThere : next };
}

const isOfServer = ({ data }: StepfastError): boolean =>
  typeof data === 'object' && data !== null && 'home' in data && data.home === 'server';
