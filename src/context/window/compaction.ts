import type { TextMessage, WindowMessage } from './message.ts';

export interface CompactionInfo<M extends WindowMessage> {
  limit: number;
  /** Tokens before the compaction. */
  before: number;
  /** The messages to drop, oldest first. If the new state is larger than the last one, a few more may be dropped. */
  dropped: readonly (M | TextMessage)[];
  /** The summary of all messages dropped so far. */
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
  /** False if the window was within the limit or was cleared meanwhile. */
  compacted: boolean;
  /** False if a dropped message is in no summary, or only the summary of an earlier compaction is left. */
  summarised: boolean;
  limit: number;
  before: number;
  after: number;
  /** Number of dropped messages. */
  dropped: number;
  /** What failed; `over_limit` if the part that must stay exceeds the limit. */
  problems: CompactionProblem[];
}

export function summaryTooLong(tokens: number, room: number): CompactionProblem {
  const message = `The summary has ${tokens} tokens, more than ${room}: ask for a shorter one.`;
  return { code: 'summary_too_long', message };
}

export function failed(what: 'summary' | 'state', cause: unknown): CompactionProblem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { code: `${what}_failed`, message: `The ${what} callback failed: ${reason}`, cause };
}

export function leftOut(what: 'summary' | 'state', limit: number): CompactionProblem {
  const message = `The ${what} does not fit beside what must stay within ${limit} tokens: shorten it or raise the limit.`;
  return { code: `${what}_left_out`, message };
}

export function noticeLeftOut(limit: number): CompactionProblem {
  const message = `The notice about dropped messages at index 1 does not fit within ${limit} tokens: raise the limit.`;
  return { code: 'notice_left_out', message };
}

export function droppedUnsummarised(messages: number): CompactionProblem {
  const message = `State, summary or messages appended meanwhile took more room, so ${messages} more messages were dropped without a summary: shorten the state or raise the limit.`;
  return { code: 'dropped_unsummarised', message };
}

export function overLimit(tokens: number, limit: number): CompactionProblem {
  const message = `System prompt, pinned entries and the last two messages need ${tokens} tokens, ${tokens - limit} more than ${limit}: shorten the prompt, unpin an entry or raise the limit.`;
  return { code: 'over_limit', message };
}
