/** Summarizers that lose facts, as real ones do. Each keeps only what its request contains. */
import { type MessageReply, reply } from './reply.ts';
import { contextOf, type ModelRequest } from './request.ts';

/** A fact that should survive; kept word for word or not at all. */
export interface Fact {
  kind: string;
  text: string;
}

export type Summarise = (request: ModelRequest) => MessageReply;

/** The current facts; a function if they change during a session. */
export type Facts = readonly Fact[] | (() => readonly Fact[]);

export function forgetsAll(): Summarise {
  return () => summaryReply([]);
}

export function keepsAll(facts: Facts): Summarise {
  return (request) => summaryReply(standingIn(request, facts));
}

/** The chance of each kind to be kept, between 0 and 1; a kind without a rate is lost. The same seed, the same losses. */
export function keepsAtRates(
  facts: Facts,
  options: { rates: Readonly<Record<string, number>>; seed: number },
): Summarise {
  const random = createRandom(options.seed);
  return (request) =>
    summaryReply(standingIn(request, facts).filter(({ kind }) => random() < (options.rates[kind] ?? 0)));
}

/** What summaries of coding sessions were measured to keep. */
export const measuredRates = { decision: 0.77, path: 0.098, command: 0.002 };

export function summaryReply(kept: readonly Fact[]): MessageReply {
  const lines = kept.length === 0 ? ['The work went on.'] : kept.map(({ text }) => `- ${text}`);
  return reply.text(`<analysis>Kept ${kept.length}.</analysis>\n<summary>\n${lines.join('\n')}\n</summary>`);
}

function standingIn(request: ModelRequest, facts: Facts): Fact[] {
  const context = contextOf(request);
  return (typeof facts === 'function' ? facts() : facts).filter(({ text }) => context.includes(text));
}

/** mulberry32 */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
