import { type EarlierSummary, earlierMessage } from './earlier-summary.ts';
import type { TextMessage, WindowMessage } from './message.ts';
import { pointerFor, renderSystemPrompt } from './repeated-text.ts';
import { groupStarts, sendable } from './tool-pairs.ts';

/** What a window holds and how it looks to a provider. Everything is computed anew after a change. */
export interface WindowContent<M extends WindowMessage> {
  /** How often it was cleared. */
  readonly clearings: number;
  readonly pins: ReadonlyMap<string, string>;
  systemPrompt(): { role: 'system'; content: string };
  /** Index 1, once messages went away. */
  earlierMessage(): TextMessage | undefined;
  /** The conversation without that. */
  rest(): readonly (M | TextMessage)[];
  /** Indices of `rest` where it may be cut. */
  groups(): readonly number[];
  setPrompt(text: string): void;
  pin(key: string, text: string): void;
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
  /** As a provider takes them, before one that index 0 says became a line. */
  sent: M[];
  rest: (M | TextMessage)[];
  groups: number[];
}

export function createContent<M extends WindowMessage>(systemPrompt: string): WindowContent<M> {
  const pins = new Map<string, string>();
  let prompt = systemPrompt;
  let taken: M[] = [];
  let earlier: EarlierSummary | undefined;
  let clearings = 0;
  let view: ProviderView<M> | undefined;

  // What was taken in and what was handed out, so that `sync` knows it again.
  const seen = new WeakSet<object>();
  const written = new WeakSet<object>();
  const origins = new WeakMap<object, M>();
  /** What stood in a list of the loop. */
  const shared = new WeakSet<object>();

  const originOf = (message: M | TextMessage): object => origins.get(message) ?? message;

  function look(): ProviderView<M> {
    if (view) return view;
    const content = renderSystemPrompt(prompt, pins);
    const note = earlier && !earlier.omitted ? earlierMessage(earlier, content) : undefined;
    if (note) written.add(note);
    const sent = sendable(taken, origins);
    const rest = sent.map((message) => {
      const pointer = pointerFor(message, content);
      if (pointer) origins.set(pointer, origins.get(message) ?? message);
      return pointer ?? message;
    });
    view = { systemPrompt: { role: 'system', content }, note, sent, rest, groups: groupStarts(rest) };
    return view;
  }

  /** Every change goes through here. */
  function change(make: () => void): void {
    make();
    view = undefined;
  }

  const insert = (at: number, messages: readonly M[]): void =>
    change(() => {
      const added = messages.map((each) => {
        // Said again, so that one of them can go without the other.
        const message = seen.has(each) ? { ...each } : each;
        seen.add(message);
        return message;
      });
      taken.splice(at, 0, ...added);
    });

  const clear = (): void =>
    change(() => {
      taken = [];
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
    pin: (key, text) => change(() => pins.set(key, text)),
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
    push: (messages) => insert(taken.length, messages),
    sync(messages) {
      const fresh = messages.filter((each) => !written.has(each) && !origins.has(each) && !seen.has(each));
      if (fresh.length > 0 && fresh.length === messages.length) clear();
      for (const each of messages) shared.add(originOf(each));
      // What the loop did not have yet was said while it worked.
      const at = taken.findLastIndex((message) => shared.has(originOf(message))) + 1;
      // The window wrote none of them, so they are the loop's own.
      insert(at, fresh as M[]);
    },
    remove(messages) {
      const gone = new Set(messages.map(originOf));
      const sent = new Map(look().sent.map((message) => [originOf(message), message]));
      const last = taken.findLastIndex((message) => gone.has(originOf(message)));
      change(() => {
        taken = taken.flatMap((message, at) => {
          if (gone.has(originOf(message))) return [];
          // What no provider would take goes with what stood around it, and does not come back.
          return at > last ? message : (sent.get(originOf(message)) ?? []);
        });
      });
    },
    clear,
  };
}
