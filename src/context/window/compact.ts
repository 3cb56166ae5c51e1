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

/** How much of the limit a compaction leaves filled: one that leaves no room would come again at once. */
const keptShare = 0.5;
const summaryShare = 0.25;

export async function compact<M extends WindowMessage>(
  compacting: CompactionContext<M>,
  limit: number,
): Promise<Compaction> {
  const { content, summarise } = compacting;
  const problems: CompactionProblem[] = [];
  const before = totalOf(compacting);
  const result = { compacted: false, summarised: false, limit, before, after: before, dropped: 0, problems };
  if (before <= limit) return result;

  const { clearings } = content;
  const forSummary = summarise ? limit * summaryShare : 0;
  let dropped = messagesToDrop(compacting, limit * keptShare - forSummary - noteCost(compacting, undefined));
  let summary: string | undefined;
  let state = content.earlier()?.state;
  // Where nothing can go, nothing is awaited: what is appended meanwhile could go without a callback.
  if (dropped.length > 0) {
    summary = await summaryOf(compacting, dropped, limit, problems);
    if (content.clearings !== clearings) return { ...result, after: totalOf(compacting) };
    const told = summary ?? content.earlier()?.summary;
    if (summary === undefined)
      dropped = messagesToDrop(compacting, limit * keptShare - noteCost(compacting, told));
    state = await stateFor(compacting, { limit, before, dropped, summary: told }, problems);
    if (content.clearings !== clearings) return { ...result, after: totalOf(compacting) };
  }

  const earlier = content.earlier();
  const told = summary ?? earlier?.summary;
  content.remove(dropped);
  if (earlier || dropped.length > 0) {
    content.setEarlier({
      messages: (earlier?.messages ?? 0) + dropped.length,
      summarised: (earlier?.summarised ?? 0) + (summary === undefined ? 0 : dropped.length),
      summary: told,
      state,
    });
  }
  const more = dropUntilFits(compacting, limit);
  const after = totalOf(compacting);
  const shown = content.earlier();
  if (summary !== undefined && more > 0) problems.push(droppedUnsummarised(more));
  if (told !== undefined && shown?.summary === undefined) problems.push(leftOut('summary', limit));
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

/** Where the last two messages and what belongs to them begin. */
function keptFrom<M extends WindowMessage>(content: WindowContent<M>): number {
  return content.groups().findLast((start) => start <= content.rest().length - 2) ?? 0;
}

/** What index 1 costs with the last state, however many messages go. */
function noteCost<M extends WindowMessage>(
  { content, count }: CompactionContext<M>,
  summary: string | undefined,
): number {
  const { messages = 0, summarised = 0, state } = content.earlier() ?? {};
  const most = { messages: messages + content.rest().length, summarised, summary, state };
  return count(earlierMessage(most, content.systemPrompt().content));
}

/**
 * The messages that have to go so that this many tokens are left for index 0 and the rest; groups go whole, and the
 * oldest always goes unless it must stay.
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

/** The fullest index 1 that leaves room for what must stay; then the oldest messages go, group by group. */
function dropUntilFits<M extends WindowMessage>(compacting: CompactionContext<M>, limit: number): number {
  const { content, count } = compacting;
  const tail = content.rest().slice(keptFrom(content));
  const needed = count(content.systemPrompt()) + sum(tail.map(count));
  shortenSummary(content, (note) => needed + (note ? count(note) : 0) <= limit);
  let dropped = 0;
  while (totalOf(compacting) > limit && keptFrom(content) > 0) {
    const group = content.rest().slice(0, content.groups()[1]);
    const { messages = 0, summarised = 0, ...told } = content.earlier() ?? {};
    content.remove(group);
    content.setEarlier({ ...told, summarised, messages: messages + group.length });
    dropped += group.length;
  }
  // What went away since has to be told too.
  shortenSummary(content, () => totalOf(compacting) <= limit);
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
    if (summary === '') throw new Error('the summariser gave an empty text');
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
