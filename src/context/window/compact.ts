import {
  type Compaction,
  type CompactionInfo,
  type CompactionProblem,
  droppedUnsummarised,
  failed,
  leftOut,
  noticeLeftOut,
  overLimit,
  summaryTooLong,
} from './compaction.ts';
import { earlierMessage, shorterForms } from './earlier-summary.ts';
import type { TextMessage, WindowMessage } from './message.ts';
import type { WindowContent } from './window-content.ts';

export interface CompactionContext<M extends WindowMessage> {
  content: WindowContent<M>;
  count(message: WindowMessage): number;
  countText(text: string): number;
  summarise: ((messages: readonly (M | TextMessage)[]) => Promise<string>) | undefined;
  onCompacted: ((info: CompactionInfo<M>) => string | undefined | Promise<string | undefined>) | undefined;
}

/** The share of the limit that a compaction keeps: with a larger share the next compaction would follow at once. */
const keptShare = 0.5;
const summaryShare = 0.25;

export async function compact<M extends WindowMessage>(
  context: CompactionContext<M>,
  limit: number,
): Promise<Compaction> {
  const { content, summarise } = context;
  const problems: CompactionProblem[] = [];
  const before = totalOf(context);
  const result = { compacted: false, summarised: false, limit, before, after: before, dropped: 0, problems };
  if (before <= limit) return result;

  const { clearings } = content;
  const forSummary = summarise ? limit * summaryShare : 0;
  let dropped = messagesToDrop(context, limit * keptShare - forSummary - noteCost(context, undefined));
  let summary: string | undefined;
  let state = content.earlier()?.state;
  // Awaits nothing if nothing can be dropped: messages appended meanwhile could be dropped without a callback.
  if (dropped.length > 0) {
    summary = await summaryOf(context, dropped, limit, problems);
    if (content.clearings !== clearings) return { ...result, after: totalOf(context) };
    const summaryShown = summary ?? content.earlier()?.summary;
    if (summary === undefined)
      dropped = messagesToDrop(context, limit * keptShare - noteCost(context, summaryShown));
    state = await stateFor(context, { limit, before, dropped, summary: summaryShown }, problems);
    if (content.clearings !== clearings) return { ...result, after: totalOf(context) };
  }

  const earlier = content.earlier();
  const summaryShown = summary ?? earlier?.summary;
  content.remove(dropped);
  if (earlier || dropped.length > 0) {
    content.setEarlier({
      messages: (earlier?.messages ?? 0) + dropped.length,
      summarised: (earlier?.summarised ?? 0) + (summary === undefined ? 0 : dropped.length),
      summary: summaryShown,
      state,
    });
  }
  const more = dropUntilFits(context, limit);
  const after = totalOf(context);
  const shown = content.earlier();
  if (summary !== undefined && more > 0) problems.push(droppedUnsummarised(more));
  if (summaryShown !== undefined && shown?.summary === undefined) problems.push(leftOut('summary', limit));
  if (state !== undefined && shown?.state === undefined) problems.push(leftOut('state', limit));
  if (shown?.omitted) problems.push(noticeLeftOut(limit));
  if (after > limit) problems.push(overLimit(after, limit));
  const summarised = summary !== undefined && shown?.summary === summary && more === 0;
  return { ...result, compacted: true, summarised, after, dropped: dropped.length + more };
}

export function totalOf<M extends WindowMessage>({ content, count }: CompactionContext<M>): number {
  const note = content.earlierMessage();
  return count(content.systemPrompt()) + (note ? count(note) : 0) + sum(content.rest().map(count));
}

/** The start of the last two messages and their group. */
function keptFrom<M extends WindowMessage>(content: WindowContent<M>): number {
  return content.groups().findLast((start) => start <= content.rest().length - 2) ?? 0;
}

/** An upper bound for the tokens of index 1 with the last state. */
function noteCost<M extends WindowMessage>(
  { content, count }: CompactionContext<M>,
  summary: string | undefined,
): number {
  const { messages = 0, summarised = 0, state } = content.earlier() ?? {};
  const most = { messages: messages + content.rest().length, summarised, summary, state };
  return count(earlierMessage(most, content.systemPrompt().content));
}

/**
 * The messages to drop so that index 0 and the rest fit the target. Drops whole groups, and always the oldest group
 * unless it must stay.
 */
function messagesToDrop<M extends WindowMessage>(
  { content, count }: CompactionContext<M>,
  target: number,
): (M | TextMessage)[] {
  const costs = content.rest().map(count);
  let first = keptFrom(content);
  let left = target - count(content.systemPrompt()) - sum(costs.slice(first));
  for (const start of content
    .groups()
    .filter((each) => each > 0 && each < first)
    .reverse()) {
    left -= sum(costs.slice(start, first));
    if (left < 0) break;
    first = start;
  }
  return content.rest().slice(0, first);
}

/** Uses the longest form of index 1 that leaves room for the kept messages, then drops the oldest groups. */
function dropUntilFits<M extends WindowMessage>(context: CompactionContext<M>, limit: number): number {
  const { content, count } = context;
  const tail = content.rest().slice(keptFrom(content));
  const needed = count(content.systemPrompt()) + sum(tail.map(count));
  shortenSummary(content, (note) => needed + (note ? count(note) : 0) <= limit);
  let dropped = 0;
  while (totalOf(context) > limit && keptFrom(content) > 0) {
    const group = content.rest().slice(0, content.groups()[1]);
    const { messages = 0, summarised = 0, ...rest } = content.earlier() ?? {};
    content.remove(group);
    content.setEarlier({ ...rest, summarised, messages: messages + group.length });
    dropped += group.length;
  }
  // Index 1 must also count the messages dropped since.
  shortenSummary(content, () => totalOf(context) <= limit);
  return dropped;
}

function shortenSummary<M extends WindowMessage>(
  content: WindowContent<M>,
  fits: (note: TextMessage | undefined) => boolean,
): void {
  const earlier = content.earlier();
  if (!earlier) return;
  for (const form of shorterForms(earlier)) {
    content.setEarlier(form);
    if (fits(content.earlierMessage())) return;
  }
}

async function summaryOf<M extends WindowMessage>(
  { content, summarise, countText }: CompactionContext<M>,
  dropped: readonly (M | TextMessage)[],
  limit: number,
  problems: CompactionProblem[],
): Promise<string | undefined> {
  if (!summarise || dropped.length === 0) return undefined;
  const earlier = content.earlier();
  const before = earlier?.summary === undefined ? [] : [earlierMessage({ ...earlier, state: undefined }, '')];
  try {
    const summary = (await summarise([...before, ...dropped])).trim();
    if (summary === '') throw new Error('the summarizer returned an empty text');
    const room = Math.floor(limit * summaryShare);
    const tokens = countText(summary);
    if (tokens <= room) return summary;
    problems.push(summaryTooLong(tokens, room));
  } catch (cause) {
    problems.push(failed('summary', cause));
  }
  return undefined;
}

async function stateFor<M extends WindowMessage>(
  { onCompacted }: CompactionContext<M>,
  info: CompactionInfo<M>,
  problems: CompactionProblem[],
): Promise<string | undefined> {
  try {
    return (await onCompacted?.(info))?.trim() || undefined;
  } catch (cause) {
    problems.push(failed('state', cause));
    return undefined;
  }
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
