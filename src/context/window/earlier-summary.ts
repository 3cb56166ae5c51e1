import type { TextMessage } from './message.ts';
import { isRepeated } from './repeated-text.ts';

/** Index 1: replaces the messages that compactions dropped. */
export interface EarlierSummary {
  messages: number;
  /** How many of them the summary covers. */
  summarised: number;
  summary?: string | undefined;
  /** The state that the application re-injected after the last compaction. */
  state?: string | undefined;
  /** Nothing of it fits. The counts are kept for the next compaction. */
  omitted?: true;
}

/** A `user` message, because some providers require it at the start of a conversation. */
export function earlierMessage(
  { messages, summarised, summary, state }: EarlierSummary,
  systemPrompt: string,
): TextMessage {
  const count = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
  const covered = summarised < messages ? `${summarised} of them summarised` : 'summarised';
  const notice = `[Earlier conversation: ${count}, ${summary === undefined ? 'left out' : covered}]`;
  const parts = [
    summary === undefined ? notice : `${notice}\n${summary}`,
    state !== undefined && !isRepeated(state, systemPrompt) ? state : undefined,
  ];
  return { role: 'user', content: parts.filter((part) => part !== undefined).join('\n\n') };
}

/** From the full form to none. Keeps the state longer than the summary: the next action depends on it. */
export function shorterForms(earlier: EarlierSummary): EarlierSummary[] {
  if (earlier.omitted) return [earlier];
  const { messages, summarised, summary, state } = earlier;
  return [
    earlier,
    { messages, summarised: 0, state },
    { messages, summarised, summary },
    { messages, summarised: 0 },
    { messages, summarised: 0, omitted: true },
  ];
}
