import { StepfastError } from '../../errors.ts';
import { estimateTokens } from '../../machine/index.ts';
import { checkMessage, checkOptions } from './check-arguments.ts';
import { type CompactionContext, compact, sum } from './compact.ts';
import type { Compaction, CompactionInfo } from './compaction.ts';
import { createMessageCounter } from './count-tokens.ts';
import type { ContentOf, PlainMessage, Role, TextMessage, WindowMessage } from './message.ts';
import { createContent } from './window-content.ts';

export interface ContextWindowOptions<M extends WindowMessage = PlainMessage> {
  systemPrompt: string;
  /** May be a model. Without one, or where it fails or says too much, the oldest messages go without a summary. */
  summarise?: (messages: readonly (M | TextMessage)[]) => Promise<string>;
  /** The state to re-inject when messages go away. It takes the place of what the last call gave. */
  onCompacted?: (info: CompactionInfo<M>) => string | undefined | Promise<string | undefined>;
  /** An estimate unless given. */
  countTokens?: (text: string) => number;
  /** What an image or another file of bytes counts; 1,600 unless given. */
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
  /** Index 1 and on, as a provider takes it. */
  conversation(): (M | TextMessage)[];
  /** Both. */
  messages(): (M | TextMessage)[];
  /** On state entry. The conversation stays. */
  resetSystemPrompt(text: string): void;
  append<R extends Role>(role: R, content: ContentOf<M, R>): void;
  /** Whole messages, such as those of a response. They must not be changed afterwards. */
  push(...messages: M[]): void;
  /**
   * Takes what a loop hands back after it went on from `conversation()`: only what is new. A list in which nothing is
   * known is another conversation and replaces this one.
   */
  sync(messages: readonly (M | TextMessage)[]): void;
  /** Kept word for word in index 0 until it is unpinned; the same key replaces. */
  pin(key: string, text: string): void;
  /** False: there was no such entry. */
  unpin(key: string): boolean;
  pins(): ReadonlyMap<string, string>;
  /** Forgets the conversation; prompt and pinned entries stay. */
  clear(): void;
  tokens(): WindowTokens;
  /** A failing summariser or callback is a problem of the result. What is appended meanwhile stays. */
  compact(maxTokens: number): Promise<Compaction>;
}

/** Throws `bad_option`; `append`, `push` and `sync` throw `bad_message` and take nothing. */
export function createContextWindow<M extends WindowMessage = PlainMessage>(
  options: ContextWindowOptions<M>,
): ContextWindow<M> {
  checkOptions(options);
  const { systemPrompt, summarise, onCompacted, countTokens = estimateTokens, fileTokens = 1600 } = options;
  const content = createContent<M>(systemPrompt);
  const count = createMessageCounter(countTokens, fileTokens);
  const compacting: CompactionContext<M> = { content, count, countText: countTokens, summarise, onCompacted };
  let last: Promise<unknown> = Promise.resolve();

  function conversation(): (M | TextMessage)[] {
    const earlier = content.earlierMessage();
    return earlier ? [earlier, ...content.rest()] : [...content.rest()];
  }

  return {
    systemPrompt: content.systemPrompt,
    conversation,
    messages: () => [content.systemPrompt(), ...conversation()],
    resetSystemPrompt: content.setPrompt,
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
        throw new StepfastError('bad_limit', 'maxTokens is NaN: give compact a number of tokens');
      }
      const next = last.then(() => compact(compacting, maxTokens));
      // One after the other; a token counter that throws spoils only its own call.
      last = next.catch(() => {});
      return next;
    },
  };
}
