import type { TextMessage, WindowMessage } from './message.ts';

export interface CompactionInfo<M extends WindowMessage> {
  limit: number;
  /** Tokens before the compaction. */
  before: number;
  /** What is going away, oldest first. A few more may have to make room for a state larger than the last one. */
  dropped: readonly (M | TextMessage)[];
  /** Of all that went away so far. */
  summary: string | undefined;
}

export interface CompactionProblem {
  code:
    | 'over_limit'
    | 'summary_failed'
    | 'summary_too_long'
    | 'summary_left_out'
    | 'state_failed'
    | 'state_left_out'
    | 'notice_left_out'
    | 'dropped_unsummarised';
  message: string;
  cause?: unknown;
}

export interface Compaction {
  /** False: the window was within the limit, or was cleared in the meantime. */
  compacted: boolean;
  /** False: not all that went away is in a summary, or only that of an earlier compaction stands there. */
  summarised: boolean;
  limit: number;
  before: number;
  after: number;
  /** How many messages went away. */
  dropped: number;
  /** What could not be done; `over_limit` where the part that must stay is larger than the limit. */
  problems: CompactionProblem[];
}

export function summaryTooLong(tokens: number, room: number): CompactionProblem {
  const message = `The summary has ${tokens} tokens, more than ${room}: ask for a shorter one.`;
  return { code: 'summary_too_long', message };
}

export function failed(what: 'summary' | 'state', cause: unknown): CompactionProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { code: `${what}_failed`, message: `There is no ${what}: ${reason}`, cause };
}

export function leftOut(what: 'summary' | 'state', limit: number): CompactionProblem {
  const message = `The ${what} does not fit beside what must stay within ${limit} tokens: shorten it or raise the limit.`;
  return { code: `${what}_left_out`, message };
}

export function noticeLeftOut(limit: number): CompactionProblem {
  const message = `There is no room within ${limit} tokens to say at index 1 that messages went away: raise the limit.`;
  return { code: 'notice_left_out', message };
}

export function droppedUnsummarised(messages: number): CompactionProblem {
  const message = `State, summary or what was appended meanwhile needed the room of more messages, ${messages}, which no summary is of: shorten the state or raise the limit.`;
  return { code: 'dropped_unsummarised', message };
}

export function overLimit(tokens: number, limit: number): CompactionProblem {
  const message = `System prompt, pinned entries and the last two messages need ${tokens} tokens, ${tokens - limit} more than ${limit}: shorten the prompt, unpin an entry or raise the limit.`;
  return { code: 'over_limit', message };
}
