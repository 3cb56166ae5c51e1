import { commandFor } from './agent-shell.ts';
import { listed } from './lists.ts';

/** What a run does at this moment. */
export type Activity =
  | { is: 'ended'; status: string; reason?: string | undefined }
  | { is: 'waiting'; kind: NeedKind; title: string }
  | { is: 'checking' | 'fixing'; title: string; gates: readonly string[] }
  | { is: 'reviewed'; title: string; by: string }
  | { is: 'working' | 'preparing' | 'merging' | 'idle'; title: string }
  | { is: 'tasks'; title: string; count: number };

export type NeedKind =
  | 'review'
  | 'question'
  | 'decision'
  | 'budget'
  | 'merge'
  | 'queue'
  | 'context'
  | 'pause';

/** One sentence without a full stop, for a list of runs. */
export function nowText(activity: Activity): string {
  switch (activity.is) {
    case 'ended':
      return activity.reason === undefined || activity.reason === activity.status
        ? activity.status
        : `${activity.status}: ${activity.reason}`;
    case 'waiting':
      return needText(activity.kind, activity.title);
    case 'checking':
      return `${activity.title}: running ${gates(activity.gates)}`;
    case 'fixing':
      return `${activity.title}: fixing ${gates(activity.gates)}`;
    case 'reviewed':
      return `${activity.title} is reviewed by ${activity.by}`;
    case 'working':
      return activity.title;
    case 'preparing':
      return `${activity.title} is being prepared`;
    case 'merging':
      return `${activity.title} is being merged`;
    case 'tasks':
      return `${activity.title}: ${activity.count} tasks at once`;
    case 'idle':
      return `${activity.title} has no agent`;
  }
}

export const needText = (kind: NeedKind, title: string): string => `${title} ${waits[kind]}`;

const waits: Record<NeedKind, string> = {
  review: 'waits for your review',
  question: 'waits for your answer',
  decision: 'is blocked',
  budget: 'has used up its budget',
  merge: 'could not be merged',
  queue: 'cannot merge',
  context: 'waits for a fresh context',
  pause: 'is paused',
};

/** What the person does about it, as a verb. */
export const needVerb: Record<NeedKind, string> = {
  review: 'Review',
  question: 'Answer',
  decision: 'Decide',
  budget: 'Extend',
  merge: 'Decide',
  queue: 'Fix',
  context: 'Open',
  pause: 'Continue',
};

/** What the person types for it. */
export function needCommand(kind: NeedKind, run: string, task?: string): string {
  switch (kind) {
    case 'review':
      return commandFor('approve', run);
    case 'question':
      return commandFor('answer "your words"', run);
    case 'merge':
      return commandFor(`merge --again ${task ?? 'TASK'}`, run);
    case 'pause':
      return commandFor('unpause', run);
    case 'decision':
    case 'budget':
    case 'queue':
    case 'context':
      return commandFor('status', run);
  }
}

/** The decisions of one review. */
export const reviewCommands = (run: string, at: string): string[] =>
  ['approve', 'reject "your words"'].map((command) => `${commandFor(command, run)} --at ${at}`);

const gates = (all: readonly string[]): string => (all.length > 2 ? `${all.length} gates` : listed(all));
