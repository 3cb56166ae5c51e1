import type { Compaction } from './compaction.ts';
import type { ContextWindow } from './context-window.ts';
import type { TextMessage, WindowMessage } from './message.ts';

export interface PrepareStepOptions {
  maxTokens: number;
  onCompaction?: (compaction: Compaction) => void;
}

export interface PreparedStep<M extends WindowMessage> {
  messages: (M | TextMessage)[];
  /** Absent where the window has no system prompt: the call's own stay. */
  instructions?: string;
}

/**
 * For `prepareStep` of the AI SDK's `generateText`, `streamText` and agents: takes what the loop added, compacts above
 * the limit. The last step's messages come to no further step: push them yourself.
 */
export function createPrepareStep<M extends WindowMessage>(
  window: ContextWindow<M>,
  { maxTokens, onCompaction }: PrepareStepOptions,
): (step: { messages: readonly M[] }) => Promise<PreparedStep<M>> {
  return async ({ messages }) => {
    window.sync(messages);
    const compaction = await window.compact(maxTokens);
    if (compaction.compacted) onCompaction?.(compaction);
    const { content } = window.systemPrompt();
    const prepared = window.conversation();
    // The step sees all of it, also what was appended since the first call.
    window.sync(prepared);
    return { messages: prepared, ...(content === '' ? {} : { instructions: content }) };
  };
}
