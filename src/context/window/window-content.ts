import { type EarlierSummary, earlierMessage } from './earlier-summary.ts';
import type { TextMessage, WindowMessage } from './message.ts';
import { pointerFor, renderSystemPrompt } from './repeated-text.ts';
import { groupStarts, sendable } from './tool-pairs.ts';

export interface PinOptions {
  /** A longer text is cut to so many characters, the last three of them dots. */
  most?: number;
}

/** The content of a window and its form for a provider, which is recomputed after a change. */
export interface WindowContent<M extends WindowMessage> {
  /** Number of calls of `clear`. */
  readonly clearings: number;
  readonly pins: ReadonlyMap<string, string>;
  systemPrompt(): { role: 'system'; content: string };
  /** Index 1; undefined before the first messages are dropped. */
  earlierMessage(): TextMessage | undefined;
  /** The conversation without index 1. */
  rest(): readonly (M | TextMessage)[];
  /** Indices of `rest` where the conversation may be cut. */
  groups(): readonly number[];
  setPrompt(text: string): void;
  pin(key: string, text: string, options?: PinOptions): void;
  unpin(key: string): boolean;
  earlier(): EarlierSummary | undefined;
  setEarlier(earlier: EarlierSummary): void;
  push(messages: readonly M[]): void;
  sync(messages: readonly (M | TextMessage)[]): void;
  /** Messages of `rest`. */
  remove(messages: readonly (M | TextMessage)[]): void;
  clear(): void;
}

interface ProviderView<M extends WindowMessage> {
  systemPrompt: { role: 'system'; content: string };
  note: TextMessage | undefined;
  /** Valid for a provider; repeated messages are not replaced by pointers yet. */
  sent: M[];
  rest: (M | TextMessage)[];
  groups: number[];
}

export function createContent<M extends WindowMessage>(systemPrompt: string): WindowContent<M> {
  const pins = new Map<string, string>();
  let prompt = systemPrompt;
  let added: M[] = [];
  let earlier: EarlierSummary | undefined;
  let clearings = 0;
  let view: ProviderView<M> | undefined;

  // Messages that were added and handed out, so that `sync` recognizes them.
  const seen = new WeakSet<object>();
  const written = new WeakSet<object>();
  const origins = new WeakMap<object, M>();
  /** Messages that the loop passed to `sync`. */
  const shared = new WeakSet<object>();

  const originOf = (message: M | TextMessage): object => origins.get(message) ?? message;

  function look(): ProviderView<M> {
    if (view) return view;
    const content = renderSystemPrompt(prompt, pins);
    const note = earlier && !earlier.omitted ? earlierMessage(earlier, content) : undefined;
    if (note) written.add(note);
    const sent = sendable(added, origins);
    const rest = sent.map((message) => {
      const pointer = pointerFor(message, content);
      if (pointer) origins.set(pointer, origins.get(message) ?? message);
      return pointer ?? message;
    });
    view = { systemPrompt: { role: 'system', content }, note, sent, rest, groups: groupStarts(rest) };
    return view;
  }

  /** Every change goes through here, to invalidate the view. */
  function change(make: () => void): void {
    make();
    view = undefined;
  }

  const insert = (at: number, messages: readonly M[]): void =>
    change(() => {
      const inserted = messages.map((each) => {
        // A copy of a repeated message, so that each can be dropped on its own.
        const message = seen.has(each) ? { ...each } : each;
        seen.add(message);
        return message;
      });
      added.splice(at, 0, ...inserted);
    });

  const clear = (): void =>
    change(() => {
      added = [];
      earlier = undefined;
      clearings += 1;
    });

  return {
    get clearings() {
      return clearings;
    },
    pins,
    systemPrompt: () => look().systemPrompt,
    earlierMessage: () => look().note,
    rest: () => look().rest,
    groups: () => look().groups,
    setPrompt: (text) =>
      change(() => {
        prompt = text;
      }),
    pin: (key, text, { most = Number.POSITIVE_INFINITY } = {}) =>
      change(() => {
        const trimmed = text.trim();
        pins.set(key, trimmed.length > most ? `${trimmed.slice(0, Math.max(0, most - 3))}...` : trimmed);
      }),
    unpin(key) {
      const known = pins.has(key);
      change(() => pins.delete(key));
      return known;
    },
    earlier: () => earlier,
    setEarlier: (next) =>
      change(() => {
        earlier = next;
      }),
    push: (messages) => insert(added.length, messages),
    sync(messages) {
      const fresh = messages.filter((each) => !written.has(each) && !origins.has(each) && !seen.has(each));
      if (fresh.length > 0 && fresh.length === messages.length) clear();
      for (const each of messages) shared.add(originOf(each));
      // Messages that the loop does not have yet were added while it worked, so they follow.
      const at = added.findLastIndex((message) => shared.has(originOf(message))) + 1;
      // The window wrote none of these, so they have the loop's type.
      insert(at, fresh as M[]);
    },
    remove(messages) {
      const gone = new Set(messages.map(originOf));
      const sent = new Map(look().sent.map((message) => [originOf(message), message]));
      const last = added.findLastIndex((message) => gone.has(originOf(message)));
      change(() => {
        added = added.flatMap((message, at) => {
          if (gone.has(originOf(message))) return [];
          // Parts that no provider accepts are dropped for good together with their neighbors.
          return at > last ? message : (sent.get(originOf(message)) ?? []);
        });
      });
    },
    clear,
  };
}
