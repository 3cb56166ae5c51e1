import type { TextMessage } from './message.ts';
import { isRepeated } from './repeated-text.ts';

/** What stands at index 1 for the messages that compactions took away. */
export interface EarlierSummary {
  messages: number;
  /** How many of them the summary is of. */
  summarised: number;
  summary?: string | undefined;
  /** What the owner of the loop re-injected after the last compaction. */
  state?: string | undefined;
  /** There was no room for any of it. The number is kept for the next compaction. */
  omitted?: true;
}

/** A `user` message, since some providers take no conversation that begins with another role. */
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

/** From the fullest to none. State comes before summary: it is what the next action depends on. */
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
