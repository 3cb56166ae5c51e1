import type { TextMessage } from './message.ts';
import { isSaidIn } from './repetition.ts';

/** What stands at index 1 for the messages that a compaction took away. */
export interface Earlier {
  messages: number;
  summary?: string | undefined;
  /** What the owner of the loop re-injected after the last compaction. */
  state?: string | undefined;
}

/** A `user` message, since some providers take no conversation that begins with another role. */
export function earlierMessage({ messages, summary, state }: Earlier, systemPrompt: string): TextMessage {
  const count = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
  const notice = `[Earlier conversation: ${count}, ${summary === undefined ? 'left out' : 'summarised'}]`;
  const parts = [
    summary === undefined ? notice : `${notice}\n${summary}`,
    state !== undefined && !isSaidIn(state, systemPrompt) ? state : undefined,
  ];
  return { role: 'user', content: parts.filter((part) => part !== undefined).join('\n\n') };
}

/** From the fullest to none. State comes before summary: it is what the next action depends on. */
export function shorterForms({ messages, summary, state }: Earlier): (Earlier | undefined)[] {
  return [{ messages, summary, state }, { messages, state }, { messages, summary }, { messages }, undefined];
}
