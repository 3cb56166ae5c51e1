import { StepfastError } from '../../errors.ts';
import { estimateTokens } from '../../machine/index.ts';
import { checkMessage, checkOptions } from './check-arguments.ts';
import { type CompactionContext, compact, sum } from './compact.ts';
import type { Compaction, CompactionInfo } from './compaction.ts';
import { createMessageCounter } from './count-tokens.ts';
import type { ContentOf, PlainMessage, Role, TextMessage, WindowMessage } from './message.ts';
import { createContent, type PinOptions } from './window-content.ts';

export interface ContextWindowOptions<M extends WindowMessage = PlainMessage> {
  systemPrompt: string;
  /** May call a model. If it is absent, fails or returns too much, the oldest messages are dropped without a summary. */
  summarise?: (messages: readonly (M | TextMessage)[]) => Promise<string>;
  /** Returns the state to re-inject when messages are dropped. Replaces the state of the last call. */
  onCompacted?: (info: CompactionInfo<M>) => string | undefined | Promise<string | undefined>;
  /** An estimate by default. */
  countTokens?: (text: string) => number;
  /** Tokens of an image or another binary file; 1,600 by default. */
  fileTokens?: number;
}

export interface WindowTokens {
  total: number;
  systemPrompt: number;
  conversation: number;
}

export interface ContextWindow<M extends WindowMessage = PlainMessage> {
  /** Index 0: the prompt and the pinned entries. */
  systemPrompt(): { role: 'system'; content: string };
  /** Index 1 and following, valid for a provider. */
  conversation(): (M | TextMessage)[];
  /** System prompt and conversation. */
  messages(): (M | TextMessage)[];
  /** Replaces the prompt and keeps the conversation. */
  resetSystemPrompt(prompt: string | { content: string }): void;
  append<R extends Role>(role: R, content: ContentOf<M, R>): void;
  /** Adds whole messages, such as those of a response. They must not be changed afterwards. */
  push(...messages: M[]): void;
  /**
   * Adds the new messages of a list that a loop continued from `conversation()`. A list without any known message
   * replaces the conversation.
   */
  sync(messages: readonly (M | TextMessage)[]): void;
  /** Keeps a text in index 0 until it is unpinned, trimmed and in quotes; the same key replaces it. */
  pin(key: string, text: string, options?: PinOptions): void;
  /** False if there is no such entry. */
  unpin(key: string): boolean;
  pins(): ReadonlyMap<string, string>;
  /** Drops the conversation; keeps the prompt and pinned entries. */
  clear(): void;
  tokens(): WindowTokens;
  /** A failing summarizer or callback is reported in `problems`. Messages appended meanwhile stay. */
  compact(maxTokens: number): Promise<Compaction>;
}

/**
 * A conversation that stays within a limit, with the system prompt at index 0. Throws `bad_option`. `append`, `push` and
 * `sync` throw `bad_message` and then add nothing.
 *
 * @example
 * ```ts
 * import { createContextWindow } from 'stepfast/context';
 *
 * const window = createContextWindow({ systemPrompt: 'You are a careful programmer.' });
 * window.append('user', 'Which file writes the report?');
 * window.pin('DECISION', 'Stream the rows.');
 * const { after, problems } = await window.compact(100_000);
 * console.log(after, problems, window.messages());
 * ```
 */
export function createContextWindow<M extends WindowMessage = PlainMessage>(
  options: ContextWindowOptions<M>,
): ContextWindow<M> {
  checkOptions(options);
  const { systemPrompt, summarise, onCompacted, countTokens = estimateTokens, fileTokens = 1600 } = options;
  const content = createContent<M>(systemPrompt);
  const count = createMessageCounter(countTokens, fileTokens);
  const context: CompactionContext<M> = { content, count, countText: countTokens, summarise, onCompacted };
  let last: Promise<unknown> = Promise.resolve();

  function conversation(): (M | TextMessage)[] {
    const earlier = content.earlierMessage();
    return earlier ? [earlier, ...content.rest()] : [...content.rest()];
  }

  return {
    systemPrompt: content.systemPrompt,
    conversation,
    messages: () => [content.systemPrompt(), ...conversation()],
    resetSystemPrompt: (prompt) => content.setPrompt(typeof prompt === 'string' ? prompt : prompt.content),
    append(role, text) {
      checkMessage({ role, content: text }, 'append');
      // The types of `append` allow only what M allows.
      content.push([{ role, content: text } as unknown as M]);
    },
    push(...messages) {
      for (const [index, message] of messages.entries()) checkMessage(message, 'push', `messages[${index}]`);
      content.push(messages);
    },
    sync(messages) {
      for (const [index, message] of messages.entries()) checkMessage(message, 'sync', `messages[${index}]`);
      content.sync(messages);
    },
    pin: content.pin,
    unpin: content.unpin,
    pins: () => new Map(content.pins),
    clear: content.clear,
    tokens() {
      const ofPrompt = count(content.systemPrompt());
      const ofConversation = sum(conversation().map(count));
      return { total: ofPrompt + ofConversation, systemPrompt: ofPrompt, conversation: ofConversation };
    },
    async compact(maxTokens) {
      if (Number.isNaN(maxTokens)) {
        throw new StepfastError('bad_limit', 'maxTokens is NaN: pass a number of tokens to compact');
      }
      const next = last.then(() => compact(context, maxTokens));
      // Compactions run one after another; a failing token counter affects only its own call.
      last = next.catch(() => {});
      return next;
    },
  };
}
