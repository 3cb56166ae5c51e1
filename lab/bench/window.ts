/**
 * Tokens sent over all requests of a recorded coding session, before and after: `npm run bench -- window`. Before:
 * the conversation is rendered into the prompt and sent as messages too. After: a `ContextWindow`. What goes to the
 * summariser is counted as sent.
 */
import { readFileSync } from 'node:fs';
import { getTokenizer } from '@anthropic-ai/tokenizer';
import type { ModelMessage } from 'ai';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { createContextWindow, type TextMessage, type WindowMessage } from '../../src/context/library.ts';
import { printTable, rounded } from '../figures.ts';

interface Session {
  story: string;
  plan: string;
  /** From which message on the agent is in which state. */
  states: { name: string; from: number; instructions: string }[];
  /** What a model made of the messages that went away, one for each compaction. */
  summaries: string[];
  messages: ModelMessage[];
}

export interface WindowFigures {
  limit: number;
  messages: number;
  requests: number;
  compactions: number;
  claude: Sent;
  o200k: Sent;
  /** Of the Claude tokens, against the conversation in the prompt and as messages. */
  tokensSaved: number;
  tokensSavedWithoutCompaction: number;
  /** What is still sent. */
  sentShare: number;
  /** In Claude tokens, although the limit is an estimate. */
  largestRequest: number;
}

/** Tokens over all requests; `twice`: in the prompt and as messages; `window`: without compaction. */
export interface Sent {
  twice: number;
  window: number;
  sliding: number;
  summarised: number;
}

type Count = (text: string) => number;

export async function bench(): Promise<WindowFigures> {
  const figures = await measure();
  const { claude, o200k } = figures;
  const cells = (tokens: number, whole: number) => [
    tokens.toLocaleString('en'),
    `${((100 * tokens) / whole).toFixed(1)} %`,
  ];
  const ways = ['twice', 'window', 'sliding', 'summarised'] as const;
  printTable([
    ['', 'Claude', '', 'o200k', ''],
    ...ways.map((way) => [way, ...cells(claude[way], claude.twice), ...cells(o200k[way], o200k.twice)]),
  ]);
  return figures;
}

export async function measure(limit = 8000): Promise<WindowFigures> {
  const session: Session = JSON.parse(
    readFileSync(new URL('./fixtures/coding-session.json', import.meta.url), 'utf8'),
  );
  const claude = getTokenizer();
  const ofClaude = await replay(
    session,
    limit,
    (text) => claude.encode(text.normalize('NFKC'), 'all').length,
  );
  claude.free();
  const { sent: o200k } = await replay(session, limit, (text) => encode(text).length);
  const { sent, ...counts } = ofClaude;
  const shareOf = (tokens: number): number => rounded(tokens / sent.twice, 3);
  return {
    ...{ limit, messages: session.messages.length, ...counts, claude: sent, o200k },
    tokensSaved: rounded(1 - shareOf(sent.summarised), 3),
    tokensSavedWithoutCompaction: rounded(1 - shareOf(sent.window), 3),
    sentShare: shareOf(sent.summarised),
  };
}

async function replay(session: Session, limit: number, tokensIn: Count) {
  const known = new Map<string, number>();
  const count: Count = (text) => {
    const tokens = known.get(text) ?? tokensIn(text);
    known.set(text, tokens);
    return tokens;
  };
  const sent: Sent = { twice: 0, window: 0, sliding: 0, summarised: 0 };
  const all = (messages: readonly WindowMessage[]): number =>
    messages.reduce((sum, message) => sum + count(asText(message)), 0);
  let compactions = 0;
  const summarise = async (messages: readonly (ModelMessage | TextMessage)[]): Promise<string> => {
    sent.summarised += all(messages);
    return session.summaries[compactions++] ?? 'Nothing new.';
  };
  const systemPrompt = '';
  const window = createContextWindow<ModelMessage>({ systemPrompt });
  const sliding = createContextWindow<ModelMessage>({ systemPrompt });
  const summarised = createContextWindow<ModelMessage>({ systemPrompt, summarise });
  let requests = 0;
  let largestRequest = 0;
  let prompt = '';
  for (const [index, message] of session.messages.entries()) {
    const state = session.states.find(({ from }) => from === index);
    if (state) prompt = promptOf(session, state);
    if (state) for (const each of [window, sliding, summarised]) each.resetSystemPrompt(prompt);
    if (message.role === 'assistant') {
      requests += 1;
      const before = session.messages.slice(0, index);
      sent.twice += count(prompt) + 2 * all(before);
      await sliding.compact(limit);
      await summarised.compact(limit);
      sent.window += all(window.messages());
      sent.sliding += all(sliding.messages());
      const request = all(summarised.messages());
      sent.summarised += request;
      largestRequest = Math.max(largestRequest, request);
    }
    for (const each of [window, sliding, summarised]) each.push(message);
  }
  return { sent, requests, compactions, largestRequest };
}

/** A template with static data and state; the plan is known once planning is over. */
function promptOf({ story, plan }: Session, { name, instructions }: Session['states'][number]): string {
  const known = name === 'PLANNING' ? '' : `\n\n## Plan\n${plan}`;
  return `You are a careful programmer. You are in ${name}.\n${instructions}\n\n## Story\n${story}${known}`;
}

function asText({ role, content }: WindowMessage): string {
  return `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`;
}
