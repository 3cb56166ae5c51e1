import type { Compaction } from './compaction.ts';
import type { ContextWindow } from './context-window.ts';
import type { TextMessage, WindowMessage } from './message.ts';

export interface PrepareStepOptions {
  maxTokens: number;
  onCompaction?: (compaction: Compaction) => void;
}

export interface PreparedStep<M extends WindowMessage> {
  messages: (M | TextMessage)[];
  /** Absent if the window has no system prompt: the instructions of the call then stay. */
  instructions?: string;
}

/**
 * For `prepareStep` of the AI SDK's `generateText`, `streamText` and agents: adds the loop's new messages and compacts
 * above the limit. No step follows the last one, so push its messages yourself.
 *
 * @example
 * ```ts
 * import { createContextWindow, createPrepareStep } from 'stepfast/context';
 *
 * const window = createContextWindow({ systemPrompt: 'You are a careful programmer.' });
 * const prepareStep = createPrepareStep(window, { maxTokens: 100_000 });
 * // generateText({ model, tools, messages: window.conversation(), prepareStep })
 * console.log(await prepareStep({ messages: [{ role: 'user', content: 'Please begin.' }] }));
 * ```
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
    // The step also sees messages that were appended since the first call.
    window.sync(prepared);
    return { messages: prepared, ...(content === '' ? {} : { instructions: content }) };
  };
}
